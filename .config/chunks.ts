import type { Plugin } from 'rolldown';

/** The modules that some entries import statically, directly or not. */
export interface Chunk {
  readonly plugin: Plugin;
  readonly has: (id: string) => boolean;
}

/**
 * Puts into one chunk what a run of some entries always loads, even if other chunks share it. The bundler would make about 25
 * files of it; in one file it loads 9 to 12 ms sooner.
 * @param entries ends of the paths of the entries
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
