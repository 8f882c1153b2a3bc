import {
  closeSync,
  constants as files,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import Module from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import type { Host } from './host.ts';
import { makeFolder } from './make-folder.ts';
import { cacheFolder } from './settings/folders.ts';
import { beginLoad } from './v8-flags.ts';

/** What Node lets a loader do with a module, though its types do not say so. */
interface Loader {
  _extensions: Record<'.js' | '.cjs', (module: NodeModule, path: string) => void>;
  wrap(source: string): string;
}

/** Permission for the group, or for everybody, to write. */
const WRITTEN_BY_OTHERS = 0o022;

/** A link may lead to what somebody else has written, such as a download; Windows has no word for this. */
const NO_LINK = files.O_NOFOLLOW ?? 0;

const CHECKSUM_BYTES = 4;

/** Of the chunks. The build leaves nothing but ASCII in them. */
const ENCODING = 'latin1';

interface Chunk {
  readonly name: string;
  readonly script: Script;
}

/**
 * Keeps V8's compiled code of the program's own chunks between runs, which saves a sixth of a short one; Node brings
 * this itself only from version 22 on. Nothing depends on it: where it fails, the code is compiled as ever.
 *
 * V8 takes code only under the flags that it was made with. Of the source it compares no more than the length: it is the
 * build that gives a changed chunk another name.
 */
export function keepCode(host: Host): void {
  if (host.env.NODE_DISABLE_COMPILE_CACHE) return;
  const home = cacheFolder(host);
  if (home === undefined) return;
  const folder = join(home, 'code', host.runtime);
  if (!quietly(() => mayHold(folder, host.uid))) return;
  const compiled: Chunk[] = [];
  const { _extensions: loaders, wrap } = Module as unknown as Loader;
  loaders['.cjs'] = (module, path) => {
    if (dirname(path) !== import.meta.dirname) return loaders['.js'](module, path);
    const loaded = beginLoad();
    try {
      const name = basename(path);
      const kept = quietly(() => readKept(join(folder, name), host.uid));
      const script = compile(wrap(readFileSync(path, ENCODING)), path, kept);
      if (!kept || script.cachedDataRejected) compiled.push({ name, script });
      const { exports } = module;
      const require = (id: string) => module.require(id);
      script.runInThisContext().call(exports, exports, require, module, path, dirname(path));
    } finally {
      loaded();
    }
  };
  host.onExit(() => quietly(() => keep(compiled, folder, host.pid)));
}

function compile(source: string, filename: string, cachedData: Buffer | undefined): Script {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return new Script(source, { filename, importModuleDynamically, ...(cachedData && { cachedData }) });
}

function mayHold(folder: string, uid: number | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return !found || isOursAlone(found, uid);
}

/** What lies there is run as it is: nobody else may be able to put it there. */
function isOursAlone({ uid, mode }: Stats, own: number | undefined): boolean {
  return own === undefined || (uid === own && (mode & WRITTEN_BY_OTHERS) === 0);
}

/** Whoever may move the folder can put another one in its place at any time: what counts is the file that is read. */
function readKept(path: string, uid: number | undefined): Buffer | undefined {
  const fd = openSync(path, files.O_RDONLY | NO_LINK);
  try {
    return isOursAlone(fstatSync(fd), uid) ? withoutChecksum(readFileSync(fd)) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** V8 does not look whether the code is whole: with a torn file, every run would crash. */
function withoutChecksum(bytes: Buffer): Buffer | undefined {
  const code = bytes.subarray(0, -CHECKSUM_BYTES);
  return crc32(code) === bytes.readUInt32LE(code.length) ? code : undefined;
}

function withChecksum(code: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(code));
  return Buffer.concat([code, checksum]);
}

/** At the end, when the code of the functions that ran is part of what V8 hands out. */
function keep(chunks: readonly Chunk[], folder: string, pid: number): void {
  if (chunks.length === 0) return;
  makeFolder(folder);
  // With the code V8 notes the flags: those that the next run begins with.
  beginLoad();
  const old = readdirSync(folder);
  for (const { name, script } of chunks) {
    const part = join(folder, `${name}.${pid}.part`);
    writeFileSync(part, withChecksum(script.createCachedData()), { mode: 0o600, flag: 'wx' });
    renameSync(part, join(folder, name));
    for (const other of old)
      if (other !== name && withoutHash(other) === withoutHash(name)) rmSync(join(folder, other));
  }
}

function withoutHash(chunk: string): string {
  return chunk.replace(/-[0-9a-f]+\.cjs$/, '');
}

function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
