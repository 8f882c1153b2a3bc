import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { piperSettings } from '../support/piper-settings.ts';
import { expectFailure, node, Sandbox } from '../support/run.ts';
import {
  FRAMES_PER_CHARACTER,
  hasSherpa,
  TINY_RATE,
  tinySound,
  writeTinyPiper,
  writeTinyVoice,
} from '../support/tiny-voice.ts';
import { writeUserConfig } from '../support/user-config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OUT = ['-o', 'out.wav', '--retries', '0', '--no-cache'];

function framesIn(box: Sandbox): number {
  return (box.read('out.wav').length - 44) / 2;
}

function samplesOf(pcm: Buffer): number[] {
  return Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(at * 2));
}

/** A sandbox with the voice in the folder `voice`. */
function boxWithVoice(): Sandbox {
  const box = new Sandbox();
  writeTinyVoice(box.path('voice'));
  return box;
}

describe.runIf(hasSherpa())('a model folder', () => {
  it('speaks, sample for sample, at its own rate', async () => {
    const box = boxWithVoice();
    expect(await box.run(['hello there', ...OUT, '--engine', './voice'])).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hello there'))).toBe(true);
    expect(box.read('out.wav').readUInt32LE(24)).toBe(TINY_RATE);
  });

  it('is found by a bare name, too, and has the voices that the model tells', async () => {
    const box = boxWithVoice();
    const list = await box.run(['speakers', '--json', '--engine', 'voice']);
    const { speakers } = JSON.parse(list.stdout.toString());
    const own = speakers.filter(({ no }: { no: number }) => no > 1000);
    expect(own.map(({ no, name }: { no: number; name: string }) => [no, name])).toEqual([
      [1001, 'voice-0'],
      [1002, 'voice-1'],
      [1003, 'voice-2'],
    ]);
    for (const speaker of ['1003', 'voice-2', 'voice:voice-2'])
      expect(await box.run(['hi', ...OUT, '--engine', 'voice', '-s', speaker])).toMatchObject({ status: 0 });
    expect((await box.run(['hi', ...OUT, '--engine', 'voice', '-s', '1004'])).status).toBe(2);
  });

  it('speaks a long text in order, in several segments', async () => {
    const box = boxWithVoice();
    const text = Array.from({ length: 40 }, () => 'one sentence of many.').join(' ');
    box.file('long.txt', text);
    const speak = ['-f', 'long.txt', ...OUT, '--engine', './voice', '--max-chars', '100', '--json'];
    const run = await box.run(speak);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const { segments } = JSON.parse(run.stdout.toString());
    expect(segments).toBeGreaterThan(5);
    // The spaces between segments are not spoken.
    expect(framesIn(box) / FRAMES_PER_CHARACTER).toBe(text.length - (segments - 1));
  });

  it.each<[string, (folder: string) => void, RegExp]>([
    ['a torn model', (folder) => truncateSync(`${folder}/model.onnx`, 500), /^tts: mine: /],
    [
      'tokens of two letters',
      (folder) => writeFileSync(`${folder}/tokens.txt`, 'ab 0\nc 1\n'),
      /^tts: mine: /,
    ],
    [
      'a link that leads out',
      (folder) => {
        renameSync(`${folder}/tokens.txt`, `${folder}-tokens.txt`);
        symlinkSync(`${folder}-tokens.txt`, `${folder}/tokens.txt`);
      },
      /tokens\.txt is a link that leads out of the folder of the model\nhint: .*cp -RL copies a folder of links\n/,
    ],
    ['no tokens', (folder) => rmSync(`${folder}/tokens.txt`), /tokens\.txt is missing/],
    ['nothing', (folder) => rmSync(folder, { recursive: true }), /there is no folder/],
  ])('with %s is one clear error, and the built-in voices still speak', async (_, damage, message) => {
    const box = boxWithVoice();
    writeUserConfig(box, { engines: { mine: { model: box.path('voice') } } });
    damage(box.path('voice'));
    expectFailure(await box.run(['hi', ...OUT, '--engine', 'mine']), 7, message);
    expect(await box.run(['hi', ...OUT, '-s', '1'])).toMatchObject({ status: 0 });
  });

  it.each([
    [{ n_speakers: '2147483647' }, /^tts: voice: a model cannot have 2147483647 voices\n/],
    [{ sample_rate: '4000' }, /^tts: voice: the model speaks at 4000 Hz, and not at 8000 to 48000 Hz\n/],
    [{ sample_rate: '96000' }, /^tts: voice: the model speaks at 96000 Hz/],
  ])('whose metadata cannot be true is refused: %j', async (metadata, message) => {
    const box = new Sandbox();
    writeTinyVoice(box.path('voice'), metadata);
    expectFailure(await box.run(['hi', ...OUT, '--engine', './voice']), 7, message);
  });

  it('of a single voice may tell 0 voices', async () => {
    const box = new Sandbox();
    writeTinyVoice(box.path('voice'), { n_speakers: '0' });
    expect(await box.run(['hi', ...OUT, '--engine', './voice'])).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hi'))).toBe(true);
  });

  it("speaks with the scales of the voice's own settings", async () => {
    const box = new Sandbox();
    writeTinyVoice(box.path('voice'), {}, 'noise_scale');
    const inference = { noise_scale: 0.5, noise_w: 0.8, length_scale: 1 };
    box.file('voice/model.onnx.json', JSON.stringify(piperSettings({ inference })));
    expect(await box.run(['hi', ...OUT, '--engine', './voice'])).toMatchObject({ status: 0, stderr: '' });
    const halves = samplesOf(tinySound('hi')).map((sample) => Math.round(sample / 2));
    for (const [at, sample] of samplesOf(box.read('out.wav').subarray(44)).entries())
      expect(Math.abs(sample - (halves[at] ?? 0))).toBeLessThanOrEqual(1);
  });

  it('speaks in a folder whose name is not ASCII', async () => {
    const box = new Sandbox();
    writeTinyVoice(box.path('Žofie/голос'));
    expect(await box.run(['hi', ...OUT, '--engine', 'Žofie/голос'])).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hi'))).toBe(true);
  });

  it('never plays old sound of a model that has changed', async () => {
    const box = boxWithVoice();
    const speak = () => box.run(['hi', '-o', 'out.wav', '--json', '--engine', './voice']);
    await speak();
    expect(JSON.parse((await speak()).stdout.toString())).toMatchObject({ fromCache: 1 });
    const model = readFileSync(box.path('voice/model.onnx'));
    writeFileSync(box.path('voice/model.onnx'), model);
    expect(JSON.parse((await speak()).stdout.toString())).toMatchObject({ fromCache: 0 });
  });
});

const ESPEAK_DATA = ['/usr/lib/x86_64-linux-gnu/espeak-ng-data', '/usr/share/espeak-ng-data'].find(
  existsSync,
);

describe.runIf(hasSherpa())("a model with Piper's front end", () => {
  it.runIf(ESPEAK_DATA)("speaks phonemes of the system's espeak-ng-data", async () => {
    const box = new Sandbox();
    writeTinyPiper(box.path('voice'));
    cpSync(ESPEAK_DATA as string, box.path('voice/espeak-ng-data'), { recursive: true });
    const frames: number[] = [];
    for (const text of ['hello', 'hello', 'hello world']) {
      expect(await box.run([text, ...OUT, '--engine', './voice'])).toMatchObject({ status: 0, stderr: '' });
      frames.push(framesIn(box) / FRAMES_PER_CHARACTER);
    }
    expect(frames[0]).toBeGreaterThan(5);
    expect(frames[1]).toBe(frames[0]);
    expect(frames[2]).toBeGreaterThan(frames[0] as number);
    expect(frames.every(Number.isInteger)).toBe(true);
  });

  it('and data of another kind is one clear error', async () => {
    const box = new Sandbox();
    writeTinyPiper(box.path('voice'));
    mkdirSync(box.path('voice/espeak-ng-data'));
    expectFailure(await box.run(['hello', ...OUT, '--engine', './voice']), 7, /^tts: voice: /);
    expect(box.list()).toEqual(['voice']);
  });

  it('and without data names what is missing', async () => {
    const box = new Sandbox();
    writeTinyPiper(box.path('voice'));
    expectFailure(await box.run(['hello', ...OUT, '--engine', './voice']), 7, /espeak-ng-data is missing/);
  });
});

describe('the package sherpa-onnx-node', () => {
  const FAKE = `
    require('node:fs').writeFileSync(process.env.LOADED, __dirname);
    const tts = {
      sampleRate: 16000,
      numSpeakers: 1,
      generateAsync: async ({ onProgress }) => onProgress({ samples: new Float32Array(400) }),
    };
    exports.OfflineTts = { createAsync: async () => tts };
  `;

  /** Speaks with a copy of tts, as npm installs it in `lib/node_modules`, and a fake of the package in a folder. */
  async function speakWithPackageIn(folder: string) {
    const box = boxWithVoice();
    const installed = box.path('lib/node_modules/tts-pipe');
    for (const part of ['bin', 'dist', 'package.json', 'node_modules/@echogarden'])
      cpSync(`${root}/${part}`, `${installed}/${part}`, { recursive: true, dereference: true });
    box.file(`${folder}/sherpa-onnx-node/index.js`, FAKE);
    const env = { LOADED: box.path('loaded'), NODE_PATH: box.path('node-path') };
    const args = ['hi', ...OUT, '--engine', './voice'].join(' ');
    const run = await box.shell(`'${node}' '${installed}/bin/tts.cjs' ${args}`, { env });
    return { run, loaded: existsSync(env.LOADED) };
  }

  it.each(['lib/node_modules', 'lib/node_modules/tts-pipe/node_modules'])(
    'is taken from the installation: %s',
    async (folder) => {
      const { run, loaded } = await speakWithPackageIn(folder);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(loaded).toBe(true);
    },
  );

  it.each([
    '../.node_modules',
    '../.node_libraries',
    '../node_modules',
    'node_modules',
    'node-path',
    'lib/node_modules/tts-pipe/dist/node_modules',
  ])('is not taken from elsewhere, and the error says how to install it: %s', async (folder) => {
    const { run, loaded } = await speakWithPackageIn(folder);
    expectFailure(run, 7, /needs the package sherpa-onnx-node: npm install -g sherpa-onnx-node\n/);
    expect(loaded).toBe(false);
  });
});
