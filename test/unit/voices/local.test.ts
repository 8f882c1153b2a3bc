import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TtsError } from '../../../src/kit/error.ts';
import { processHost } from '../../../src/kit/host.ts';
import { loadCatalogue } from '../../../src/voices/install/catalogue.ts';
import { hubOf } from '../../../src/voices/install/fetch.ts';
import { assertThere, installLocal } from '../../../src/voices/install/from.ts';
import { openStore, Session } from '../../../src/voices/install/store.ts';
import { emptyFolder, filesBelow } from '../../support/folder.ts';
import { listen } from '../../support/listen.ts';

const host = { ...processHost(process), env: {} };

/** @returns the failure: what comes is the file of no voice */
async function failureOf(path: string, data: string): Promise<unknown> {
  const port = await listen(createServer((_, response) => response.end('of a stranger')));
  const session = new Session(
    {
      data,
      catalogue: loadCatalogue(host),
      hub: hubOf(undefined, host),
      retries: 0,
      timeoutMs: 5000,
      proxyFor: () => undefined,
      acceptsLicence: false,
      force: false,
      onProgress: () => {},
    },
    { host, notices: { note: () => {} } as never, signal: new AbortController().signal },
  );
  onTestFinished(() => session[Symbol.asyncDispose]());
  const from = `http://127.0.0.1:${port}/${path}`;
  const voice = { from, name: undefined, sha256: undefined, language: undefined };
  return installLocal(voice, session).catch((error: unknown) => error);
}

describe('a voice of an address', () => {
  it.each([
    '..%2F..%2Fx.onnx',
    '%2e%2e%2f%2e%2e%2fx.onnx',
    'a/..%2F..%2Fx.onnx',
    '%zz/..%2F..%2Fx.onnx',
    '..%2F..%2Fx.tar.gz',
  ])('changes no file outside of its folder: %s', async (path) => {
    const data = emptyFolder();
    openStore(data, host.uid);
    const names = ['x.onnx', 'x.onnx.json', 'x.tar.gz'];
    for (const name of names) writeFileSync(join(data, name), 'mine');
    expect(await failureOf(path, data)).toBeInstanceOf(TtsError);
    expect(names.map((name) => readFileSync(join(data, name), 'utf8'))).toEqual(names.map(() => 'mine'));
    expect(filesBelow(data).filter((name) => !name.startsWith('.parts'))).toEqual(names);
  });

  it.each([
    ['my%20own.onnx', /^my-own cannot be used: it is not JSON$/],
    ['%zz/my%20own.onnx', /^my-own cannot be used: it is not JSON$/],
    ['bad%zz.onnx', /^bad-zz cannot be used: it is not JSON$/],
    ['x.wav', /^x\.wav is neither an \.onnx nor an archive$/],
  ])('has a name, whatever the address: %s', async (path, message) => {
    const error = await failureOf(path, emptyFolder());
    expect(error).toBeInstanceOf(TtsError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  it.each(['https://', 'http://[', 'https://a b/x.onnx'])('is refused where it cannot be one: %s', (from) => {
    expect(() => assertThere(from, host)).toThrow('bad value for --from');
  });
});
