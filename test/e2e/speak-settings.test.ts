import { chmodSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { type Ended, expectFailure, named, type RunOptions, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

/** The speaker number that the service is asked for. */
async function speakerOf(box: Sandbox, args: readonly string[] = [], options: RunOptions = {}) {
  const server = await serveBytes(complete(wav));
  const { TTS_SPEAKER: _, ...env } = named(server.url);
  const run = await box.run(['hi', ...args], { ...options, env: { ...env, ...options.env } });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return (server.requests[0]?.json as { speaker_no: number } | undefined)?.speaker_no;
}

async function refusedConfig(content: string, name: string): Promise<Ended> {
  const box = new Sandbox();
  box.file(name, content);
  return box.run(['hi'], { env: named('http://127.0.0.1:1') });
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

  it('is decided for each setting by itself', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { speaker: 4, sampleRate: 8000 });
    box.file('.ttsrc.json', '{"instructions":"calm"}');
    const server = await serveBytes(complete(wav));
    const { TTS_SPEAKER: _, ...env } = named(server.url);
    expect(await box.run(['hi', '--stream'], { env })).toMatchObject({ status: 0 });
    expect(server.requests[0]?.json).toEqual({
      text: 'hi',
      speaker_no: 4,
      config: { use_streaming_response: true, sample_rate: 8000, instructions: 'calm' },
    });
  });

  it('refuses a bad value where it was said, even if it is of the weakest place', async () => {
    const box = new Sandbox();
    const path = writeUserConfig(box, { timeout: 'long' });
    const run = await box.run(['hi'], { env: named('http://127.0.0.1:1') });
    expectFailure(run, 2, /timeout/);
    expect(run.stderr).toContain(path);
    expect(run.stderr).toContain('"long"');
    const inEnvironment = await new Sandbox().tts(['hi'], {
      env: named('http://127.0.0.1:1', { TTS_SAMPLE_RATE: '1' }),
    });
    expectFailure(inEnvironment, 2, /TTS_SAMPLE_RATE must be 8000 or more, and is 1\n/);
  });
});

describe('a config file', () => {
  it.each([
    ['package.json', '{"name":"x","tts":{"speaker":9}}'],
    ['.ttsrc', 'speaker: 9\n'],
    ['.ttsrc', '{"speaker":9}'],
    ['.ttsrc.json', '{"speaker":9}'],
    ['.ttsrc.yaml', '# a comment\nspeaker: 9\n'],
    ['.ttsrc.yml', 'speaker: 9\n'],
    ['.config/ttsrc', 'speaker: 9\n'],
    ['.config/ttsrc.json', '{"speaker":9}'],
    ['.config/ttsrc.yaml', 'speaker: 9\n'],
    ['.config/ttsrc.yml', 'speaker: 9\n'],
    ['tts.config.json', '{"speaker":9}'],
  ])('is found as %s, in the working folder and above', async (name, content) => {
    const box = new Sandbox();
    box.file(name, content);
    box.file('deep/er/still/x');
    expect(await speakerOf(box)).toBe(9);
    expect(await speakerOf(box, [], { cwd: 'deep/er/still' })).toBe(9);
  });

  it.each([
    ['.ttsrc.json', '{"instructions":"olé"}'],
    ['.ttsrc', 'instructions: olé\n'],
    ['package.json', '{"name":"x","tts":{"instructions":"olé"}}'],
  ])('may begin with a byte order mark, in UTF-16 too: %s', async (name, content) => {
    const marked = `\ufeff${content}`;
    const encodings: BufferEncoding[] = name === 'package.json' ? ['utf8'] : ['utf8', 'utf16le'];
    for (const encoding of encodings) {
      const box = new Sandbox();
      box.file(name, Buffer.from(marked, encoding));
      const server = await serveBytes(complete(wav));
      expect(await box.run(['hi'], { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
      expect(server.requests[0]?.json).toMatchObject({ config: { instructions: 'olé' } });
    }
  });

  it.each([
    ['.ttsrc.json', '{"instructions":"ol\xe9"}', 19],
    ['package.json', '{"tts":{"instructions":"ol\xe9"}}', 26],
  ])('that is not UTF-8 is an error with its name and the offset: %s', async (name, content, offset) => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const path = box.file(name, Buffer.from(content, 'latin1'));
    const run = await box.run(['hi'], { env: named(server.url) });
    expectFailure(run, 2, /^tts: .* is not text: byte 0xe9 at offset \d+\nhint: convert it to UTF-8/);
    expect(run.stderr).toContain(`${path} is not text: byte 0xe9 at offset ${offset}\n`);
    expect(server.requests).toHaveLength(0);
  });

  it('through a pipe is read once', async () => {
    const server = await serveBytes(complete(wav));
    const run = await new Sandbox().shell(`tts hi --config <(printf 'instructions: "\\xef\\xbf\\xbd"')`, {
      env: named(server.url),
    });
    expect(run.status).toBe(0);
    expect(server.requests[0]?.json).toMatchObject({ config: { instructions: '\ufffd' } });
  });

  it('that never ends is refused at once', async () => {
    expectFailure(await new Sandbox().tts(['hi', '--config', '/dev/zero']), 2, /\/dev\/zero is not text/);
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

  it.each(['config.json', 'config.yaml'])(
    'of the user is found as %s, with XDG_CONFIG_HOME too',
    async (name) => {
      const box = new Sandbox();
      box.file(`../elsewhere/tts/${name}`, name.endsWith('json') ? '{"speaker":5}' : 'speaker: 5');
      writeUserConfig(box, name.endsWith('json') ? '{"speaker":6}' : 'speaker: 6', { name });
      expect(await speakerOf(box)).toBe(6);
      expect(await speakerOf(box, [], { env: { XDG_CONFIG_HOME: join(box.home, 'elsewhere') } })).toBe(5);
    },
  );

  it('that is named is the only one', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { speaker: 4, sampleRate: 'wrong' });
    box.file('.ttsrc', 'speakr: 3');
    box.file('mine.yaml', 'speaker: 7');
    expect(await speakerOf(box, ['--config', 'mine.yaml'])).toBe(7);
    expect(await speakerOf(box, [], { env: { TTS_CONFIG: 'mine.yaml' } })).toBe(7);
    const missing = await box.run(['hi', '--config', 'missing.json'], { env: named('http://127.0.0.1:1') });
    expectFailure(missing, 2, /missing\.json/);
  });

  it.runIf(userInfo().uid === 0)('that may not be read is an error with something to do', async () => {
    const box = new Sandbox();
    chmodSync(box.file('package.json', '{}'), 0o600);
    const run = await box.tts(['hi', '-o', '/dev/null'], { uid: 65_534 });
    expectFailure(run, 2, /cannot read .*package\.json\nhint: .*--config/);
    box.file('own.json', '{}');
    const named = await box.tts(['hi', '-o', '/dev/null', '--config', 'own.json', '-q'], { uid: 65_534 });
    expect(named).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    [
      '.ttsrc.json',
      '{"speeker":3}',
      /unknown key "speeker" in .*\.ttsrc\.json\nhint: did you mean "speaker"/,
    ],
    [
      '.ttsrc',
      'sample_rate: 8000',
      /unknown key "sample_rate" in .*\.ttsrc\nhint: did you mean "sampleRate"/,
    ],
    ['package.json', '{"tts":{"BASEURL":"x"}}', /unknown key "BASEURL".*\nhint: did you mean "baseUrl"/],
    ['.ttsrc.json', '{"qqqqqqqqqqqq":3}', /unknown key "qqqqqqqqqqqq".*\nhint: .*speaker/],
    ['.ttsrc.json', '{"sampleRate":"8000"}', /sampleRate in .* must be a number, and is "8000"/],
    ['.ttsrc.json', '{"speaker":null}', /speaker in .* must be a speaker .* and is null/],
    [
      '.ttsrc.json',
      '{\n"speaker":3,}',
      /cannot read the settings in .*\.ttsrc\.json: no valid JSON in line 2\n/,
    ],
    ['.ttsrc.yaml', 'a: [', /cannot read the settings in .*\.ttsrc\.yaml: no valid YAML in line \d+\n/],
    ['.ttsrc.json', '[1]', /holds no settings/],
    ['.ttsrc', 'just words', /holds no settings/],
    ['.ttsrc.json', '{"$import":"other.json"}', /\$import in .* is not supported/],
    ['.ttsrc.json', '{"__proto__":{"speaker":1}}', /unknown key "__proto__"/],
    ['.ttsrc.json', '{"constructor":1}', /unknown key "constructor"/],
  ])('that is wrong is an error with file, key and the right name: %s %s', async (name, content, message) => {
    expectFailure(await refusedConfig(content, name), 2, message);
  });

  it('that is wrong is an error with its line where the parser colours what it says', async () => {
    const box = new Sandbox();
    box.file('.ttsrc.json', '{\n"speaker":3,}');
    const run = await box.shell('tts hi -o out.wav', { env: { FORCE_COLOR: '1' } });
    expectFailure(run, 2, /no valid JSON in line 2\n/);
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
    const asked = await box.run(['hi', '--config', '.ttsrc.js'], { env: named('http://127.0.0.1:1') });
    expectFailure(asked, 2, /\.ttsrc\.js/);
    expect(box.list()).not.toContain('ran');
  });

  it.each(['!!js/function "function () {}"', '!!js/undefined ""', '!<tag:yaml.org,2002:js/regexp> /x/'])(
    'has no types but those of data: %s',
    async (value) => {
      expectFailure(await refusedConfig(`speaker: ${value}`, '.ttsrc.yaml'), 2, /\.ttsrc\.yaml/);
    },
  );

  /** Each of ten lists holds the one before ten times. */
  const endless = `[&0 x, ${Array.from({ length: 10 }, (_, n) => `&${n + 1} [${Array(10).fill(`*${n}`)}]`)}]`;

  it.each([
    [
      'speakers: { anna: { no: 1, kind: ? } }',
      /anna\.kind of speakers in .* must be a text that is not blank, and is a list/,
    ],
  ])('is refused at once though it would be endless when written out: %s', async (content, message) => {
    expectFailure(await refusedConfig(content.replace('?', endless), '.ttsrc.yaml'), 2, message);
  });

  it('does not matter to help and version, however wrong', async () => {
    const box = new Sandbox();
    box.file('.ttsrc', 'speeker: 3');
    expect((await box.run(['--version'])).status).toBe(0);
    expect((await box.run(['--help'])).status).toBe(0);
  });
});

describe('a working folder', () => {
  it('that was removed is an error of the user, not of the tool', async () => {
    const run = await new Sandbox().shell('mkdir gone && cd gone && rmdir ../gone && tts hi -o /dev/null');
    expect(run.stderr).not.toContain('defect');
    expect(run.status).not.toBe(1);
  });
});
