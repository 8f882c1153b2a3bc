import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url);

/** True for `npm run readme`, which rewrites the generated parts of the pages instead of comparing them. */
export const updating = process.env.UPDATE_README === '1';

/** The text of a page. @param path relative to the root of the repository */
export function page(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** The paths of all pages for users. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('docs', root))
    .filter((name) => name.endsWith('.md') && name !== 'third-party-notices.md')
    .map((name) => `docs/${name}`),
];

/**
 * The bodies of all fenced blocks in one language, without blocks marked `elsewhere`: these need something that the tests do
 * not have, and the text next to them says whether they were run.
 */
export function fenced(language: string, text: string): string[] {
  const blocks = text.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks)
    .filter(([, name]) => name === language)
    .map(([, , body = '']) => body);
}

/** The contents of a generated part, between its two comments. */
export function generated(path: string, name: string): string | undefined {
  return partNamed(name).exec(page(path))?.[2]?.trim();
}

export function regenerate(path: string, name: string, content: string): void {
  const renewed = page(path).replace(partNamed(name), (_, begin, __, end) => `${begin}\n${content}\n${end}`);
  writeFileSync(new URL(path, root), renewed);
}

function partNamed(name: string): RegExp {
  return new RegExp(`(<!-- ${name}: begin[^\\n]*-->)\\n(.*?)(<!-- ${name}: end -->)`, 's');
}
