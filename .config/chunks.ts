import type { Plugin } from 'rolldown';

/** The modules that given entries import statically, directly or indirectly. */
export interface Chunk {
  readonly plugin: Plugin;
  readonly has: (id: string) => boolean;
}

/**
 * Collects all modules that the entries always load, to put them into one chunk even if others share them. The bundler would
 * make about 25 files of them; one file loads 9 to 12 ms faster.
 * @param entries path endings of the entry modules
 */
export function chunk(...entries: readonly string[]): Chunk {
  const found = new Set<string>();
  return {
    has: (id) => found.has(id),
    plugin: {
      name: 'chunk',
      buildEnd() {
        const pending = [...this.getModuleIds()].filter((id) => entries.some((entry) => id.endsWith(entry)));
        for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
          if (found.has(id)) continue;
          found.add(id);
          pending.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      },
    },
  };
}
