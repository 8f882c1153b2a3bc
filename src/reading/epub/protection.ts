import { type TtsError, usageError } from '../../error.ts';
import type { Archive } from './archive.ts';
import { resolved, textOf } from './package.ts';
import { allIn, type Element, firstIn, treeOf } from './tree.ts';

const ENCRYPTION = 'META-INF/encryption.xml';

/** Fonts are made unreadable in these ways, so that nobody takes them out of a book. */
const OF_FONTS = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']);

/** A file that only books of one seller have. */
const SCHEMES: readonly (readonly [path: string, scheme: string])[] = [
  ['META-INF/license.lcpl', 'Readium LCP'],
  ['META-INF/sinf.xml', 'Apple FairPlay'],
  ['META-INF/rights.xml', 'Adobe ADEPT'],
];

/** @throws TtsError (usage) for a book whose documents are encrypted */
export async function assertOpen(
  archive: Archive,
  documents: readonly string[],
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const text = await textOf(archive, ENCRYPTION, signal);
  if (text === undefined) return;
  const read = new Set(documents);
  for (const data of allIn(treeOf(text, `${ENCRYPTION} in ${name}`), 'EncryptedData')) {
    const algorithm = firstIn(data, 'EncryptionMethod')?.attributes.Algorithm ?? 'an unknown algorithm';
    if (!OF_FONTS.has(algorithm) && pathsIn(data).some((path) => read.has(path)))
      throw encrypted(name, SCHEMES.find(([path]) => archive.has(path))?.[1] ?? algorithm);
  }
}

function pathsIn(data: Element): readonly string[] {
  return [...allIn(data, 'CipherReference')].flatMap(({ attributes }) => {
    const path = resolved('', attributes.URI ?? '')?.path;
    return path === undefined ? [] : [path];
  });
}

function encrypted(name: string, scheme: string): TtsError {
  return usageError(
    `${name} is protected (DRM: ${scheme}), and its text cannot be read`,
    'get the book without protection from its publisher or another shop',
  );
}
