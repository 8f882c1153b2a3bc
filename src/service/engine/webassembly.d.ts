/** The part of the standard `WebAssembly` that the engine uses: it is in no library that TypeScript loads for Node. */
declare namespace WebAssembly {
  class Module {
    private readonly brand;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  type Imports = Record<string, Record<string, (...values: never[]) => unknown>>;
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: unknown;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
