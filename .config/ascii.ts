import type { Plugin } from 'rolldown';

/** Escapes what is not ASCII: the loader of the program need not decode what it reads, see src/code-cache.ts. */
export function ascii(): Plugin {
  return {
    name: 'ascii',
    // The names of the chunks are made before, of what is in them.
    augmentChunkHash: () => escaped.toString(),
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = escaped(file.code);
    },
  };
}

function escaped(code: string): string {
  if (/(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.test(code))
    throw new Error('a character that is not ASCII stands behind a backslash');
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
