import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import type { TtsError } from '../../src/kit/error.ts';
import { processHost } from '../../src/kit/host.ts';
import { findRuntime, installRuntime } from '../../src/voices/install/runtime.ts';
import { emptyFolder } from '../support/folder.ts';
import { listen } from '../support/listen.ts';

const program = fileURLToPath(new URL('../../dist/model.mjs', import.meta.url));

const GOOD = 'exports.OfflineTts = {};';
const BROKEN = "throw new Error('version GLIBC_2.32 not found');";

interface Package {
  readonly name: string;
  readonly code: string;
}

/** A package as npm packs it, with a script that would write a file. */
async function tarball({ name, code }: Package, written: string): Promise<Buffer> {
  const scripts = { postinstall: `node -e "require('fs').writeFileSync('${written}', '')"` };
  const archive = pack();
  archive.entry(
    { name: 'package/package.json' },
    JSON.stringify({ name, version: '1.13.8', main: 'index.js', scripts }),
  );
  archive.entry({ name: 'package/index.js' }, code);
  archive.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece as Buffer);
  return gzipSync(Buffer.concat(pieces));
}

/** A registry on loopback with both packages of the runtime, and what installs them. */
async function registry({ native, portable }: { native: string; portable: string }) {
  const written = join(emptyFolder(), 'written');
  const packages = new Map<string, Buffer>();
  for (const [name, code] of [
    ['sherpa-onnx-node', native],
    ['sherpa-onnx', portable],
  ] as const)
    packages.set(name, await tarball({ name, code }, written));
  const integrity = (name: string) =>
    `sha512-${createHash('sha512')
      .update(packages.get(name) as Buffer)
      .digest('base64')}`;
  const server = createServer((request, response) => {
    const [, name = '', file] = (request.url ?? '').split('/');
    const bytes = packages.get(decodeURIComponent(name));
    if (!bytes) response.writeHead(404).end('{}');
    else if (file !== undefined) response.end(bytes);
    else {
      const dist = { integrity: integrity(name), tarball: `http://127.0.0.1:${port}/${name}/a.tgz` };
      const version = { name, version: '1.13.8', dist, hasInstallScript: true };
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: '1.13.8' }, versions: { '1.13.8': version } }),
      );
    }
  });
  const port = await listen(server);
  const lockOf = (name: string, sum = integrity(name)) => ({
    name: 'tts-runtime',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'tts-runtime', version: '1.0.0', dependencies: { [name]: '1.13.8' } },
      [`node_modules/${name}`]: { version: '1.13.8', integrity: sum, hasInstallScript: true },
    },
  });
  const home = emptyFolder();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(home, 'npm'),
    npm_config_ignore_scripts: 'false',
  };
  const notes: string[] = [];
  const context = {
    host: { ...processHost(process), env },
    notices: { note: (text: string) => void notes.push(text) } as never,
    signal: new AbortController().signal,
  };
  const data = join(home, 'data');
  const options = {
    data,
    program,
    isBeside: false,
    locks: { native: lockOf('sherpa-onnx-node'), portable: lockOf('sherpa-onnx') },
  };
  return { written, notes, context, options, lockOf };
}

describe('the runtime', () => {
  it('is installed by npm without running a script, and is then found', async () => {
    const { written, context, options } = await registry({ native: GOOD, portable: GOOD });
    expect(await findRuntime(options, context)).toBeUndefined();
    await installRuntime(options, context);
    expect(await findRuntime(options, context)).toBe('sherpa-onnx-node');
    expect(existsSync(written)).toBe(false);
    expect(readdirSync(join(options.data, '.parts'))).toEqual([]);
  });

  it('is the one in WebAssembly where the native one does not load', async () => {
    const { notes, context, options } = await registry({ native: BROKEN, portable: GOOD });
    await installRuntime(options, context);
    expect(await findRuntime(options, context)).toBe('sherpa-onnx');
    expect(notes.join('\n')).toMatch(
      /does not load here: version GLIBC_2\.32 not found\n.*four times as long/,
    );
  });

  it('needs npm, and where there is none the error has the line to run', async () => {
    const folder = emptyFolder();
    const host = { ...processHost(process), execPath: join(folder, 'bin', 'node'), env: { PATH: folder } };
    const context = { host, notices: {} as never, signal: new AbortController().signal };
    const error = await installRuntime({ data: join(folder, 'data') }, context).catch((thrown) => thrown);
    expect(error).toMatchObject({
      exitCode: 2,
      message: 'an installed voice needs the runtime sherpa-onnx 1.13.8, and there is no npm to install it',
      hint: 'install npm, or run where npm is: npm install -g sherpa-onnx-node@1.13.8',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('with another checksum than that of the lock file is an error, and nothing is installed', async () => {
    const { context, options, lockOf } = await registry({ native: GOOD, portable: GOOD });
    const locks = { ...options.locks, native: lockOf('sherpa-onnx-node', `sha512-${'A'.repeat(86)}==`) };
    const error = (await installRuntime({ ...options, locks }, context).catch(
      (thrown: unknown) => thrown,
    )) as TtsError;
    expect(error.message).toMatch(/^npm could not install the runtime sherpa-onnx 1\.13\.8: .*EINTEGRITY/);
    expect(error.exitCode).toBe(7);
    expect(existsSync(join(options.data, 'runtime', 'sherpa-onnx-1.13.8'))).toBe(false);
  });
});
