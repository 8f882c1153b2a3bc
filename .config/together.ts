import type { Plugin } from 'rolldown';

/** Follows what a module imports at once, but not what it imports when needed. */
export interface Together {
  readonly plugin: Plugin;
  /** Whether the module is loaded whenever the entries are. */
  readonly has: (id: string) => boolean;
}

/**
 * What some entries load in any case belongs into one chunk, whoever else uses it: finding, reading and linking of a
 * file costs 0.4 ms each time.
 * @param entries how the paths of the entries end
 */
export function together(...entries: readonly string[]): Together {
  const found = new Set<string>();
  return {
    has: (id) => found.has(id),
    plugin: {
      name: 'together',
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
