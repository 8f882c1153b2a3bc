import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../README.md', import.meta.url);

/** Set by `npm run readme`: what the README shows is written anew, where it is otherwise compared. */
export const updating = process.env.UPDATE_README === '1';

export function readme(): string {
  return readFileSync(file, 'utf8');
}

/** The bodies of all fenced blocks in one language, of the README or of another document. */
export function fenced(language: string, document = readme()): string[] {
  const blocks = document.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks)
    .filter(([, name]) => name === language)
    .map(([, , body = '']) => body);
}

/** What stands between the two comments of a part that is generated. */
export function generated(name: string): string | undefined {
  return partNamed(name).exec(readme())?.[2]?.trim();
}

export function regenerate(name: string, content: string): void {
  const renewed = readme().replace(partNamed(name), (_, begin, __, end) => `${begin}\n${content}\n${end}`);
  writeFileSync(file, renewed);
}

function partNamed(name: string): RegExp {
  return new RegExp(`(<!-- ${name}: begin[^\\n]*-->)\\n(.*?)(<!-- ${name}: end -->)`, 's');
}
