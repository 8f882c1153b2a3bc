import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { failingCall } from '../support/failing-calls.ts';
import { complete } from '../support/http-bytes.ts';
import { KEY, named, Sandbox } from '../support/run.ts';
import { userConfig, writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

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
  encoded: {
    prepare: (box) => void box.file('out.mp3', 'old'),
    args: ['hi', '-o', 'out.mp3', '--title', 'Book'],
    path: (box) => box.path('out.mp3'),
    isOld: (content) => content.equals(Buffer.from('old')),
    isNew: (content) => content.toString('latin1', 0, 3) === 'ID3' && content.length > 800,
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
    prepare: (box) => void writeUserConfig(box, { 'https://b.example': 'b' }, { name: 'keys.json' }),
    args: ['login', URL_],
    stdin: KEY,
    path: (box) => userConfig(box, 'keys.json'),
    isOld: (content) => content.equals(Buffer.from(JSON.stringify({ 'https://b.example': 'b' }))),
    isNew: (content) => JSON.parse(content.toString())[URL_] === KEY,
    needs: ['openSync', 'fsync', 'renameSync'],
  },
};

const CASES = Object.keys(TARGETS).flatMap((name) =>
  (['onwards', 'kill'] as const).map((mode) => [name, mode] as const),
);

it.each(CASES)('%s: old or new after a fault at each place, %s', { timeout: 180_000 }, async (name, mode) => {
  const { prepare, args, stdin, path, isOld, isNew, needs } = TARGETS[name] as Target;
  const { url } = await serveBytes(complete(wav));
  const calls = new Set<string>();
  for (let at = 1; ; at += 1) {
    const box = new Sandbox();
    prepare(box);
    const failing = failingCall(box, at, mode);
    const env = { ...(stdin === undefined && named(url)), ...failing.env };
    const { status } = await box
      .run(args, { env, ...(stdin !== undefined && { stdin }) })
      .catch(() => ({ status: null }));
    const content = readFileSync(path(box));
    const call = failing.hit();
    if (call) calls.add(call);
    expect(isOld(content) || isNew(content), `torn at ${at}`).toBe(true);
    if (!call) {
      expect([status, isNew(content)]).toEqual([0, true]);
      // Otherwise nothing was tried, or nothing was on the disk.
      expect([...calls]).toEqual(expect.arrayContaining([...needs]));
      return;
    }
    expect(status).toBe(mode === 'kill' ? null : 8);
  }
});

it.each(['onwards', 'kill'] as const)(
  'the cache costs no sound, and has none that is wrong, after a fault at each place, %s',
  { timeout: 180_000 },
  async (mode) => {
    const { url } = await serveBytes(complete(wav));
    const env = named(url, { TTS_CACHE: '1' });
    const calls = new Set<string>();
    for (let at = 1; ; at += 1) {
      const box = new Sandbox();
      const failing = failingCall(box, at, mode);
      const { status, stdout } = await box
        .run(['hi'], { env: { ...env, ...failing.env } })
        .catch(() => ({ status: null, stdout: wav }));
      const call = failing.hit();
      expect([status, wav.equals(stdout)]).toEqual([mode === 'kill' && call ? null : 0, true]);
      const again = await box.run(['hi'], { env });
      expect([again.status, again.stdout.equals(wav)]).toEqual([0, true]);
      if (call) calls.add(call);
      else break;
    }
    // Otherwise nothing was kept.
    expect([...calls]).toEqual(expect.arrayContaining(['openSync', 'renameSync']));
  },
);
