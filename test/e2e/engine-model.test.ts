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
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { piperSettings } from '../support/piper-settings.ts';
import { expectFailure, node, Sandbox } from '../support/run.ts';
import { serveProcess } from '../support/serve.ts';
import {
  FRAMES_PER_CHARACTER,
  hasSherpa,
  metadata,
  POCKET_RATE,
  TINY_RATE,
  tinyMatcha,
  tinyPocket,
  tinyPocketDecoder,
  tinyReference,
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
  it('speaks, sample for sample, at its own rate, in a folder of any name', async () => {
    const box = new Sandbox();
    writeTinyVoice(box.path('Žofie/голос'));
    const run = await box.run(['hello there', ...OUT, '--engine', 'Žofie/голос']);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hello there'))).toBe(true);
    expect(box.read('out.wav').readUInt32LE(24)).toBe(TINY_RATE);
  });

  it('is found by a bare name, too, and has the voices that the model tells', async () => {
    const box = boxWithVoice();
    const list = await box.run('speakers --json --engine voice');
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
    ['no tokens', (folder) => rmSync(`${folder}/tokens.txt`), /tokens\.txt is missing/],
    ['nothing', (folder) => rmSync(folder, { recursive: true }), /there is no folder/],
    [
      'a link that leads out',
      (folder) => {
        renameSync(`${folder}/tokens.txt`, `${folder}-tokens.txt`);
        symlinkSync(`${folder}-tokens.txt`, `${folder}/tokens.txt`);
      },
      /tokens\.txt is a link that leads out of the folder of the model\nhint: .*cp -RL copies a folder of links\n/,
    ],
  ])('with %s is one clear error, and the built-in voices still speak', async (_, damage, message) => {
    const box = boxWithVoice();
    writeUserConfig(box, { engines: { mine: { model: box.path('voice') } } });
    damage(box.path('voice'));
    expectFailure(await box.run(['hi', ...OUT, '--engine', 'mine']), 7, message);
    expect(await box.run(['hi', ...OUT, '-s', '1'])).toMatchObject({ status: 0 });
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

  it('never plays old sound of a model that has changed', async () => {
    const box = boxWithVoice();
    const speak = () => box.run('hi -o out.wav --json --engine ./voice');
    await speak();
    expect(JSON.parse((await speak()).stdout.toString())).toMatchObject({ fromCache: 1 });
    const model = readFileSync(box.path('voice/model.onnx'));
    writeFileSync(box.path('voice/model.onnx'), model);
    expect(JSON.parse((await speak()).stdout.toString())).toMatchObject({ fromCache: 0 });
  });
});

function writeFiles(folder: string, files: Readonly<Record<string, Buffer>>): void {
  mkdirSync(folder);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(`${folder}/${name}`, bytes);
}

const ESPEAK_DATA = ['/usr/lib/x86_64-linux-gnu/espeak-ng-data', '/usr/share/espeak-ng-data'].find(
  existsSync,
);

describe.runIf(hasSherpa())('a model that is given phonemes', () => {
  it.runIf(ESPEAK_DATA).each<[string, (folder: string) => void]>([
    ["with Piper's front end", (folder) => writeTinyPiper(folder)],
    ['of Matcha, with its vocoder', (folder) => writeFiles(folder, tinyMatcha())],
  ])("speaks those of the system's espeak-ng-data: %s", async (_, write) => {
    const box = new Sandbox();
    write(box.path('voice'));
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
});

describe.runIf(hasSherpa())('a model of Pocket', () => {
  it('speaks with the likeness of the recording that is chosen', async () => {
    const box = new Sandbox();
    const voices = { 'loud.wav': tinyReference(0.8), 'quiet.wav': tinyReference(0.2) };
    writeFiles(box.path('voice'), { ...tinyPocket(), 'decoder.onnx': tinyPocketDecoder(), ...voices });
    const speak = async (text: string, speaker: string) => {
      const run = await box.run([text, ...OUT, '--engine', './voice', '-s', speaker]);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(box.read('out.wav').readUInt32LE(24)).toBe(POCKET_RATE);
      const peak = Math.max(...samplesOf(box.read('out.wav').subarray(44)));
      return { frames: framesIn(box) / FRAMES_PER_CHARACTER, peak };
    };
    const loud = await speak('hello', 'loud');
    const quiet = await speak('hello', 'quiet');
    expect(loud.peak / quiet.peak).toBeCloseTo(4, 1);
    expect(quiet.frames).toBe(loud.frames);
    expect((await speak('hello there', 'quiet')).frames).toBe(quiet.frames + 6 + 2);
  });
});

/** `tts serve` with the voice, and what a test asks it. */
async function serveVoice() {
  const { child, speak, endBy } = await serveProcess('--no-auth --engine ./voice', { box: boxWithVoice() });
  const ask = async (text: string, speaker: number) => {
    const config = { sample_rate: TINY_RATE };
    const { status, bytes, json } = await speak({ text, speaker_no: speaker, config });
    return { status, json, frames: (bytes.length - 44) / 2 };
  };
  const log = async () => (await endBy('SIGTERM')).ended.stderr;
  return { ask, log, modelProcesses: () => childrenOf(child.pid as number) };
}

function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(' ').filter(Boolean).map(Number);
}

describe.runIf(hasSherpa() && existsSync('/proc/self/task'))('the process of a model', () => {
  it('that is killed fails its utterance with one error; the next one and other voices speak', async () => {
    const { ask, log, modelProcesses } = await serveVoice();
    expect((await ask('one', 1001)).frames).toBe(3 * FRAMES_PER_CHARACTER);
    const [pid] = modelProcesses() as [number];
    process.kill(pid, 'SIGSTOP');
    const failed = ask('two of them', 1001);
    await sleep(200);
    process.kill(pid, 'SIGKILL');
    const { status, json } = await failed;
    expect(status).toBe(502);
    expect(json.error).toMatchObject({ code: 'engine_failed' });
    expect((await ask('hello', 1)).status).toBe(200);
    expect((await ask('three', 1001)).frames).toBe(5 * FRAMES_PER_CHARACTER);
    expect(modelProcesses()).toHaveLength(1);
    expect(modelProcesses()).not.toContain(pid);
    expect(await log()).toContain('voice: its process ended with SIGKILL');
  });
});

/** It writes down what it is told, and the folder in which it runs. */
const FAKE = `
  const told = (what) => require('node:fs').appendFileSync(process.env.TOLD, JSON.stringify(what) + '\\n');
  const tts = {
    sampleRate: 16000,
    numSpeakers: 3,
    generateAsync: async ({ text, generationConfig, onProgress }) => {
      told(generationConfig ?? {});
      if (text === 'Slow.') await new Promise((resolve) => setTimeout(resolve, 500));
      onProgress({ samples: new Float32Array(400) });
    },
  };
  exports.OfflineTts = { createAsync: async ({ model }) => (told({ cwd: process.cwd(), ...model }), tts) };
`;

/** Speaks with a copy of tts, as npm installs it in `lib/node_modules`, and a fake of the package in a folder. */
async function speakWithPackageIn(folder: string, box: Sandbox, args: string) {
  const installed = box.path('lib/node_modules/tts-pipe');
  for (const part of ['bin', 'dist', 'package.json', 'node_modules/@echogarden'])
    cpSync(`${root}/${part}`, `${installed}/${part}`, { recursive: true, dereference: true });
  box.file(`${folder}/sherpa-onnx-node/index.js`, FAKE);
  const env = { TOLD: box.path('told'), NODE_PATH: box.path('node-path') };
  const run = await box.shell(`'${node}' '${installed}/bin/tts.cjs' ${OUT.join(' ')} ${args}`, { env });
  const lines = existsSync(env.TOLD) ? box.read('told').toString().trim().split('\n') : [];
  return { run, told: lines.map((each) => JSON.parse(each)) };
}

describe('the package sherpa-onnx-node', () => {
  it('is taken from the installation, and told the language and the lexicon of a voice of Kokoro', async () => {
    const box = new Sandbox();
    const files = [
      'voices.bin',
      'tokens.txt',
      'espeak-ng-data/phontab',
      'lexicon-gb-en.txt',
      'lexicon-us-en.txt',
    ];
    box.file('Žofie/voice/model.onnx', metadata({ speaker_names: 'af_heart,bm_george,ff_siwis' }));
    for (const file of files) box.file(`Žofie/voice/${file}`);
    const { run, told } = await speakWithPackageIn(
      'lib/node_modules',
      box,
      'hi --engine Žofie/voice -s bm_george',
    );
    expect(run).toMatchObject({ status: 0 });
    expect(told.findLast((line) => line.kokoro?.lexicon === 'lexicon-gb-en.txt')).toMatchObject({
      cwd: box.path('Žofie/voice'),
      kokoro: { model: 'model.onnx', dataDir: 'espeak-ng-data' },
    });
    expect(told.at(-1)).toMatchObject({ sid: 1, speed: 1, extra: { lang: 'en-gb-x-rp' } });
  });

  it('speaks all that was asked for before its process is replaced by another one', async () => {
    const box = boxWithVoice();
    writeUserConfig(box, { engines: { mine: { model: box.path('voice'), concurrency: 2 } } });
    const sentences = Array.from({ length: 510 }, (_, at) => (at === 499 ? 'Slow.' : `Go ${at}.`));
    box.file('long.txt', sentences.join(' '));
    const args = '-f long.txt --max-chars 8 --engine mine';
    const { run, told } = await speakWithPackageIn('lib/node_modules', box, args);
    expect(run).toMatchObject({ status: 0 });
    expect(told.filter(({ cwd }) => cwd)).toHaveLength(2);
    expect(framesIn(box)).toBeGreaterThanOrEqual(400 * sentences.length);
  });

  it.each(['../.node_modules', '../node_modules', 'node_modules', 'node-path'])(
    'is not taken from elsewhere, and the error says how to install it: %s',
    async (folder) => {
      const { run, told } = await speakWithPackageIn(folder, boxWithVoice(), 'hi --engine ./voice');
      expectFailure(run, 7, /needs the package sherpa-onnx-node: npm install -g sherpa-onnx-node\n/);
      expect(told).toEqual([]);
    },
  );
});
