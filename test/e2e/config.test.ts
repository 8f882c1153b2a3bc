import { chmodSync, chownSync, lchownSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { expectFailure, KEY, named, type RunOptions, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

describe('tts config', () => {
  it('tells of every setting its value and who said it', async () => {
    const box = new Sandbox();
    const project = box.file('.ttsrc', 'speaker: 181\nmaxChars: 500\n');
    const user = writeUserConfig(box, 'maxChars: 600\nretries: 1\n', { name: 'config.yaml' });
    const run = await box.run('config --json --timeout 9', { env: { TTS_CONCURRENCY: '2' } });
    const { settings, files } = JSON.parse(run.stdout.toString());
    expect(settings.speaker).toEqual({
      value: 181,
      from: { place: 'project', name: `speaker in ${project}` },
    });
    expect(settings.maxChars.value).toBe(500);
    expect(settings.retries.from.name).toBe(`retries in ${user}`);
    expect(settings.concurrency).toEqual({
      value: 2,
      from: { place: 'environment', name: 'TTS_CONCURRENCY' },
    });
    expect(settings.timeout).toEqual({ value: 9, from: { place: 'option', name: '--timeout' } });
    expect(settings.baseUrl).toEqual({ value: null, from: null });
    expect(files.read).toEqual([project, user]);
    expect(files.lookedFor.join()).toContain('tts.config.json');
  });

  it('shows pairs, and takes the option that was typed for its origin', async () => {
    const args = ['config', '--pauses', 'heading=1,scene=2', '--voices', 'Alice=2,*=4', '--cache'];
    const { stdout } = await new Sandbox().run(args);
    expect(stdout.toString()).toMatch(/^pauses +scene=2, heading=1, from --pauses$/m);
    expect(stdout.toString()).toMatch(/^voices +Alice=2, \*=4, from --voices$/m);
    expect(stdout.toString()).toMatch(/^cache +true, from --cache$/m);
    const { settings } = JSON.parse((await new Sandbox().run([...args, '--json'])).stdout.toString());
    expect(settings.pauses.value).toEqual({ heading: 1, scene: 2 });
    expect(settings.voices.value).toEqual({ Alice: 2, '*': 4 });
  });

  it('shows that there is a key, and neither the key nor the password of a proxy', async () => {
    const env = {
      TTS_API_KEY: KEY,
      TTS_BASE_URL: `https://tts.example.com/${KEY}`,
      HTTPS_PROXY: 'http://me:hidden-word@proxy.example.com:8080',
      TTS_ENGINE_KEY: 'abc12',
    };
    for (const line of ['config', 'config --json', 'config -v']) {
      const run = await new Sandbox().run(line, { env });
      expect(run.status).toBe(0);
      expect(`${run.stdout}${run.stderr}`).not.toMatch(new RegExp(`${KEY}|hidden-word|abc12`));
    }
    const { stdout } = await new Sandbox().run('config', { env });
    expect(stdout.toString()).toMatch(/^apiKey +set, from TTS_API_KEY$/m);
    expect(stdout.toString()).toMatch(/^engineKey +set, from TTS_ENGINE_KEY$/m);
    expect(stdout.toString()).toMatch(/^baseUrl +https:\/\/tts\.example\.com\/\*\*\*/m);
    expect(stdout.toString()).toMatch(/^proxy +http:\/\/me@proxy\.example\.com:8080\/, from HTTPS_PROXY$/m);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'reads nothing of other users in a folder that everybody may write',
    async () => {
      const box = new Sandbox();
      const shared = box.path('shared');
      mkdirSync(join(shared, 'mine'), { recursive: true });
      const file = box.file('shared/.ttsrc', 'speaker: 181\n');
      const speaker = async () => {
        const run = await box.shell('cd shared/mine && tts config --json');
        return JSON.parse(run.stdout.toString()).settings.speaker.value;
      };
      chownSync(file, 1, 1);
      expect(await speaker()).toBe(181);
      chmodSync(shared, 0o1777);
      expect(await speaker()).toBe(null);
      chownSync(file, 0, 0);
      expect(await speaker()).toBe(181);
      renameSync(file, box.path('shared/elsewhere'));
      symlinkSync('elsewhere', file);
      expect(await speaker()).toBe(181);
      lchownSync(file, 1, 1);
      expect(await speaker()).toBe(null);
    },
  );

  it('says which files of other names are there, and why they are not read', async () => {
    const box = new Sandbox();
    for (const name of ['tts.config.js', '.ttsrc.mjs', '.ttsrc.toml', '.config/ttsrc.ts', 'tts.config.yaml'])
      box.file(name, 'throw new Error("code was run")\n');
    box.file('package.yaml', 'name: x\ntts:\n  speaker: 3\n');
    box.file('.ttsrc', 'speaker: 1\n');
    box.file('.ttsrc.json', '{}');
    const { status, stdout } = await box.run('config');
    expect(status).toBe(0);
    const lines = stdout.toString().match(/(?<=^not read {4})\S.*/gm) ?? [];
    const code = 'a config is data, and no code is run: use JSON or YAML';
    expect(lines.map((line) => line.replace(`${box.folder}/`, ''))).toEqual([
      '.ttsrc.json (another one comes first)',
      `.ttsrc.mjs (${code})`,
      '.ttsrc.toml (use JSON or YAML)',
      `tts.config.js (${code})`,
      'tts.config.yaml (call it .ttsrc.yaml, or tts.config.json with JSON in it)',
      'package.yaml (its key tts is read in package.json only)',
      `.config/ttsrc.ts (${code})`,
    ]);
    const { files } = JSON.parse((await box.run('config --json')).stdout.toString());
    expect(files.notRead).toContainEqual({ path: box.path('tts.config.js'), why: code });
  });
});

const wav = plainWav(sound(200));

/** The speaker number that the service is asked for. */
async function speakerOf(box: Sandbox, args: readonly string[] = [], options: RunOptions = {}) {
  const server = await serveBytes(complete(wav));
  const { TTS_SPEAKER: _, ...env } = named(server.url);
  const run = await box.run(['hi', ...args], { ...options, env: { ...env, ...options.env } });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return (server.requests[0]?.json as { speaker_no: number } | undefined)?.speaker_no;
}

describe('precedence', () => {
  it('is option, environment, project, user', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { speaker: 4 });
    expect(await speakerOf(box)).toBe(4);
    box.file('.ttsrc.json', '{"speaker":3}');
    expect(await speakerOf(box)).toBe(3);
    expect(await speakerOf(box, [], { env: { TTS_SPEAKER: '2' } })).toBe(2);
    expect(await speakerOf(box, ['-s', '1'], { env: { TTS_SPEAKER: '2' } })).toBe(1);
    expect(await speakerOf(box, [], { env: { TTS_SPEAKER: '' } })).toBe(3);
  });

  it('refuses a bad value where it was said, even if it is of the weakest place', async () => {
    const box = new Sandbox();
    const path = writeUserConfig(box, { timeout: 'long' });
    const run = await box.run('hi', { env: named('http://127.0.0.1:1') });
    expectFailure(run, 2, /timeout/);
    expect(run.stderr).toContain(path);
    expect(run.stderr).toContain('"long"');
    const inEnvironment = await new Sandbox().run('hi', {
      env: named('http://127.0.0.1:1', { TTS_SAMPLE_RATE: '1' }),
    });
    expectFailure(inEnvironment, 2, /TTS_SAMPLE_RATE must be 8000 or more, and is 1\n/);
  });
});

describe('a config file', () => {
  it.each([
    ['package.json', '{"name":"x","tts":{"speaker":9}}'],
    ['.ttsrc', 'speaker: 9\n'],
    ['.ttsrc.json', '{"speaker":9}'],
    ['.ttsrc.yml', '# a comment\nspeaker: 9\n'],
    ['.config/ttsrc', '{"speaker":9}'],
    ['.config/ttsrc.yaml', 'speaker: 9\n'],
    ['tts.config.json', '{"speaker":9}'],
  ])('is found as %s, in the working folder and above', async (name, content) => {
    const box = new Sandbox();
    box.file(name, content);
    box.file('deep/er/still/x');
    expect(await speakerOf(box)).toBe(9);
    expect(await speakerOf(box, [], { cwd: 'deep/er/still' })).toBe(9);
  });

  it('may begin with a byte order mark, in UTF-16 too, and what is no text is an error with its offset', async () => {
    const { box, run, server } = await machineWith(complete(wav));
    for (const [name, encoding] of [
      ['.ttsrc', 'utf8'],
      ['.ttsrc', 'utf16le'],
    ] as const) {
      box.file(name, Buffer.from('\ufeffinstructions: olé\n', encoding));
      expect(await run('hi')).toMatchObject({ status: 0, stderr: '' });
      expect(server.requests.at(-1)?.json).toMatchObject({ config: { instructions: 'olé' } });
    }
    const path = box.file('.ttsrc', Buffer.from('{"instructions":"ol\xe9"}', 'latin1'));
    const refused = await run('hi');
    expectFailure(refused, 2, /^tts: .* is not text: byte 0xe9 at offset 19\nhint: convert it to UTF-8/);
    expect(refused.stderr).toContain(path);
    expect(server.requests).toHaveLength(2);
  });

  it('that is nearer wins', async () => {
    const box = new Sandbox();
    box.file('.ttsrc', 'speaker: 8');
    box.file('deep/.ttsrc', 'speaker: 9');
    expect(await speakerOf(box, [], { cwd: 'deep' })).toBe(9);
  });

  it('of another program or without a word to us is passed over', async () => {
    const box = new Sandbox();
    box.file('.ttsrc', 'speaker: 8');
    box.file('deep/package.json', Buffer.from('{"author":"Jos\xe9","bin":{"tts":"x"}}', 'latin1'));
    box.file('deep/.config/other', '');
    box.file('deep/er/.config', 'a file where a folder could be');
    expect(await speakerOf(box, [], { cwd: 'deep' })).toBe(8);
    expect(await speakerOf(box, [], { cwd: 'deep/er' })).toBe(8);
  });

  it('of the user is found, with XDG_CONFIG_HOME too', async () => {
    const box = new Sandbox();
    box.file('../elsewhere/tts/config.json', '{"speaker":5}');
    writeUserConfig(box, 'speaker: 6', { name: 'config.yaml' });
    expect(await speakerOf(box)).toBe(6);
    expect(await speakerOf(box, [], { env: { XDG_CONFIG_HOME: join(box.home, 'elsewhere') } })).toBe(5);
  });

  it('that is named is the only one', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { speaker: 4, sampleRate: 'wrong' });
    box.file('.ttsrc', 'speakr: 3');
    box.file('mine.yaml', 'speaker: 7');
    expect(await speakerOf(box, ['--config', 'mine.yaml'])).toBe(7);
    expect(await speakerOf(box, [], { env: { TTS_CONFIG: 'mine.yaml' } })).toBe(7);
    const missing = await box.run('hi --config missing.json', { env: named('http://127.0.0.1:1') });
    expectFailure(missing, 2, /missing\.json/);
  });

  it.runIf(userInfo().uid === 0)('that may not be read is an error with something to do', async () => {
    const box = new Sandbox();
    chmodSync(box.file('package.json', '{}'), 0o600);
    const run = await box.tts('hi -o /dev/null', { uid: 65_534 });
    expectFailure(run, 2, /cannot read .*package\.json\nhint: .*--config/);
    box.file('own.json', '{}');
    const named = await box.tts('hi -o /dev/null --config own.json -q', { uid: 65_534 });
    expect(named).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    [
      '.ttsrc.json',
      '{"speeker":3}',
      /unknown key "speeker" in .*\.ttsrc\.json\nhint: did you mean "speaker"/,
    ],
    ['.ttsrc', 'sample_rate: 8000', /unknown key "sample_rate" in .*\nhint: did you mean "sampleRate"/],
    ['package.json', '{"tts":{"BASEURL":"x"}}', /unknown key "BASEURL".*\nhint: did you mean "baseUrl"/],
    ['.ttsrc.json', '{"sampleRate":"8000"}', /sampleRate in .* must be a number, and is "8000"/],
    ['.ttsrc.json', '{"speaker":null}', /speaker in .* must be a speaker .* and is null/],
    ['.ttsrc.json', '{\n"speaker":3,}', /cannot read the settings in .*: no valid JSON in line 2\n/],
    ['.ttsrc.yaml', 'a: [', /cannot read the settings in .*\.ttsrc\.yaml: no valid YAML in line \d+\n/],
    ['.ttsrc', 'just words', /holds no settings/],
    ['.ttsrc.json', '{"$import":"other.json"}', /\$import in .* is not supported/],
    ['.ttsrc.json', '{"__proto__":{"speaker":1}}', /unknown key "__proto__"/],
    ['.ttsrc.yaml', 'speaker: !!js/function "function () {}"', /\.ttsrc\.yaml/],
  ])('that is wrong is an error with file, key and the right name: %s %s', async (name, content, message) => {
    const box = new Sandbox();
    box.file(name, content);
    expectFailure(await box.run('hi', { env: named('http://127.0.0.1:1') }), 2, message);
  });

  it('never runs code, wherever it lies', async () => {
    const box = new Sandbox();
    const spy = `require('node:fs').writeFileSync(${JSON.stringify(box.path('ran'))}, 'x'); module.exports = {speaker: 1};`;
    const places = ['.ttsrc', '.config/ttsrc', 'tts.config', '.config/config', '.config/tts.config'];
    for (const place of places)
      for (const ending of ['.js', '.cjs', '.ts', '.mjs'])
        box.file(
          place + ending,
          ending === '.mjs' ? `import fs from 'node:fs'; fs.writeFileSync('ran', 'x')` : spy,
        );
    writeUserConfig(box, spy, { name: 'config.js' });
    box.file('.config/config.json', '{"cosmiconfig":{"searchPlaces":[".ttsrc.js"]}}');
    box.file('package.json', '{"cosmiconfig":{"searchPlaces":[".ttsrc.js"]}}');
    expect(await speakerOf(box, ['-s', '2'])).toBe(2);
    const asked = await box.run('hi --config .ttsrc.js', { env: named('http://127.0.0.1:1') });
    expectFailure(asked, 2, /\.ttsrc\.js/);
    expect(box.list()).not.toContain('ran');
  });
});

const NOT_KEPT = 'tts: warning: segments are not kept: there is no folder for the cache: HOME names none\n';
/** The system knows nobody with this number. */
const UNLISTED = 54_321;

it.each(['', '.'])(
  'With HOME=%s, which is no place, nothing is kept or read; a place can be named.',
  async (HOME) => {
    const { box, run } = await machineWith(complete(wav), { HOME, TTS_CACHE: '1' });
    box.file('.config/tts/config.json', '{"speaker": "nobody"}');
    expect(await run('hi -o out.wav')).toMatchObject({ status: 0, stderr: NOT_KEPT });
    expect(box.list()).toEqual(['.config', 'out.wav']);
    const cache = { env: { XDG_CACHE_HOME: box.path('cache') } };
    expect(await run('hi -o out.wav', cache)).toMatchObject({ status: 0, stderr: '' });
    const login = (env: Record<string, string>) =>
      box.run('login https://tts.example.com', { env: { HOME, ...env }, stdin: KEY });
    expectFailure(await login({}), 2, /your keys.*\nhint: .*XDG_CONFIG_HOME/);
    expect(await login({ XDG_CONFIG_HOME: box.path('config') })).toMatchObject({ status: 0 });
    expectFailure(await run('cache'), 2, /folder for the cache.*\nhint: .*TTS_CACHE_DIR/);
    const stopped = await run('stop', { env: { XDG_RUNTIME_DIR: '' } });
    expectFailure(stopped, 2, /no folder for runs: HOME names none\nhint: set HOME, or XDG_RUNTIME_DIR/);
    expect(box.list()).toEqual(['.config', 'cache', 'config', 'out.wav']);
  },
);

it.runIf(userInfo().uid === 0)('A user who is in no list and has no HOME can speak.', async () => {
  const box = new Sandbox();
  mkdirSync(box.path('mine'));
  chownSync(box.path('mine'), UNLISTED, UNLISTED);
  const run = await box.shell('unset HOME; tts hi -q -o out.wav', { cwd: 'mine', uid: UNLISTED });
  expect(run).toMatchObject({ status: 0, stderr: '' });
});
