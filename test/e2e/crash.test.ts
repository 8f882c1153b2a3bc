import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { KEY, named, Sandbox } from '../support/run.ts';
import { userConfig, writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/audio/wav-builder.ts';

const PRELOAD = fileURLToPath(new URL('../support/failing-fs.cjs', import.meta.url));
const URL_ = 'https://tts.example.com/api';
const wav = plainWav(sound(5000));

interface Target {
  readonly prepare: (box: Sandbox) => void;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly path: (box: Sandbox) => string;
  readonly isOld: (content: Buffer) => boolean;
  readonly isNew: (content: Buffer) => boolean;
}

const TARGETS: Readonly<Record<string, Target>> = {
  output: {
    prepare: (box) => void box.file('out.wav', 'old'),
    args: ['hi', '-o', 'out.wav'],
    path: (box) => box.path('out.wav'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => content.equals(wav),
  },
  keys: {
    prepare: (box) => void writeUserConfig(box, { retries: 2 }),
    args: ['login', URL_],
    stdin: KEY,
    path: userConfig,
    isOld: (content) => content.equals(Buffer.from(JSON.stringify({ retries: 2 }))),
    isNew: (content) => JSON.parse(content.toString()).keys[URL_] === KEY,
  },
};

const MODES = ['once', 'onwards', 'kill'] as const;
const CASES = Object.keys(TARGETS).flatMap((name) => MODES.map((mode) => [name, mode] as const));

it.each(CASES)('%s: old or new after a fault at each place, %s', { timeout: 180_000 }, async (name, mode) => {
  const { prepare, args, stdin, path, isOld, isNew } = TARGETS[name] as Target;
  const { url } = await serveBytes(complete(wav));
  for (let at = 1; ; at += 1) {
    const box = new Sandbox();
    prepare(box);
    const hit = box.path('hit');
    const fault = { FAULT_AT: `${at}`, FAULT_MODE: mode, FAULT_MARK: hit };
    const env = { ...(stdin === undefined && named(url)), ...fault, NODE_OPTIONS: `--require=${PRELOAD}` };
    const { status } = await box
      .tts(args, { env, ...(stdin !== undefined && { stdin }) })
      .catch(() => ({ status: null }));
    const content = readFileSync(path(box));
    const isHit = existsSync(hit);
    rmSync(hit, { force: true });
    expect(isOld(content) || isNew(content), `torn at ${at}`).toBe(true);
    if (!isHit) {
      expect([status, isNew(content)]).toEqual([0, true]);
      // Otherwise nothing was tried.
      expect(at).toBeGreaterThan(4);
      return;
    }
    expect(status).toBe(mode === 'kill' ? null : 8);
  }
});
