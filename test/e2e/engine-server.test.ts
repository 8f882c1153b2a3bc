import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { answer, complete, head, streamed } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(4000);
const wav = plainWav(pcm);
const TEXT = 'Hello from the engine.';

/** The samples of the WAV that a run has written. */
function samplesIn(box: Sandbox, name = 'out.wav'): Buffer {
  return box.read(name).subarray(44);
}

/** A WAV for every 1000 bytes of sound. */
function everyChunk(size: number): Buffer {
  return Buffer.concat([0, 1, 2, 3].map((at) => plainWav(pcm.subarray(at * 1000, (at + 1) * 1000), size)));
}

const OUT = [TEXT, '-o', 'out.wav', '--retries', '0', '--no-cache'];

describe('an engine that is a server', () => {
  it.each<[string, string, Script]>([
    ['a WAV in chunks', '--stream', streamed(wav, 100)],
    ['a header of unknown size for every chunk', '--no-stream', streamed(everyChunk(0xffff_ffff), 1044)],
    ['a trailer of junk', '--stream', complete(Buffer.concat([wav, Buffer.from('junk')]))],
    ['another content type', '--no-stream', complete(wav, { 'Content-Type': 'audio/mpeg' })],
  ])('speaks with %s, sample for sample: %s', async (_, how, script) => {
    const server = await serveSpeech(script);
    const box = new Sandbox();
    const run = await box.run([...OUT, '--engine', server.url, '-r', '22050', how]);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(samplesIn(box)).toEqual(pcm);
    expect(server.asked).toEqual([{ model: 'tts-1', input: TEXT, voice: 'anna', response_format: 'wav' }]);
  });

  it('speaks with bare samples where the config tells their rate, whatever they begin with', async () => {
    for (const first of [0, 0x3c, 0x5b, 0x7b]) {
      const samples = Buffer.from(pcm);
      samples.writeInt16LE(first);
      const server = await serveSpeech(complete(samples, { 'Content-Type': 'audio/pcm' }));
      const box = new Sandbox();
      writeUserConfig(box, { engines: { bare: { url: server.url, format: 'pcm', sampleRate: 22_050 } } });
      expect(await box.run([...OUT, '--engine', 'bare'])).toMatchObject({ status: 0 });
      expect(samplesIn(box)).toEqual(samples);
    }
  });

  it('gets numbers in words where the config says so, and events keep the text', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    const own = { url: server.url, numbers: 'words', language: 'German', voices: ['anna'] };
    writeUserConfig(box, { engines: { own, plain: { url: server.url, voices: ['anna'] } } });
    const say = async (...args: string[]) => {
      const run = await box.run(['Um 14:30 Uhr, 5 km.', '-o', 'out.wav', ...args]);
      expect(run).toMatchObject({ status: 0 });
      return (server.asked.at(-1) as { readonly input: string }).input;
    };
    expect(await say('--engine', 'own', '--events', 'events.jsonl')).toBe(
      'Um vierzehn Uhr dreißig, fünf Kilometer.',
    );
    expect(box.read('events.jsonl').toString()).toContain('Um 14:30 Uhr, 5 km.');
    expect(await say('--engine', 'own', '--language', 'French')).toBe(
      'Um quatorze heures trente Uhr, cinq kilomètres.',
    );
    expect(await say('--engine', 'plain')).toBe('Um 14:30 Uhr, 5 km.');
    const shown = async (engine: string) => {
      const { stdout } = await box.run(['Um 14:30 Uhr.\n\nEs sind 5 km.', '--show-text', '--engine', engine]);
      return stdout.toString();
    };
    expect(await shown('own')).toBe('Um vierzehn Uhr dreißig.\n\nEs sind fünf Kilometer.\n');
    expect(await shown('plain')).toBe('Um 14:30 Uhr.\n\nEs sind 5 km.\n');
  });

  it.each<[string, Script, RegExp]>([
    ['MP3', complete(Buffer.from('ID3\x04rest of it', 'latin1')), /it sent MP3 instead of a WAV/],
    [
      'JSON with 200',
      complete(Buffer.from('{"error":{"message":"no voice"}}')),
      /sent no WAV, but: no voice/,
    ],
    [
      'sound in JSON',
      complete(Buffer.from(`{"audio":"${'UklG'.repeat(500)}"}`)),
      /it sent sound as text within JSON instead of a WAV/,
    ],
    ['an error', answer(500, '{"detail":"out of memory"}'), /answers 500: out of memory/],
    ['a redirect', answer(302, '', { Location: 'http://elsewhere/' }), /answers 302/],
    ['a WAV that breaks off', complete(wav.subarray(0, 3000)), /./],
    ['a WAV without samples', complete(plainWav(Buffer.alloc(0))), /WAV without a single sample/],
  ])('that sends %s is an error in its own words', async (_, script, message) => {
    const server = await serveSpeech(script);
    const box = new Sandbox();
    const run = await box.run([...OUT, '--engine', server.url]);
    expectFailure(run, 7, message);
    expect(run.stderr).toContain('hint: tts doctor --engine ENGINE checks the engine');
    expect(box.list()).toEqual([]);
  });

  it.each([
    [7, [400, 404]],
    [3, [401, 403]],
    [4, [402]],
  ])('whose words are told with status %i is asked once: %j', async (exit, statuses) => {
    for (const status of statuses) {
      const server = await serveSpeech(answer(status, '{"error":{"message":"words of the engine"}}'));
      const box = new Sandbox();
      writeUserConfig(box, { engines: { mine: { url: server.url } } });
      const run = await box.run([TEXT, '-o', 'out.wav', '--engine', 'mine']);
      expectFailure(run, exit, new RegExp(`^tts: mine answers ${status}: words of the engine\nhint: `));
      expect(server.asked).toHaveLength(1);
    }
  });

  it('whose quota is used up is asked once, whatever its status', async () => {
    for (const status of [401, 429]) {
      const server = await serveSpeech(
        answer(status, '{"error":{"code":"insufficient_quota","message":"Pay"}}'),
      );
      const run = await new Sandbox().run([...OUT, '--engine', server.url]);
      expectFailure(run, 4, new RegExp(`answers ${status}: Pay`));
      expect(server.asked).toHaveLength(1);
    }
  });

  it('that refuses one text of several is left out with --keep-going', async () => {
    const server = await serveSpeech((wire, request, number) => {
      const { input } = request.json as { input: string };
      return (input.includes('Two') ? answer(400, 'not this') : complete(wav))(wire, request, number);
    });
    const box = new Sandbox();
    const text = 'One is here. Two is here. Three is here.';
    const args = `-o out.wav --keep-going --engine ${server.url} --max-chars 15 -r 22050`;
    const run = await box.run(args, { stdin: text });
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(/"Two is here\."[^\n]* is left out: [^\n]* answers 400: not this/);
    expect(run.stderr).toContain('1 segment is left out: the engine refused it');
    expect(samplesIn(box)).toHaveLength(2 * pcm.length);
  });

  it('that sends sound without an end is an error', async () => {
    const server = await serveSpeech(async (wire) => {
      await wire.write(Buffer.concat([Buffer.from(head(200)), plainWav(Buffer.alloc(0), 0xffff_ffff)]));
      const left = wire.closed.then(() => true);
      for (let isOver = false; !isOver; isOver = await Promise.race([left, turn(false)]))
        await wire.write(Buffer.alloc(2 ** 16));
    });
    const run = await new Sandbox().run([...OUT, '--engine', server.url, '--no-stream']);
    expectFailure(run, 7, /sent more than 32 s of sound for "Hello from the engine\."/);
  });

  it('that is silent is given up', async () => {
    const server = await serveSpeech(() => {});
    const box = new Sandbox();
    const run = await box.run([...OUT, '--engine', server.url, '--timeout', '1']);
    expect(run.status).toBe(5);
  });
});

describe('the rate of a server', () => {
  /** A twentieth of a second for each character. The samples follow from the text. */
  const soundOf = (text: string, sampleRate: number) => {
    const samples = new Int16Array(Math.round((text.length * sampleRate) / 20));
    for (let at = 0; at < samples.length; at += 1) samples[at] = text.charCodeAt(at % text.length) * 100 - at;
    return Buffer.from(samples.buffer);
  };
  const long = Array.from(
    { length: 80 },
    (_, at) => `This is sentence ${at} of some fifty characters or so.`,
  );
  const texts = { short: TEXT, long: long.join(' ') };

  it.each([
    [8000, 'long', '--stream'],
    [48_000, 'short', '--no-stream'],
  ] as const)('is that of its sound where none is asked for: %i Hz, %s, %s', async (rate, length, how) => {
    const server = await serveSpeech((wire, request, number) => {
      const bytes = soundOf((request.json as { input: string }).input, rate);
      const body = plainWav(bytes, undefined, { ...speechFormat, sampleRate: rate });
      return (how === '--stream' ? streamed(body, 9999) : complete(body))(wire, request, number);
    });
    const box = new Sandbox();
    const text = texts[length];
    const run = await box.run(['-o', 'out.wav', '--engine', server.url, how, '--json'], { stdin: text });
    expect(run.status).toBe(0);
    const parts = server.asked.map(({ input }) => input);
    parts.sort((one, other) => text.indexOf(one) - text.indexOf(other));
    const spoken = Buffer.concat(parts.map((part) => soundOf(part, rate)));
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ format: { sampleRate: rate } });
    expect(samplesIn(box).equals(spoken)).toBe(true);
  });
});

describe('the voices of a server', () => {
  it('are chosen by name, by number and with the name of the engine, however they are listed', async () => {
    for (const voices of [
      { voices: ['anna', 'bert'] },
      { voices: [{ id: 'anna', name: 'Anna' }, { id: 'bert' }] },
      ['anna', 'bert'],
    ]) {
      const server = await serveSpeech(complete(wav), voices);
      const box = new Sandbox();
      const speakers = { dear: { engine: 'mine', voice: 'bert' } };
      writeUserConfig(box, { engines: { mine: { url: server.url } }, speakers });
      for (const speaker of ['bert', '1002', 'mine:bert', 'dear'])
        expect(await box.run([...OUT, '-s', speaker])).toMatchObject({ status: 0 });
      expect(server.asked.map(({ voice }) => voice)).toEqual(['bert', 'bert', 'bert', 'bert']);
      const list = JSON.parse((await box.run('speakers --json')).stdout.toString());
      expect(list.speakers).toContainEqual(expect.objectContaining({ no: 1001, name: 'anna' }));
    }
  });

  it('that are not listed may have any name', async () => {
    const server = await serveSpeech(complete(wav), null);
    const box = new Sandbox();
    await box.run([...OUT, '--engine', server.url, '-s', 'whatever']);
    await box.run([...OUT, '--engine', server.url]);
    expect(server.asked.map(({ voice }) => voice)).toEqual(['whatever', 'alloy']);
  });

  it('that are not listed are asked once for a text, whichever were named before them', async () => {
    const server = await serveSpeech(complete(wav), null);
    const box = new Sandbox();
    for (const rows of ['a,One.,anna', 'b,Two.,bert\na,One.,anna']) {
      box.file('rows.csv', `id,text,speaker\n${rows}\n`);
      await box.run(['batch', 'rows.csv', '-o', 'rows/{id}.wav', '--engine', server.url]);
    }
    await box.run(['Two.', '-o', 'two.wav', '--engine', server.url, '-s', 'bert']);
    expect(server.asked.map(({ voice }) => voice)).toEqual(['anna', 'bert']);
  });

  it('that do not exist are an error with those that do', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    const run = await box.run([...OUT, '--engine', server.url, '-s', 'berd']);
    expectFailure(run, 2, /no speaker is called "berd"\nhint: did you mean bert\?/);
    writeUserConfig(box, { engines: { mine: { url: server.url } } });
    expectFailure(
      await box.run([...OUT, '-s', 'mine:berd']),
      2,
      /engine mine has no voice "berd"\nhint: .*bert/,
    );
  });
});

describe('a list of voices', () => {
  /** A box with a server whose list is the work of a script. */
  const listed = async (script: Script) => {
    const server = await serveBytes(script);
    return { box: new Sandbox(), engine: ['--engine', `${server.url}/v1`] };
  };

  const dripping: Script = async (wire) => {
    await wire.write(`${head(200)}[`);
    const drops = setInterval(() => void wire.write(' '), 100);
    await wire.closed;
    clearInterval(drops);
  };

  it('that drips is given up', async () => {
    const { box, engine } = await listed(dripping);
    const run = await box.run([...OUT, ...engine, '--timeout', '1']);
    expectFailure(run, 5, /127\.0\.0\.1:\d+ sent no whole list of voices within 1 s/);
  });

  it('that breaks off, or is too large or too long, is an error', async () => {
    const voices = Array.from({ length: 10_001 }, (_, at) => `v${at}`);
    const torn: Script = async (wire) => {
      await wire.write(`${head(200, { 'Content-Length': 100 })}["anna",`);
      wire.end();
    };
    for (const [status, message, script] of [
      [6, /cannot be reached or broke off/, torn],
      [7, /has more than 4 MiB/, answer(200, JSON.stringify(['x'.repeat(4 * 2 ** 20)]))],
      [7, /has more than 10000 voices/, answer(200, JSON.stringify(voices))],
    ] as const) {
      const { box, engine } = await listed(script);
      expectFailure(await box.run([...OUT, ...engine]), status, message);
    }
  });
});

describe('what is sent to a server', () => {
  it('holds its own key, and never that of a service', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url: server.url, key: 'key-of-mine' } } });
    await box.run([...OUT, '--engine', 'mine']);
    expect(server.authorization).toEqual(['Bearer key-of-mine', 'Bearer key-of-mine']);
  });

  it('holds the key of the environment if the engine was chosen by the user and has no other', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    box.file('key', 'key-of-a-file');
    const tellingKeys = async (args: readonly string[], env: Record<string, string>) => {
      server.authorization.splice(0);
      const run = await box.run([...OUT, ...args], { env: { TTS_API_KEY: 'key-of-a-service', ...env } });
      return { status: run.status, keys: server.authorization };
    };
    const TTS_ENGINE_KEY = 'key-of-an-engine';
    const sent = (key: string | undefined) => {
      const header = key && `Bearer ${key}`;
      return { status: 0, keys: [header, header] };
    };
    expect(await tellingKeys(['--engine', server.url], { TTS_ENGINE_KEY })).toEqual(sent(TTS_ENGINE_KEY));
    expect(await tellingKeys([], { TTS_ENGINE: server.url, TTS_ENGINE_KEY_FILE: 'key' })).toEqual(
      sent('key-of-a-file'),
    );
    writeUserConfig(box, { engines: { mine: { url: server.url, key: 'key-of-mine' } } });
    expect(await tellingKeys(['--engine', server.url], {})).toEqual(sent('key-of-mine'));
    writeUserConfig(box, { engines: { mine: { url: server.url } } });
    box.file('.ttsrc.json', '{ "engine": "mine" }');
    expect(await tellingKeys([], { TTS_ENGINE_KEY })).toEqual(sent(undefined));
  });

  it.skipIf(!isThere('script'))('holds the key that is typed where the server wants one', async () => {
    const server = await serveBytes((wire, request, number) => {
      const isKnown = request.header('Authorization') === 'Bearer typed-key';
      const list = answer(200, JSON.stringify({ voices: ['anna'] }));
      const granted = request.path.endsWith('/voices') ? list : complete(wav);
      return (isKnown ? granted : answer(401, 'who?'))(wire, request, number);
    });
    const box = new Sandbox();
    const line = `tts ${OUT.join(' ')} -s anna --engine ${server.url}`;
    const running = box.startShell(`script -qec '${line}' /dev/null`, { stdin: 'open' });
    for await (const piece of running.stdout) {
      if (String(piece).includes('Key for')) running.stdin.write('typed-key\r');
      expect(String(piece)).not.toContain('typed-key');
    }
    expect((await running.ended).status).toBe(0);
    expect(box.list()).toEqual(['out.wav']);
  });

  it('fits the engine', async () => {
    const server = await serveSpeech(complete(plainWav(sound(1_000_000))));
    const box = new Sandbox();
    const text = Array.from({ length: 100 }, (_, at) => `This is sentence ${at} of many.`).join(' ');
    box.file('long.txt', text);
    await box.run(['-f', 'long.txt', '-o', 'out.wav', '--engine', server.url]);
    expect(Math.max(...server.asked.map(({ input }) => input.length))).toBeLessThanOrEqual(300);
    expect(
      server.asked
        .map(({ input }) => input)
        .sort()
        .join(' '),
    ).toHaveLength(text.length);
  });
});

describe('text that a server drops', () => {
  const sentence = 'This is a sentence of some fifty characters or so. ';
  const limited =
    (limit: number, secondsOfCharacter = 0.067): Script =>
    (wire, request, number) => {
      const { input } = request.json as { input: string };
      const spoken = Math.min(input.length, limit);
      return complete(plainWav(sound(2 * Math.round(spoken * secondsOfCharacter * 22_050))))(
        wire,
        request,
        number,
      );
    };

  it('is noticed, and asked for in halves', async () => {
    const server = await serveSpeech(limited(110));
    const box = new Sandbox();
    box.file('long.txt', sentence.repeat(4).trim());
    const run = await box.run(['-f', 'long.txt', '-o', 'out.wav', '--engine', server.url, '--no-cache']);
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(/warning: .* set maxChars: 100; the text was spoken in smaller parts\n/);
    const inputs = server.asked.map(({ input }) => input);
    expect(inputs.slice(1).join(' ')).toBe(sentence.repeat(4).trim());
  });

  it('is an error where halves do not help', async () => {
    const server = await serveSpeech(limited(2));
    const box = new Sandbox();
    box.file('long.txt', sentence.repeat(4).trim());
    const run = await box.run(['-f', 'long.txt', '-o', 'out.wav', '--engine', server.url]);
    expectFailure(
      run,
      7,
      /s of sound for "This is a sentence.*", too short for 203 characters: the engine seems to drop text; set maxChars: 40\nhint: maxChars/,
    );
    // What fails is asked for once.
    expect(server.asked.filter(({ input }) => input === sentence.repeat(4).trim())).toHaveLength(1);
  });
});

describe('a server that says what is not there, or falls silent', () => {
  const sentence = 'This is a sentence of some fifty characters or so.';
  const babble = 'The lamp was lit by the keeper at seven. Nobody else had been on the island for weeks.';

  /** Seconds of sound, and of silence after it, for each sentence of a request. */
  function resting(silence: number, secondsOf = (text: string) => text.length * 0.067): Script {
    return (wire, request, number) => {
      const { input } = request.json as { input: string };
      const parts = input
        .split(/(?<=\.) /)
        .map((part) => [
          sound(2 * Math.round((secondsOf(input) / input.length) * part.length * 22_050)),
          Buffer.alloc(2 * Math.round(silence * 22_050)),
        ]);
      return complete(plainWav(Buffer.concat(parts.flat())))(wire, request, number);
    };
  }

  async function read(script: Script) {
    const server = await serveSpeech(script);
    const box = new Sandbox();
    box.file('book.txt', [...Array(4).fill(sentence), babble].join('\n\n'));
    const args = ['-f', 'book.txt', '-o', 'out.wav', '--concurrency', '1', '--no-cache', '--max-chars', '90'];
    const run = await box.run([...args, '--engine', server.url, '--paragraph-pause', '0']);
    const seconds = () => (box.read('out.wav').length - 44) / 44_100;
    return { run, seconds, inputs: server.asked.map(({ input }) => input) };
  }

  it('is asked for in halves where it speaks three times too long', async () => {
    const { run, seconds, inputs } = await read(
      resting(0, (text) => (text === babble ? 60 : text.length * 0.067)),
    );
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(
      /^tts: warning: \S+ sent 2\d\.\d s of sound for "The lamp .*", too long for 86 characters at the pace of the voice: .*; the text was spoken in smaller parts\n$/,
    );
    expect(inputs.slice(-3)).toEqual([babble, babble.slice(0, 40), babble.slice(41)]);
    expect(seconds()).toBeCloseTo(0.067 * (4 * sentence.length + babble.length - 1), 1);
  });

  it('is asked for in halves where it is silent between sentences, and ends without that silence', async () => {
    const { run, seconds, inputs } = await read(resting(4));
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(/with 4\.0 s of silence inside: .*; the text was spoken in smaller parts\n$/);
    expect(inputs.slice(-3)).toEqual([babble, babble.slice(0, 40), babble.slice(41)]);
    expect(seconds()).toBeCloseTo(0.067 * (4 * sentence.length + babble.length - 1) + 6 * 0.5, 1);
  });
});

describe('sound of an engine in the cache', () => {
  it('is not asked for twice, and belongs to engine, model and voice', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    const speak = (...more: string[]) => box.run([TEXT, '-o', 'out.wav', '--engine', 'mine', ...more]);
    writeUserConfig(box, { engines: { mine: { url: server.url, model: 'one' } } });
    await speak();
    await speak();
    expect(server.asked).toHaveLength(1);
    await speak('-s', 'bert');
    expect(server.asked).toHaveLength(2);
    writeUserConfig(box, { engines: { mine: { url: server.url, model: 'two' } } });
    await speak();
    expect(server.asked).toHaveLength(3);
  });
});

describe('who may name an engine', () => {
  it('a project may name one of the user, and never bring one', async () => {
    const server = await serveSpeech(complete(wav));
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url: server.url } } });
    box.file('.ttsrc.json', JSON.stringify({ engine: 'mine' }));
    expect(await box.run(OUT)).toMatchObject({ status: 0 });
    for (const engine of [server.url, '../model', './model']) {
      box.file('.ttsrc.json', JSON.stringify({ engine }));
      expectFailure(await box.run(OUT), 2, /engine in .*\.ttsrc\.json may be a name only/);
    }
    box.file('.ttsrc.json', JSON.stringify({ engines: { evil: { command: ['sh'] } } }));
    expectFailure(await box.run(OUT), 2, /engines may not be set in .*\.ttsrc\.json/);
  });

  it('an engine together with a base URL is refused', async () => {
    const box = new Sandbox();
    const both = [...OUT, '--engine', 'http://127.0.0.1:1/v1', '--base-url', 'http://127.0.0.1:1'];
    expectFailure(await box.run(both), 2, /--engine and --base-url cannot be used together/);
  });

  it('the config is checked', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { engines: { x: {} } });
    expectFailure(await box.run(OUT), 2, /x of engines in .* has none of "url", "command" and "model"/);
  });
});
