import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { type Chunk, keep, mayHold, readKept } from './code-store.ts';
import { cacheFolder } from './files/folders.ts';
import type { Host } from './host.ts';
import { beginLoad, withChecksum } from './v8-flags.ts';

/** By file ending; Node's types declare fewer than it has. */
type Loaders = Record<'.js' | '.cjs', (module: NodeModule, path: string) => void>;

/** Of the chunks. The build leaves nothing but ASCII in them. */
const ENCODING = 'latin1';

let keepAtExit = () => {};

/**
 * Runs V8's compiled code of the program's own chunks as an earlier run has kept it, which saves a sixth of a short one;
 * Node brings this itself only from version 22 on. Nothing depends on it: where it fails, the code is compiled as ever.
 *
 * V8 takes code only under the flags that it was made with. Of the source it compares no more than the length: it is the
 * build that gives a changed chunk another name. Two installations of one version share what is kept, and in a stack trace
 * one of them may have the other's folder. Code that was kept cannot `import()`: in the chunks there is none.
 */
export function reuseCode(host: Host): void {
  if (host.env.NODE_DISABLE_COMPILE_CACHE) return;
  const home = cacheFolder(host);
  if (home === undefined) return;
  const folder = join(home, 'code', host.runtime);
  if (!quietly(() => mayHold(folder, host.uid))) return;
  const compiled: Chunk[] = [];
  // Of the built program, which is CommonJS: `node:module` would load all that it takes to load ECMAScript modules.
  const loaders = require.extensions as unknown as Loaders;
  loaders['.cjs'] = (module, path) => {
    if (dirname(path) !== import.meta.dirname) return loaders['.js'](module, path);
    const loaded = beginLoad();
    try {
      const name = basename(path);
      const kept = quietly(() => readKept(join(folder, name), host.uid));
      const script = compile(wrapped(readFileSync(path, ENCODING)), path, kept);
      if (!kept || script.cachedDataRejected) compiled.push({ name, script });
      const { exports } = module;
      const require = (id: string) => module.require(id);
      script.runInThisContext().call(exports, exports, require, module, path, dirname(path));
    } finally {
      loaded();
    }
  };
  keepAtExit = () =>
    host.onExit(() => {
      if (compiled.length === 0) return;
      // With the code V8 notes the flags: those that the next run begins with.
      beginLoad();
      quietly(() => keep(compiled, { folder, program: import.meta.dirname }, host));
    });
}

/**
 * Keeps for later runs what this one had to compile: the functions that ran. For one that has done all of its work: what it
 * did not come to would be compiled anew by every run that uses its code (after a mistyped option, 10 ms of 70).
 */
export function keepCode(): void {
  keepAtExit();
}

/** As Node wraps what it loads: https://nodejs.org/api/modules.html#the-module-wrapper. */
function wrapped(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

function compile(source: string, filename: string, cachedData: Buffer | undefined): Script {
  return withChecksum(() => new Script(source, { filename, ...(cachedData && { cachedData }) }));
}

function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
