import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import type { TtsError } from '../../src/kit/error.ts';
import { processHost } from '../../src/kit/host.ts';
import { findRuntime, installRuntime } from '../../src/voices/install/runtime.ts';
import { ask } from '../support/ask.ts';
import { emptyFolder, filesBelow } from '../support/folder.ts';
import { sha256 } from '../support/hub.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { type Arguments, type Ended, expectFailure, Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import { hasSherpa, tinySound, tinyStyled } from '../support/tiny-voice.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { archiveOf, ESPEAK_DATA, listOnHub, piperFiles, standIn, tinyFiles } from '../support/voices.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OUT = ['-o', 'out.wav', '--json'];
const data = (box: Sandbox) => join(box.home, '.local', 'share', 'tts');

interface Listed {
  readonly name: string;
  readonly speaker_no?: number;
  readonly no?: number;
}

/** A sandbox with a hub, and what runs there. */
async function withHub(changes: object = {}) {
  const box = new Sandbox();
  const stand = await standIn(box, changes);
  return { box, ...stand, ...commandsOf(box, stand.env) };
}

function commandsOf(box: Sandbox, env: Record<string, string> = {}) {
  const run = (line: Arguments) => box.run(line, { env });
  const succeed = async (line: Arguments) => {
    const ended = await run(line);
    expect(ended, ended.stderr).toMatchObject({ status: 0 });
    return ended;
  };
  /** @returns the samples */
  const speak = async (speaker: string, text = 'hello') => {
    expect(await run([text, ...OUT, '-s', speaker])).toMatchObject({ status: 0, stderr: '' });
    return box.read('out.wav').subarray(44);
  };
  return { run, succeed, speak };
}

function isInstalled({ speaker_no, no = speaker_no ?? 0 }: Listed): boolean {
  return no > 200_000;
}

describe.runIf(hasSherpa())('an installed voice', () => {
  it('comes from the hub, speaks, and speaks on without a network, in serve as well, until it is removed', async () => {
    const { box, hub, env, run, succeed } = await withHub();
    expectFailure(
      await run('hi -s tina'),
      2,
      /^tts: --speaker: the voice tina is not installed\nhint: tts voices install tina \(\d+ MB, public domain\)\n$/,
    );
    const install = await succeed('voices install tina');
    expect(install.stderr).toContain('Speak with: tts -s tina "Hello"');
    expect(statSync(data(box)).mode & 0o777).toBe(0o700);
    expect(filesBelow(data(box))).toEqual([
      'voices/tina/MODEL_CARD',
      'voices/tina/model.onnx',
      'voices/tina/tokens.txt',
      'voices/tina/voice.json',
    ]);
    const asked = hub.requests.length;
    const gone = { ...env, HF_ENDPOINT: 'http://127.0.0.1:9' };
    const offline = commandsOf(box, gone);
    for (const speaker of ['tina', 'German', '200001', 'tina:tina-1'])
      expect([speaker, (await offline.speak(speaker, 'hi')).equals(tinySound('hi'))]).toEqual([
        speaker,
        true,
      ]);
    expect(hub.requests).toHaveLength(asked);
    const again = await offline.succeed('voices install tina');
    expect(again.stderr).toContain('tina is installed already');

    const { url, speak, endBy } = await serve('--no-auth', { box, env: gone });
    const { speakers } = (await ask(`${url}/speakers`)).json as { speakers: Listed[] };
    const { voices } = (await ask(`${url}/v1/audio/voices`)).json as { voices: Listed[] };
    const listed = await offline.run('speakers --json');
    const { speakers: own } = JSON.parse(listed.stdout.toString()) as { speakers: Listed[] };
    for (const list of [speakers, voices, own])
      expect(list.filter(isInstalled).map(({ name }) => name)).toEqual(['tina-0', 'tina-1', 'tina-2']);
    const config = { sample_rate: 16_000 };
    const { bytes } = await speak({ text: 'hi', speaker_no: 200_002, config });
    expect(bytes.subarray(44).equals(tinySound('hi'))).toBe(true);
    for (const voice of ['tina', 'tina:tina-1', 'tina-2', '200003', 'de']) {
      const headers = { 'Content-Type': 'application/json' };
      const body = { input: 'hi', voice, response_format: 'wav' };
      const spoken = await ask(`${url}/v1/audio/speech`, { method: 'POST', headers, body });
      expect([voice, spoken.headers['x-voice']]).toEqual([voice, expect.stringMatching(/^tina-\d$/)]);
      expect(spoken.bytes.subarray(44).equals(tinySound('hi'))).toBe(true);
    }
    await endBy('SIGTERM');

    await succeed('voices remove tina');
    expect(filesBelow(data(box))).toEqual([]);
    expectFailure(await run('hi -s tina'), 2, /is not installed/);
  });

  it.runIf(ESPEAK_DATA)('of Piper gets its metadata, its tokens and the data of its language', async () => {
    const { box, run, succeed, speak } = await withHub();
    const install = await succeed('voices install pia tina --json');
    const { installed, runtime } = JSON.parse(install.stdout.toString());
    expect(installed.map(({ name, checked }: Record<string, string>) => [name, checked])).toEqual([
      ['pia', 'sha256'],
      ['tina', 'sha256'],
    ]);
    expect(runtime).toBe('sherpa-onnx-node');
    expect((await speak('pia')).length).toBeGreaterThan(5 * 1600);
    const verified = await succeed('voices verify');
    expect(verified.stdout.toString()).toBe(
      'pia  all files are as installed\ntina  all files are as installed\n',
    );
    const doctor = await run('doctor --json');
    expect(JSON.parse(doctor.stdout.toString()).findings).toContainEqual({
      name: 'voices',
      state: 'good',
      detail: 'pia, tina: all of them speak',
    });
    const dictionary = join(data(box), 'espeak', 'c0ffee00', 'en_dict');
    const model = join(data(box), 'voices', 'pia', 'model.onnx');
    writeFileSync(model, readFileSync(model).reverse());
    rmSync(dictionary);
    const advice = /hint: .*: tts voices install --force pia\n$/;
    expectFailure(await run('hello -o out.wav -s pia --no-cache --retries 0'), 7, advice);
    rmSync(join(data(box), 'voices', 'pia', 'tokens.txt'));
    expectFailure(await run('hello -o out.wav -s pia'), 7, advice);
    const damaged = await run('voices verify');
    expect(damaged.status).toBe(7);
    expect(damaged.stderr).toBe(
      'tts: pia: not as installed\n  pia: model.onnx has a different checksum\n  pia: tokens.txt is missing\n  pia: en_dict is missing\nhint: install again: tts voices install --force pia\n',
    );
    await succeed('voices install --force pia');
    await succeed('voices verify');
    await run('voices remove pia');
    expect(existsSync(join(data(box), 'espeak'))).toBe(false);
    expect(existsSync(join(data(box), 'voices', 'tina'))).toBe(true);
  });

  it('comes from a folder or an archive, without a network', async ({ skip }) => {
    skip(!isThere('tar'), 'no tar here');
    const box = new Sandbox();
    for (const [name, bytes] of Object.entries(tinyFiles())) box.file(`anna/${name}`, bytes);
    await box.shell('tar czf anna.tar.gz anna; tar cjf anna.tar.bz2 anna');
    const { run, succeed, speak } = commandsOf(box, { HF_ENDPOINT: 'http://127.0.0.1:9' });
    const places = ['anna', 'anna.tar.gz', ...(existsSync(box.path('anna.tar.bz2')) ? ['anna.tar.bz2'] : [])];
    for (const [at, from] of places.entries()) {
      const name = `anna${at}`;
      await succeed(['voices', 'install', '--from', from, '--name', name]);
      expect((await speak(name, 'hi')).equals(tinySound('hi'))).toBe(true);
    }
    const { voices } = JSON.parse((await run('voices --installed --json')).stdout.toString());
    expect(
      voices.map(({ name, number }: { name: string; number: number }) => [name, number]).slice(0, 2),
    ).toEqual([
      ['anna0', 300_001],
      ['anna1', 301_001],
    ]);
    expect(filesBelow(join(data(box), '.parts'))).toEqual([]);
  });

  it.runIf(ESPEAK_DATA)('may be a raw one of Piper, with its settings and data of espeak-ng', async () => {
    const box = new Sandbox();
    const { onnx, settings, card } = piperFiles();
    for (const [name, bytes] of Object.entries({ 'own.onnx': onnx, 'own.onnx.json': settings, README: card }))
      box.file(`raw/${name}`, bytes);
    cpSync(ESPEAK_DATA ?? '', box.path('raw/espeak-ng-data'), { recursive: true });
    const { run, succeed, speak } = commandsOf(box, { HF_ENDPOINT: 'http://127.0.0.1:9' });
    await succeed('voices install --from raw/own.onnx');
    await succeed('voices install --from raw --name other --language German');
    expectFailure(await run('voices install --from raw --language xyzzy'), 2, /"xyzzy" is not a language/);
    expect(await run('hello -o out.wav -s other --language de')).toMatchObject({ status: 0 });
    for (const name of ['own', 'other']) {
      expect((await speak(name)).length).toBeGreaterThan(5 * 1600);
      const manifest = JSON.parse(readFileSync(join(data(box), 'voices', name, 'voice.json'), 'utf8'));
      expect(manifest).toMatchObject({ quality: 'own', sampleRate: 16_000, checked: 'not checked' });
      const files = manifest.files.map((file: { name: string }) => file.name);
      expect(files).toEqual(expect.arrayContaining(['MODEL_CARD', 'tokens.txt', 'espeak-ng-data/en_dict']));
    }
    await succeed('voices verify');
  });

  it.runIf(ESPEAK_DATA)('may be any of Piper, checked by what the hub says of it', async () => {
    const stand = await withHub();
    const { box, run, speak } = stand;
    const install = (key: string, ...args: string[]) => run(['voices', 'install', key, ...args]);
    listOnHub(stand, 'en_US-joe-medium', 'License: research only, see URL\n');
    expect(await install('en_US-joe-medium', '--dry-run')).toMatchObject({ status: 0 });
    expect(filesBelow(join(data(box), '.parts'))).toEqual([]);
    expectFailureWithCard(await install('en_US-joe-medium'), 'License: research only, see URL');
    listOnHub(stand, 'en_US-joe-medium', '* License: CC0\n');
    expect(await install('en_US-joe-medium')).toMatchObject({ status: 0 });
    const manifest = JSON.parse(readFileSync(join(data(box), 'voices', 'joe', 'voice.json'), 'utf8'));
    expect(manifest).toMatchObject({
      key: 'en_US-joe-medium',
      licence: 'CC0',
      class: 'free',
      checked: 'md5',
      number: 300_001,
    });
    await speak('joe');
    expectFailure(await install('en_US-nobody-medium'), 2, /no voice is called "en_US-nobody-medium"/);
    listOnHub(stand, 'en_US-up-medium', 'License: CC0\n', { name: '../../up' });
    expectFailure(await install('en_US-up-medium'), 7, /has an invalid entry for en_US-up-medium/);
    listOnHub(stand, 'en_US-jan-medium', 'License: CC0\n', { phoneme_type: 'pinyin' });
    const pinyin = await install('en_US-jan-medium');
    expect(pinyin.status).toBe(7);
    expect(pinyin.stderr).toContain('"phoneme_type" must be "espeak": sherpa-onnx makes no other phonemes');
    expect(filesBelow(join(data(box), 'voices')).filter((name) => !name.startsWith('joe'))).toEqual([]);
  });

  it('has the same identity on two machines, so that the cache of one serves the other', async () => {
    const one = new Sandbox();
    const { env } = await standIn(one);
    const cache = { ...env, TTS_CACHE_DIR: one.path('cache') };
    for (const box of [one, new Sandbox()]) {
      await box.run('voices install tina', { env: cache });
      const run = await box.run(['hi', ...OUT, '-s', 'tina'], { env: cache });
      expect(JSON.parse(run.stdout.toString())).toMatchObject({ fromCache: box === one ? 0 : 1 });
    }
  });
});

describe.runIf(hasSherpa() && ESPEAK_DATA)('a voice of another kind', () => {
  it('comes as an archive of releases, of which only what it needs is kept', async () => {
    const { box, hub, run, succeed, speak } = await withHub();
    await succeed('voices install ina kit --json');
    expect(hub.requests.map(({ path }) => path)).toContain('/releases/download/vits-ina.tar.gz');
    const files = filesBelow(join(data(box), 'voices', 'ina'));
    expect(files).toContain('espeak-ng-data/en_dict');
    expect(files).not.toContain('espeak-ng-data/de_dict');
    expect(filesBelow(join(data(box), '.parts'))).toEqual([]);
    for (const speaker of ['ina', 'kit', 'expr-voice-2-f', '202001', '203002']) await speak(speaker);
    await succeed('voices verify');
    const again = await run('voices install ina');
    expect(again.stderr).toContain('ina is installed already');
    await succeed('voices remove ina kit');
    expect(filesBelow(data(box))).toEqual([]);
  });

  it('may be a folder of Kokoro', async () => {
    const box = new Sandbox();
    const files = tinyStyled('kokoro', 'af_heart,bm_george');
    for (const [name, bytes] of Object.entries(files)) box.file(`koko/${name}`, bytes);
    cpSync(ESPEAK_DATA ?? '', box.path('koko/espeak-ng-data'), { recursive: true });
    const { succeed, speak } = commandsOf(box);
    await succeed('voices install --from koko --json');
    for (const speaker of ['heart', 'bm_george', 'koko']) await speak(speaker);
  });

  it('is spoken at the pace that the catalogue corrects', async () => {
    const { box, succeed, speak } = await withHub();
    await succeed('voices install kit');
    const peaks: number[] = [];
    for (const changed of [undefined, 1]) {
      const manifest = join(data(box), 'voices', 'kit', 'voice.json');
      const { speakers, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
      const own = speakers.map((speaker: object) => ({ ...speaker, ...(changed && { speed: changed }) }));
      writeFileSync(manifest, JSON.stringify({ ...rest, speakers: own }));
      const samples = new Int16Array(Uint8Array.from(await speak('kit')).buffer);
      peaks.push(samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
    }
    // The tiny model multiplies its sound by the speed that it is given.
    expect((peaks[0] ?? 0) / (peaks[1] ?? 1)).toBeCloseTo(1.6, 1);
  });

  it('asks about its licence, and speaks each of its languages', async () => {
    const { run, succeed } = await withHub();
    expectFailureWithCard(await run('voices install sup'), 'Use it for good.');
    expectFailure(await run('voices install sup --language de'), 2, /--language only works with --from/);
    await succeed('voices install sup --accept-licence');
    for (const [line, voice] of [
      ['-s F2', 'F2'],
      ['-s ja', 'F1-ja'],
      ['-s M1 --language ja', 'M1-ja'],
      ['-s sup --language German', 'F1-de'],
      ['--language ko', 'F1-ko'],
      ['-s 204010', 'M5'],
    ] as const) {
      const cached = async () => {
        const { stdout } = await run(`hello --dry-run --json -s ${voice}`);
        return JSON.parse(stdout.toString()).inCache;
      };
      expect([voice, await cached()]).toEqual([voice, 0]);
      await succeed(`hello -o out.wav ${line}`);
      expect([voice, await cached()]).toEqual([voice, 1]);
    }
    expectFailure(
      await run('hello -o out.wav -s F1 --language fr'),
      2,
      /^tts: --language: the voice F1 speaks English, and not French\n/,
    );
    expectFailure(await run('hello -o out.wav --language xyzzy -s F1'), 2, /is not a language/);
  });

  it('has files of several repositories, and voices of references', async () => {
    const { box, run, succeed, speak } = await withHub();
    await succeed('voices install poc --json');
    expect(filesBelow(join(data(box), 'voices', 'poc'))).toEqual(
      expect.arrayContaining(['bill.wav', 'decoder.onnx', 'mary.wav', 'vocab.json', 'voice.json']),
    );
    const listed = await run('speakers --json');
    const { speakers } = JSON.parse(listed.stdout.toString());
    expect(speakers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ no: 205_001, name: 'bill' }),
        expect.objectContaining({ no: 205_002, name: 'mary', gender: 'woman' }),
      ]),
    );
    for (const speaker of ['bill', 'mary']) await speak(speaker);
  });

  it('speaks like a WAV of the user, which has to be one voice of some seconds', async () => {
    const { box, run, succeed, speak } = await withHub();
    await succeed('voices install poc tina');
    await run(['so that there is a voice to speak like', '-o', 'long.wav', '--speed', '0.5']);
    await run(['hi', '-o', 'short.wav']);
    const own = (speaker: object) => writeUserConfig(box, { speakers: { me: speaker } });
    const long = box.path('long.wav');
    const dry = 'hello --dry-run -s me';
    own({ engine: 'poc', reference: long });
    await succeed(dry);
    await speak('me');
    box.file('rows.csv', 'id,text,speed\na,hello,0.8\nb,so,1\nc,hi,1.2\n');
    box.file(
      'log.cjs',
      `if (process.argv[1].endsWith('model.mjs')) require('node:fs').appendFileSync(${JSON.stringify(box.path('log'))}, 'x')`,
    );
    const batch = await box.run('batch rows.csv -s me -o rows/{id}.wav --no-cache', {
      env: { NODE_OPTIONS: `--require=${box.path('log.cjs')}` },
    });
    expect({ status: batch.status, processes: box.read('log').toString() }).toEqual({
      status: 0,
      processes: 'x',
    });
    for (const [speaker, message] of [
      [{ engine: 'poc', reference: box.path('short.wav') }, /is shorter than 3 s/],
      [{ engine: 'poc', reference: box.path('catalogue.json') }, /cannot be read: no WAV/],
      [{ engine: 'poc', reference: box.path('none.wav') }, /cannot be read \(ENOENT\)/],
      [{ engine: 'tina', reference: long }, /no installed voice "tina" speaks like a reference/],
      [{ reference: long }, /has a "reference", which stands/],
    ] as const) {
      own(speaker);
      expectFailure(await run(dry), 2, message);
    }
    own({ no: 1 });
    box.file('.ttsrc.json', JSON.stringify({ speakers: { me: { engine: 'poc', reference: long } } }));
    expectFailure(await run(dry), 2, /may name no reference/);
  });

  it('is refused where the archive is not that of the catalogue, or holds no model', async () => {
    const stand = await withHub();
    const { box, hub, run } = stand;
    const path = 'releases/download/vits-ina.tar.gz';
    const right = hub.files.get(path) as Buffer;
    hub.files.set(path, Buffer.alloc(right.length, 1));
    const fails = async (message: RegExp) => {
      const { status, stderr } = await run('voices install ina --retries 0');
      expect({ status, stderr }).toEqual({ status: 7, stderr: expect.stringMatching(message) });
    };
    await fails(/has the wrong checksum/);
    const none = await archiveOf('vits-ina', { 'readme.md': Buffer.from('nothing') });
    hub.files.set(path, none);
    const catalogue = JSON.parse(box.read('catalogue.json').toString());
    const ina = catalogue.voices.find(({ name }: { name: string }) => name === 'ina');
    ina.files = [{ path: 'vits-ina.tar.gz', size: none.length, sha256: sha256(none) }];
    box.file('catalogue.json', JSON.stringify(catalogue));
    await fails(/is not a model that can be loaded/);
    expect(filesBelow(join(data(box), 'voices'))).toEqual([]);
  });

  it('is checked with all others before a release, by a script that goes on after a failure', async () => {
    const { box, hub, env } = await withHub();
    hub.files.set('releases/download/vits-ina.tar.gz', Buffer.from('torn'));
    const report = box.path('report.md');
    const line = ['.config/voices-check.mjs', '--report', report, 'ina', 'sup'];
    const { status, stdout } = await new Promise<{ status: number; stdout: string }>((resolve) => {
      const options = { cwd: root, env: { ...process.env, ...env, HOME: box.home } };
      execFile(process.execPath, line, options, (error, stdout) => {
        resolve({ status: Number(error?.code ?? 0), stdout });
      });
    });
    expect(status, stdout).toBe(1);
    const rows = readFileSync(report, 'utf8').trim().split('\n').slice(2);
    expect(rows.map((row) => row.split(' | ').slice(0, 2))).toEqual([
      ['| ina', 'en-US'],
      ['| sup', 'en'],
      ['| sup', 'ko'],
      ['| sup', 'ja'],
      ['| sup', 'de'],
    ]);
    expect(rows[0]).toMatch(/ - \| tts: vits-ina\.tar\.gz of \S+ has 4 bytes/);
    expect(rows[1]).toMatch(/^\| sup \| en \| \d+\.\d \| -\d+\.\d \| \d+\.\dx \| /);
  });

  it('comes from a copy of its archive, without a network', async () => {
    const { box, hub, env, run } = await withHub();
    box.file('vits-ina.tar.gz', hub.files.get('releases/download/vits-ina.tar.gz') as Buffer);
    const gone = { ...env, HF_ENDPOINT: 'http://127.0.0.1:9' };
    const install = await box.run('voices install --from vits-ina.tar.gz', { env: gone });
    expect(install, install.stderr).toMatchObject({ status: 0 });
    expect(hub.requests).toEqual([]);
    const list = await run('voices --installed --json');
    expect(JSON.parse(list.stdout.toString()).voices).toMatchObject([{ name: 'ina', checked: 'sha256' }]);
  });
});

function expectFailureWithCard({ status, stderr }: Ended, line: string): void {
  expect({ status, stderr }).toMatchObject({ status: 2 });
  expect(stderr).toContain(`\n  ${line}\nhint: read it, and say --accept-licence`);
}

describe('tts voices', () => {
  it('lists the catalogue without a network', async () => {
    const box = new Sandbox();
    const { voices } = JSON.parse((await box.run('voices --json')).stdout.toString());
    expect(voices[0].name).toBe('inflect');
    const german = await box.run('voices --language German');
    expect(german.stdout.toString()).toMatch(
      /thorsten +man +German \(DE\) +63 +CC0, trained from lessac +5x/,
    );
    expect(german.stdout.toString()).toMatch(/^To hear thorsten, thorsten-high, mls-de: https:/m);
    expect(german.stdout.toString()).not.toContain('cori');
    expect((await box.run('voices --installed')).stdout.toString()).toMatch(/^no voice is installed; /);
  });

  it('names for a language what speaks it, or what to do where nothing does', async () => {
    const box = new Sandbox();
    const env = { PATH: '' };
    const japanese = await box.run('voices --language ja', { env });
    expect(japanese.stdout.toString()).toMatch(
      /^supertonic +5 women, 5 men +31 languages +145 +limits of use/m,
    );
    const none = await box.run('voices --language Swahili', { env });
    expect(none.stdout.toString()).toMatch(
      /^no voice of the list speaks Swahili: espeak-ng may speak Swahili/,
    );
    expectFailure(
      await box.run('speakers --language Dutch', { env }),
      2,
      /^tts: no voice of this machine speaks Dutch\nhint: tts voices install \w+ /,
    );
    for (const command of ['speakers', 'voices'])
      expectFailure(await box.run(`${command} --language xyzzy`, { env }), 2, /"xyzzy" is not a language/);
  });

  it.skipIf(!isThere('script'))(
    'begins on a terminal with the language of the system, and fits a screen',
    async () => {
      const box = new Sandbox();
      const onTerminal = async (line: string) => {
        const typed = `stty cols 80; LC_ALL=de_DE.UTF-8 ${line}`;
        const { stdout } = await box.shell(`script -qc '${typed}' typescript < /dev/null`);
        return stdout.toString().trimEnd().split(/\r?\n/);
      };
      const short = await onTerminal('tts voices');
      expect(short.length).toBeLessThan(24);
      expect(short[1]).toMatch(/^thorsten /);
      expect(short.join(' ')).toMatch(/29 more speak other languages than German: tts voices --all/);
      expect((await onTerminal('tts voices --all')).join('\n')).toMatch(/^cori /m);
      const speakers = await onTerminal('tts speakers --all');
      expect(speakers.join('\n')).toMatch(/^2 +slt +woman +English \(US\) /m);
      expect(speakers.join(' ')).toContain('To hear one: tts -s slt --play "Hello."');
    },
  );

  it.runIf(hasSherpa())('asks for a licence that is not free, and shows the card', async () => {
    const { run, succeed } = await withHub({ class: 'non-commercial', licence: 'CC BY-NC' });
    const refused = await run('voices install tina');
    expectFailureWithCard(refused, 'License: Public domain');
    expect(refused.stderr).toMatch(/^tts: tina is not free for everybody .*: CC BY-NC\n/);
    const install = await succeed('voices install tina --accept-licence');
    expect(install.stderr).toContain('License: Public domain');
  });

  it('refuses wrong words, and says what a dry run would do', async () => {
    const box = new Sandbox();
    expectFailure(await box.run('voices instal cori'), 2, /it knows install, remove, verify;/);
    expectFailure(await box.run('voices install crori'), 2, /did you mean cori\?/);
    expectFailure(await box.run('voices install'), 2, /which voice\?/);
    expectFailure(await box.run('voices remove cori'), 2, /the voice cori is not installed/);
    const dry = await box.run('voices install cori --dry-run --json');
    expect(JSON.parse(dry.stdout.toString()).voices[0]).toMatchObject({
      name: 'cori',
      folder: join(data(box), 'voices', 'cori'),
    });
    expect(existsSync(data(box))).toBe(false);
  });

  it('uses no folder that others may write', async () => {
    const box = new Sandbox();
    box.file('shared/voices/x', '');
    chmodSync(box.path('shared'), 0o777);
    const env = { TTS_DATA_DIR: box.path('shared') };
    expectFailure(await box.run('voices install cori', { env }), 2, /others may write to it/);
  });
});

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
    looksBeside: false,
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
