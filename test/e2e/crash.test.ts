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
  /** Calls that the target does not do without. */
  readonly needs: readonly string[];
}

const TARGETS: Readonly<Record<string, Target>> = {
  output: {
    prepare: (box) => void box.file('out.wav', 'old'),
    args: ['hi', '-o', 'out.wav'],
    path: (box) => box.path('out.wav'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => content.equals(wav),
    needs: ['openSync', 'fsync', 'renameSync'],
  },
  subtitles: {
    prepare: (box) => void box.file('out.srt', 'old'),
    args: ['hi', '-o', 'out.wav', '--subtitles', 'out.srt'],
    path: (box) => box.path('out.srt'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => /^1\n00:00:00,000 --> .*\nhi\n/.test(content.toString()),
    needs: ['openSync', 'renameSync'],
  },
  keys: {
    prepare: (box) => void writeUserConfig(box, { retries: 2 }),
    args: ['login', URL_],
    stdin: KEY,
    path: userConfig,
    isOld: (content) => content.equals(Buffer.from(JSON.stringify({ retries: 2 }))),
    isNew: (content) => JSON.parse(content.toString()).keys[URL_] === KEY,
    needs: ['openSync', 'fsync', 'renameSync'],
  },
};

const MODES = ['once', 'onwards', 'kill'] as const;
const CASES = Object.keys(TARGETS).flatMap((name) => MODES.map((mode) => [name, mode] as const));

it.each(CASES)('%s: old or new after a fault at each place, %s', { timeout: 180_000 }, async (name, mode) => {
  const { prepare, args, stdin, path, isOld, isNew, needs } = TARGETS[name] as Target;
  const { url } = await serveBytes(complete(wav));
  const calls = new Set<string>();
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
    if (isHit) calls.add(readFileSync(hit, 'utf8'));
    rmSync(hit, { force: true });
    expect(isOld(content) || isNew(content), `torn at ${at}`).toBe(true);
    if (!isHit) {
      expect([status, isNew(content)]).toEqual([0, true]);
      // Otherwise nothing was tried, or nothing was on the disk.
      expect([...calls]).toEqual(expect.arrayContaining([...needs]));
      return;
    }
    expect(status).toBe(mode === 'kill' ? null : 8);
  }
});

it.each(MODES)(
  'the cache costs no sound, and has none that is wrong, after a fault at each place, %s',
  { timeout: 180_000 },
  async (mode) => {
    const { url } = await serveBytes(complete(wav));
    const env = named(url, { TTS_CACHE: '1' });
    for (let at = 1; ; at += 1) {
      const box = new Sandbox();
      const hit = box.path('hit');
      const fault = {
        FAULT_AT: `${at}`,
        FAULT_MODE: mode,
        FAULT_MARK: hit,
        NODE_OPTIONS: `--require=${PRELOAD}`,
      };
      const { status, stdout } = await box
        .tts(['hi'], { env: { ...env, ...fault } })
        .catch(() => ({ status: null, stdout: wav }));
      expect([status, wav.equals(stdout)]).toEqual([mode === 'kill' && existsSync(hit) ? null : 0, true]);
      const again = await box.tts(['hi'], { env });
      expect([again.status, again.stdout.equals(wav)]).toEqual([0, true]);
      if (existsSync(hit)) continue;
      expect(at).toBeGreaterThan(2);
      return;
    }
  },
);
