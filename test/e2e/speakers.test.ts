import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { answer, complete, head, inTurn } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

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

/** A service with this many speakers, and how often it was asked for sound. */
async function crowd(count: number) {
  const told = Array.from({ length: count }, (_, index) => ({ speaker_no: index + 1 }));
  const server = await serveBytes((wire, request, number) =>
    (request.method === 'GET' ? list(told) : complete(wav))(wire, request, number),
  );
  return { server, posts: () => server.requests.filter(({ method }) => method === 'POST').length };
}

describe('a speaker by name', () => {
  it('is sent as its number, with its own defaults', async () => {
    const server = await serveBytes(complete(wav));
    const run = await configured().run(['hi', '-s', 'deep', '-o', 'out.wav'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests[0]?.json).toEqual({
      text: 'hi',
      speaker_no: 1190,
      config: { sample_rate: 16_000 },
    });
  });

  it.each([
    [['-s', 'ann'], /no speaker is called "ann"\nhint: did you mean anna\? There are: anna, deep, warm/],
    [['-s', 'deep', '-i', 'slowly'], /--instructions: speaker 1190 \(deep\) is a neo\.one speaker/],
    [['-s', '12', '-r', '16000'], /--sample-rate: speaker 12 is a Mermish speaker/],
  ])('is refused before anything is sent: %j', async (args, message) => {
    const server = await serveBytes(complete(wav));
    const run = await configured().run(['hi', ...args, '-o', 'out.wav'], { env: named(server.url) });
    expectFailure(run, 2, message);
    expect(server.connections.made).toBe(0);
  });

  it('is refused in a config file with the file, the name and the nearest right key', async () => {
    const run = await configured({ speakers: { anna: { no: 1, kin: 'x' } } }).run(['hi']);
    expectFailure(
      run,
      2,
      /speakers in .*\.ttsrc\.json: "anna": unknown key "kin"\nhint: did you mean "kind"\?/,
    );
  });

  it.each(['en-GB', 'en_GB', 'English', 'ada'])(
    'that the service lists gets its number into the hint: %s',
    async (word) => {
      const server = await serveBytes(list([{ speaker_no: 3, name: 'Ada', language: 'en-GB' }]));
      const env = named(server.url);
      const run = await new Sandbox().run(['hi', '-s', word, '-o', 'out.wav'], { env });
      expectFailure(run, 2, /called ".*"\nhint: 127\.0\.0\.1:\d+ lists Ada as 3: -s 3, /);
      const other = await new Sandbox().run(['hi', '-s', 'en_heart', '-o', 'out.wav'], { env });
      expectFailure(other, 2, /called "en_heart"\nhint: give its number, /);
    },
  );

  it('may be one of the built-in voices', async () => {
    const box = new Sandbox();
    expect(await box.run(['hi', '-q', '-s', 'slt', '-o', 'name.wav'])).toMatchObject({ status: 0 });
    expect(await box.run(['hi', '-q', '-s', '2', '-o', 'number.wav'])).toMatchObject({ status: 0 });
    expect(box.read('name.wav').equals(box.read('number.wav'))).toBe(true);
    expectFailure(await box.run(['hi', '-s', 'slr']), 2, /did you mean slt\?/);
  });
});

describe('tts speakers', () => {
  it('lists the configured ones and those of the built-in voice', async () => {
    const run = await configured().run(['speakers']);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const lines = run.stdout.toString().trim().split('\n');
    expect(lines[0]).toMatch(/^NO +NAME +KIND +LANGUAGE +HZ +FROM$/);
    expect(lines).toContainEqual(expect.stringMatching(/^1190 +deep +neo\.one +hi +16000 +config$/));
    expect(lines).toContainEqual(expect.stringMatching(/^1 +rms +- +en-US +22050 +built-in$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^11 +rms-styled +- +en-US +22050 +built-in, takes -i$/),
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
    for (const command of ['tts speakers', 'tts voices', 'tts']) {
      const typed = `stty cols 80; PATH=${box.path('bin')}:$PATH ${command}`;
      const { stdout } = await box.shell(`script -qc '${typed}' typescript < /dev/null`);
      const lines = stdout.toString().split(/\r?\n/);
      expect(lines.length).toBeGreaterThan(3);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      if (command === 'tts speakers')
        expect(lines.join('\n')).toMatch(/^101 +Chinese \(Mandarin, .* espeak-ng\n +\S+.*$/m);
    }
  });

  it('tells the names alone, a line each or in JSON, and asks no service for them', async () => {
    const box = configured();
    const lines = await box.run(['speakers', '--names']);
    const names = lines.stdout.toString().trimEnd().split('\n');
    expect(names).toEqual(expect.arrayContaining(['anna', 'deep', 'warm', 'rms', 'slt']));
    const { stdout } = await box.run(['speakers', '--names', '--json']);
    expect(JSON.parse(stdout.toString())).toEqual({ names });
    const server = await serveBytes(list([]));
    const own = await box.run(['speakers', '--names'], { env: named(server.url) });
    expect(own.stdout.toString()).toBe('anna\ndeep\nwarm\n');
    expect(server.connections.made).toBe(0);
  });

  it('asks the service that is named, with the key, and prints what it tells without control characters', async () => {
    const told = [{ speaker_no: 7, name: 'Z\u001b[31moe', kind: 'neo.one' }, { name: 'no number' }];
    const server = await serveBytes(list(told));
    const run = await new Sandbox().run(['speakers', '--json'], { env: named(`${server.url}/api`) });
    expect(JSON.parse(run.stdout.toString())).toEqual({
      speakers: [{ no: 7, name: 'Z [31moe', kind: 'neo.one', from: 'service' }],
    });
    expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/api/speakers' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it.each([[[]], [['--json']]])('does not show a key that the service puts into a name: %j', async (args) => {
    const server = await serveBytes(list([{ speaker_no: 7, name: `for ${KEY}` }]));
    const run = await new Sandbox().run(['speakers', ...args], { env: named(server.url) });
    expect(run.stdout.toString()).toContain('for ***');
    expect(run.stdout.toString()).not.toContain(KEY);
  });

  it.each([
    ['404', answer(404, '{"detail":"Not Found"}')],
    ['405', answer(405)],
    ['a page', answer(200, '<html>hi</html>')],
    ['other JSON', answer(200, '{"voices":[]}')],
  ])('takes %s for a service that has no list, which is no error', async (_, script) => {
    const server = await serveBytes(script);
    const run = await configured().run(['speakers'], { env: named(server.url) });
    expect(run.status).toBe(0);
    expect(run.stderr).toMatch(/does not list its speakers/);
    expect(run.stdout.toString()).toMatch(/181 +anna/);
  });

  it.each([
    ['a key that is not accepted', answer(401, '{"message":"no"}'), 3],
    ['a service that failed', answer(500), 7],
  ])('shows what is configured, and then %s', async (_, script, status) => {
    const server = await serveBytes(script);
    const run = await configured().run(['speakers'], { env: named(server.url) });
    expect(run.status).toBe(status);
    expect(run.stdout.toString()).toMatch(/181 +anna/);
  });

  it('is asked again where it fails for the moment', async () => {
    const pause = answer(503, 'in a moment', { 'Retry-After': 0 });
    const server = await serveBytes(inTurn(pause, list([{ speaker_no: 7, name: 'Zoe' }])));
    const env = named(server.url, { TTS_RETRIES: '1' });
    const run = await new Sandbox().run(['speakers'], { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout.toString()).toMatch(/7 +Zoe/);
  });

  it('does not wait for the words of a service that has no list', async () => {
    const server = await serveBytes((wire) => wire.write(head(404, { 'Content-Length': 100 })));
    const run = new Sandbox().run(['speakers'], { env: named(server.url, { TTS_TIMEOUT: '60' }) });
    expect(await run).toMatchObject({ status: 0 });
  });

  it('does not take a list that breaks off for none', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 }));
      await wire.write('{"speakers":[{"speaker_no":1}');
      wire.end();
    });
    const run = await new Sandbox().run(['speakers'], { env: named(server.url) });
    expectFailure(run, 7, /list of speakers of 127\.0\.0\.1:\d+ broke off/);
  });

  it('takes no list without end, and asks for it once', async () => {
    const server = await serveBytes(answer(200, `{"speakers":[${' '.repeat(4 * 2 ** 20)}]}`));
    const env = named(server.url, { TTS_RETRIES: '2' });
    const run = await new Sandbox().run(['speakers'], { env });
    expectFailure(run, 7, /the list of speakers of 127\.0\.0\.1:\d+ has 4 MiB or more\n/);
    expect(server.requests).toHaveLength(1);
  });

  it('reads a list that is packed', async () => {
    const list = gzipSync('{"speakers":[{"speaker_no":7,"name":"Nell"}]}');
    const server = await serveBytes(answer(200, list, { 'Content-Encoding': 'gzip' }));
    const run = await new Sandbox().run(['speakers'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0 });
    expect(run.stdout.toString()).toMatch(/7 .*Nell/);
  });

  it('speaks a sample by each in turn, as one WAV, each speaker once', async () => {
    const server = await serveBytes((wire, request, number) =>
      request.method === 'GET'
        ? list([
            { speaker_no: 181, name: 'same' },
            { speaker_no: 5, name: 'five' },
          ])(wire, request, number)
        : complete(wav)(wire, request, number),
    );
    const box = configured();
    const run = await box.run(['speakers', '--sample', 'Hello you.', '-o', 'out.wav'], {
      env: named(server.url, { TTS_CONCURRENCY: '1' }),
    });
    expect(run.status).toBe(0);
    expect(run.stderr).toMatch(/speaker 181 \(anna\)\n.*1190 \(deep\)\n.*12 \(warm\)\n.*5 \(five\)\n$/);
    const bodies = server.requests.filter(({ method }) => method === 'POST').map(({ json }) => json);
    expect(bodies).toEqual([
      { text: 'Hello you.', speaker_no: 181 },
      { text: 'Hello you.', speaker_no: 1190 },
      { text: 'Hello you.', speaker_no: 12, config: { instructions: 'warmly' } },
      { text: 'Hello you.', speaker_no: 5 },
    ]);
    expect(box.read('out.wav').length).toBeGreaterThan(4 * (wav.length - 44));
    // One for the list, one for all that is spoken.
    expect(server.connections.made).toBe(2);
    const text = 'One [pause:1s]two. [voice:anna]Three.';
    const marked = await box.run(['speakers', '--sample', text, '--marks', '-o', 'marked.wav'], {
      env: named(server.url, { TTS_CONCURRENCY: '1' }),
    });
    expect(marked.stderr).toBe(run.stderr);
    const spoken = server.requests.filter(({ method }) => method === 'POST').map(({ json }) => json);
    expect(spoken.slice(7, 10)).toEqual([
      { text: 'One', speaker_no: 1190 },
      { text: 'two.', speaker_no: 1190 },
      { text: 'Three.', speaker_no: 181 },
    ]);
  });

  it('speaks at its own speed in a sample', async () => {
    const server = await serveBytes(complete(wav));
    const sample = (speed: number) => configured({ speakers: { anna: { no: 181, speed } } });
    const lengths = [];
    for (const speed of [1, 2]) {
      const box = sample(speed);
      const run = await box.run(['speakers', '--sample', 'Hi', '-o', 'out.wav'], { env: named(server.url) });
      expect(run.status).toBe(0);
      lengths.push(box.read('out.wav').length);
    }
    expect((lengths[1] ?? 0) / (lengths[0] ?? 1)).toBeLessThan(0.7);
  });

  it('pays for a sample once, and not for one that was spoken before', async () => {
    const { server, posts } = await crowd(3);
    const box = new Sandbox();
    const env = named(server.url, { TTS_CACHE: '1' });
    const sample = () => box.run(['speakers', '--sample', 'Hi', '-o', 'out.wav'], { env });
    await box.run(['Hi', '-s', '2', '-o', 'one.wav'], { env });
    expect(posts()).toBe(1);
    expect(await sample()).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/1 of 3 segments came/),
    });
    expect(posts()).toBe(3);
    const first = box.read('out.wav');
    expect(await sample()).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/no request was made: everything came from the cache/),
    });
    expect(posts()).toBe(3);
    expect(box.read('out.wav').equals(first)).toBe(true);
    expect(
      await box.run(['speakers', '--sample', 'Hi', '--no-cache', '-o', 'new.wav'], { env }),
    ).toMatchObject({
      status: 0,
    });
    expect(posts()).toBe(6);
  });

  /** A sample by one speaker, `anna`, of whom the service may tell more, as it does of another. */
  async function sampleByAnna(anna: object, told: object, more: object, ...args: string[]) {
    const server = await serveBytes((wire, request, number) =>
      (request.method === 'GET' ? list([told]) : complete(wav))(wire, request, number),
    );
    const run = await configured({ speakers: { anna }, ...more }).run(
      ['speakers', '--sample', 'Hi', '-o', 'out.wav', ...args],
      { env: named(server.url) },
    );
    const posts = server.requests.filter(({ method }) => method === 'POST').map(({ json }) => json);
    return { run, anna: posts[0] };
  }

  it('asks of a speaker whose kind nobody tells whatever is asked for', async () => {
    const { run, anna } = await sampleByAnna({ no: 181 }, { speaker_no: 181 }, {}, '-r', '16000');
    expect(run).toMatchObject({ status: 0 });
    expect(anna).toEqual({ text: 'Hi', speaker_no: 181, config: { sample_rate: 16_000 } });
  });

  it('knows the kind of a speaker from the service, and by the name that it has here', async () => {
    const told = { speaker_no: 181, name: 'other', kind: 'Mermish' };
    const { run, anna } = await sampleByAnna({ no: 181 }, told, {}, '-r', '16000');
    expectFailure(run, 2, /--sample-rate: speaker 181 \(anna\) is a Mermish speaker/);
    expect(anna).toBeUndefined();
  });

  it.each([
    ['goes before that of a config file', [], 'warmly'],
    ['gives way to an option', ['-i', 'coldly'], 'coldly'],
  ])('speaks a sample by each with its own instructions, which %s', async (_, args, instructions) => {
    const own = { no: 12, instructions: 'warmly' };
    const { anna } = await sampleByAnna(own, { speaker_no: 12 }, { instructions: 'calmly' }, ...args);
    expect(anna).toEqual({ text: 'Hi', speaker_no: 12, config: { instructions } });
  });

  it.each([
    ['as many as nobody minds', 20, [], 0],
    ['more, when nobody was there to agree', 21, [], 2],
    ['more, when somebody has agreed', 21, ['--yes'], 0],
  ])('speaks a sample by %s', async (_, count, args, status) => {
    const { server, posts } = await crowd(count);
    const run = await new Sandbox().run(['speakers', '--sample', 'Hi', '-o', 'out.wav', ...args], {
      env: named(server.url),
    });
    expect(posts()).toBe(status === 0 ? count : 0);
    if (status === 0) expect(run.status).toBe(0);
    else expectFailure(run, status, /take 21 requests to 127.* 2 characters each\nhint: with --yes/);
  });

  it.runIf(isThere('script')).each([
    ['y', 21, 0],
    ['n', 0, 2],
  ])('asks at a terminal before it speaks a sample by many: %s', async (answer, requests, status) => {
    const { server, posts } = await crowd(21);
    const line = `script -qec 'tts speakers --sample Hi -o out.wav; echo "status $?"' /dev/null`;
    const run = await new Sandbox().shell(line, { stdin: `${answer}\n`, env: named(server.url) });
    expect(run.stdout.toString()).toMatch(/Make 21 requests to .*\? \[y\/N\]/);
    expect(run.stdout.toString()).toContain(`status ${status}`);
    expect(posts()).toBe(requests);
  });

  it.each([
    ['--dry-run'],
    ['--callback-url', 'https://hook.example/x'],
    ['--subtitles', 'out.srt'],
    ['--show-text'],
    ['--speaker', '5'],
    ['--max-chars', '5'],
    ['--lexicon', 'names.txt'],
  ])('refuses %s, which it would not heed, before anything is sent', async (...args) => {
    const { server } = await crowd(1);
    const box = new Sandbox();
    const run = await box.run(['speakers', '--sample', 'Hi', '-o', 'out.wav', ...args], {
      env: named(server.url),
    });
    expectFailure(run, 2, new RegExp(`unknown option '${args[0]}'\nhint: .*tts speak speakers`));
    expect({ made: server.connections.made, files: box.list() }).toEqual({ made: 0, files: [] });
  });

  it('tells of a sample with --json what is told of a run', async () => {
    const { server } = await crowd(3);
    const run = await new Sandbox().run(['speakers', '--sample', 'Hi', '--json', '-o', 'out.wav'], {
      env: named(server.url),
    });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(run.stdout.toString())).toMatchObject({
      output: 'out.wav',
      characters: 6,
      segments: 3,
      requests: 3,
    });
  });

  /** A sample by three, of whom those get no sound that are told here. */
  async function sampleByThree(refusals: Record<number, Script>, ...args: string[]) {
    const server = await serveBytes((wire, request, number) => {
      const { speaker_no } = (request.json ?? {}) as { speaker_no?: number };
      const script = speaker_no === undefined ? answer(404) : (refusals[speaker_no] ?? complete(wav));
      return script(wire, request, number);
    });
    const box = configured({ speakers: { bob: 11, anna: 12, carl: 13 } });
    const run = await box.run(
      ['speakers', '--sample', 'Hi', '--paragraph-pause', '0', '-o', 'out.wav', ...args],
      { env: named(server.url) },
    );
    return { run, box };
  }

  it.each([
    ['in between', 12, 'anna'],
    ['at the beginning', 11, 'bob'],
    ['at the end', 13, 'carl'],
  ])('goes on without a speaker that the service refuses, and ends with 9: %s', async (_, no, name) => {
    const { run, box } = await sampleByThree({ [no]: answer(422, '{"message":"not she"}') }, '-q');
    const left = `speaker ${no} \\(${name}\\)`;
    expectFailure(
      run,
      9,
      new RegExp(`1 of 3 speakers could not be heard: ${left}\nhint: .*; ${left} failed with: .*not she`),
    );
    expect(box.read('out.wav')).toEqual(plainWav(Buffer.concat([sound(200), sound(200)])));
  });

  it('brings speakers of other rates and channels to the format of the first', async () => {
    const other = { ...speechFormat, sampleRate: 11_025, channels: 2 };
    const { run, box } = await sampleByThree({ 12: complete(plainWav(sound(400), undefined, other)) }, '-q');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const [first, second] = [100, 200];
    const made = box.read('out.wav');
    expect(made.length).toBe(44 + 2 * (first + second + first));
    expect(made.subarray(-200).equals(sound(200))).toBe(true);
  });

  it('ends quietly where the reader leaves, whoever is left out', async () => {
    const long = complete(plainWav(sound(4_000_000)));
    const server = await serveBytes((wire, request, number) => {
      const { speaker_no } = (request.json ?? {}) as { speaker_no?: number };
      const script = speaker_no === undefined ? answer(404) : speaker_no === 11 ? answer(422) : long;
      return script(wire, request, number);
    });
    const box = configured({ speakers: { bob: 11, anna: 12, carl: 13 } });
    const line = 'set -o pipefail; tts speakers --sample Hi -q -o - | head -c 100 | wc -c';
    expect(await box.shell(line, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
  });

  it('begins with its first sound, whoever is left out, and not with a pause', async () => {
    const { run, box } = await sampleByThree({ 11: answer(422) }, '--paragraph-pause', '0.01');
    expect(run.status).toBe(9);
    expect(run.stderr).toContain('tts: warning: speaker 11 (bob) is left out: ');
    const pause = Buffer.alloc(2 * 221);
    expect(box.read('out.wav')).toEqual(plainWav(Buffer.concat([sound(200), pause, sound(200)])));
  });

  it('tells one object of those that are left out', async () => {
    const { run } = await sampleByThree({ 11: answer(422) }, '--json');
    expect(run.status).toBe(9);
    expect(run.stdout).toHaveLength(0);
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { exitCode: 9 } });
  });

  it('does not take the place of a config file', async () => {
    const { run, box } = await sampleByThree({}, '-q', '-o', '.ttsrc.json');
    expectFailure(run, 2, /--output and the config are the same file/);
    expect(JSON.parse(box.read('.ttsrc.json').toString()).speakers.bob).toBe(11);
  });

  it('has no sound where the service refuses all speakers, and fails as the first', async () => {
    const refused = answer(422, '{"message":"nobody"}');
    const { run, box } = await sampleByThree({ 11: answer(400), 12: refused, 13: refused }, '-q');
    expectFailure(run, 7, /\(status 400\)/);
    expect(box.list()).toEqual(['.ttsrc.json']);
  });

  it('ends with the first speaker that fails for what would befall the others too, and names it', async () => {
    const { run, box } = await sampleByThree({ 12: answer(402) }, '-q');
    expectFailure(run, 4, /\(status 402\); asked for speaker 12 \(anna\)\nhint: /);
    expect(box.list()).toEqual(['.ttsrc.json']);
  });

  it('does not cut the text of a sample, and so takes none that needs it', async () => {
    const { server, posts } = await crowd(1);
    const run = await new Sandbox().run(['speakers', '--sample', 'long '.repeat(300), '-o', 'out.wav'], {
      env: named(server.url),
    });
    expectFailure(run, 2, /--sample is longer than 1000 characters.*\nhint: .*tts -s NAME/);
    expect(posts()).toBe(0);
  });

  it('leaves no file when a sample fails', async () => {
    const server = await serveBytes((wire, request, number) =>
      answer(request.method === 'GET' ? 404 : 500)(wire, request, number),
    );
    const box = configured();
    const run = await box.run(['speakers', '--sample', 'x', '-o', 'out.wav'], { env: named(server.url) });
    expect(run.status).toBe(7);
    expect(box.list()).toEqual(['.ttsrc.json']);
  });

  it('does not take words for a text', async () => {
    expectFailure(
      await new Sandbox().run(['speakers', 'are', 'loud']),
      2,
      /does not know "are"\nhint: .*tts speak speakers/,
    );
  });
});
