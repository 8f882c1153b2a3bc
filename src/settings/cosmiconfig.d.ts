/** The inner modules of cosmiconfig 9 that `config-data.ts` uses, which come without types of their own. */
declare module 'cosmiconfig/dist/loaders.js' {
  export function loadJson(path: string, content: string): unknown;
  export function loadYaml(path: string, content: string): unknown;
}

declare module 'cosmiconfig/dist/ExplorerSync.js' {
  export class ExplorerSync {
    constructor(options: Readonly<Record<string, unknown>>);
    /** `null` or an undefined `config` where the file is empty or has no such property. */
    load(path: string): { readonly config: unknown } | null;
  }
}
