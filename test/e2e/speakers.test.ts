import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { answer, complete, head, inTurn } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));
const speakers = {
  anna: 181,
  deep: { no: 1190, kind: 'neo.one', language: 'hi', sampleRate: 16_000 },
  warm: { no: 12, kind: 'Mermish', instructions: 'warmly' },
};

/** A sandbox with a config file in its folder. */
function configured(config: object = { speakers }): Sandbox {
  const box = new Sandbox();
  box.file('.ttsrc.json', JSON.stringify(config));
  return box;
}

const list = (told: object) =>
  answer(200, JSON.stringify({ speakers: told }), { 'Content-Type': 'application/json' });

describe('a speaker by name', () => {
  it('is sent as its number with its own defaults, or refused before anything is sent', async () => {
    const server = await serveBytes(complete(wav));
    const run = (args: string) => configured().run(`hi -o out.wav ${args}`, { env: named(server.url) });
    expect(await run('-s deep')).toMatchObject({ status: 0, stderr: '' });
    const [{ json } = {}] = server.requests;
    expect(json).toEqual({ text: 'hi', speaker_no: 1190, config: { sample_rate: 16_000 } });
    for (const [args, message] of [
      ['-s ann', /no speaker is called "ann"\nhint: did you mean anna\? there are: anna, deep, warm/],
      ['-s deep -i slowly', /--instructions: speaker 1190 \(deep\) is a neo\.one speaker/],
      ['-s 12 -r 16000', /--sample-rate: speaker 12 is a Mermish speaker/],
    ] as const)
      expectFailure(await run(args), 2, message);
    expect(server.requests).toHaveLength(1);
  });

  it('is refused in a config file with the file, the name and the nearest right key', async () => {
    const run = await configured({ speakers: { anna: { no: 1, kin: 'x' } } }).run('hi');
    expectFailure(run, 2, /anna\.kin of speakers in .*\.ttsrc\.json is not known: did you mean "kind"\?\n/);
  });

  it('that the service lists gets its number into the hint, and nothing is paid', async () => {
    const server = await serveBytes(list([{ speaker_no: 3, name: 'Ada', language: 'en-GB' }]));
    const run = (args: string) => new Sandbox().run(`hi -o out.wav ${args}`, { env: named(server.url) });
    for (const word of ['en_GB', 'English', 'ada']) {
      const message = new RegExp(`called "${word}"\nhint: 127\\.0\\.0\\.1:\\d+ lists Ada as 3: -s 3, `);
      expectFailure(await run(`-s ${word}`), 2, message);
    }
    expectFailure(await run('-s en_heart'), 2, /called "en_heart"\nhint: give its number, /);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    const before = server.requests.length;
    await run('-s ada --dry-run');
    expect(server.requests).toHaveLength(before);
  });
});

describe('tts speakers', () => {
  it('lists the configured ones and those of the built-in voice', async () => {
    const run = await configured().run('speakers');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const lines = run.stdout.toString().trim().split('\n');
    expect(lines[0]).toMatch(/^NO +NAME +KIND +VOICE +LANGUAGE +HZ +FROM$/);
    expect(lines).toContainEqual(expect.stringMatching(/^1190 +deep +neo\.one +- +Hindi +16000 +config$/));
    expect(lines).toContainEqual(expect.stringMatching(/^1 +rms +- +man +English \(US\) +22050 +built-in$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^11 +rms-styled +- +man +English \(US\) +22050 +built-in, takes -i$/),
    );
  });

  it.skipIf(!isThere('script'))('fits a terminal of 80 columns, as tts voices and tts alone do', async () => {
    const box = new Sandbox();
    mkdirSync(box.path('bin'));
    const program = fakeEspeak(box.path('bin'), 'exit 1');
    const long = 'Chinese_(Mandarin,_latin_as_English,_and_more)';
    writeFileSync(
      program,
      readFileSync(program, 'utf8').replace('First', long).replace('xx ', 'vi-vn-x-central '),
    );
    for (const command of ['tts speakers --all', 'tts voices', 'tts']) {
      const typed = `stty cols 80; PATH=${box.path('bin')}:$PATH ${command}`;
      const { stdout } = await box.shell(`script -qc '${typed}' typescript < /dev/null`);
      const lines = stdout.toString().split(/\r?\n/);
      expect(lines.length).toBeGreaterThan(3);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      if (command === 'tts speakers --all')
        expect(lines.join('\n')).toMatch(/^NO .*\n1 +rms (.*\n)+101 +Chinese.* espeak-ng\n +\S+.*$/m);
    }
  });

  it('tells the names alone, a line each or in JSON, and asks no service for them', async () => {
    const box = configured();
    const lines = await box.run('speakers --names');
    const names = lines.stdout.toString().trimEnd().split('\n');
    expect(names).toEqual(expect.arrayContaining(['anna', 'deep', 'warm', 'rms', 'slt']));
    const { stdout } = await box.run('speakers --names --json');
    expect(JSON.parse(stdout.toString())).toEqual({ names });
    const server = await serveBytes(list([]));
    const own = await box.run('speakers --names', { env: named(server.url) });
    expect(own.stdout.toString()).toBe('anna\ndeep\nwarm\n');
    expect(server.connections.made).toBe(0);
  });

  it('asks the service that is named, with the key, and prints what it tells without control characters', async () => {
    const told = [{ speaker_no: 7, name: 'Z\u001b[31moe', kind: 'neo.one' }, { name: 'no number' }];
    const server = await serveBytes(list(told));
    const run = await new Sandbox().run('speakers --json', { env: named(`${server.url}/api`) });
    expect(JSON.parse(run.stdout.toString())).toEqual({
      speakers: [{ no: 7, name: 'Z [31moe', kind: 'neo.one', from: 'service' }],
    });
    expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/api/speakers' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it('is no error where the service has no list, and says where it fails what is configured', async () => {
    for (const [script, status, said] of [
      [answer(404, '{"detail":"Not Found"}'), 0, /does not list its speakers/],
      [answer(200, '<html>hi</html>'), 0, /does not list its speakers/],
      [answer(401, '{"message":"no"}'), 3, /key/],
      [answer(500), 7, /500/],
    ] as const) {
      const server = await serveBytes(script);
      const run = await configured().run('speakers', { env: named(server.url) });
      expect([run.status, run.stderr]).toEqual([status, expect.stringMatching(said)]);
      expect(run.stdout.toString()).toMatch(/181 +anna/);
    }
  });

  it('is asked again where it fails for the moment', async () => {
    const pause = answer(503, 'in a moment', { 'Retry-After': 0 });
    const server = await serveBytes(inTurn(pause, list([{ speaker_no: 7, name: 'Zoe' }])));
    const env = named(server.url, { TTS_RETRIES: '1' });
    const run = await new Sandbox().run('speakers', { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout.toString()).toMatch(/7 +Zoe/);
  });

  it('does not take a list that breaks off for none', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 }));
      await wire.write('{"speakers":[{"speaker_no":1}');
      wire.end();
    });
    const run = await new Sandbox().run('speakers', { env: named(server.url) });
    expectFailure(run, 7, /list of speakers of 127\.0\.0\.1:\d+ broke off/);
  });

  it('takes no list without end, and asks for it once', async () => {
    const server = await serveBytes(answer(200, `{"speakers":[${' '.repeat(4 * 2 ** 20)}]}`));
    const env = named(server.url, { TTS_RETRIES: '2' });
    const run = await new Sandbox().run('speakers', { env });
    expectFailure(run, 7, /the list of speakers of 127\.0\.0\.1:\d+ has 4 MiB or more\n/);
    expect(server.requests).toHaveLength(1);
  });
});
