import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LogRecord, ServiceOptions } from '../../src/serve/service.ts';
import { ask } from '../support/ask.ts';
import { Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
import { FRAMES_PER_CHARACTER, startToneService, type ToneService } from '../support/tone-service.ts';
import { samplesIn, WyomingClient, type WyomingEvent, written } from '../support/wyoming.ts';

interface Wyoming {
  readonly tones: ToneService;
  readonly records: LogRecord[];
  connect(): Promise<WyomingClient>;
}

/** A service that speaks in tones, until the test has ended. */
async function start(options: Partial<ServiceOptions> = {}): Promise<Wyoming> {
  const records: LogRecord[] = [];
  const tones = await startToneService({ wyoming: 0, log: (record) => records.push(record), ...options });
  onTestFinished(() => tones.close());
  return {
    tones,
    records,
    connect: async () => {
      const client = await WyomingClient.open(tones.service.wyoming);
      onTestFinished(() => void client.socket.destroy());
      return client;
    },
  };
}

const ofFace = (records: readonly LogRecord[]) =>
  records.filter((record) => record.event === 'request' && record.method === 'WYOMING');

const typesOf = (events: readonly WyomingEvent[]) =>
  events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);

const SPOKEN = ['audio-start', 'audio-chunk', 'audio-stop'];
const STREAMED = [...SPOKEN, 'synthesize-stopped'];

/** The samples of a text as the engine of the tests speaks it, without the silence between its segments. */
const letters = (text: string) => text.replace(/\s+/gu, '').length * FRAMES_PER_CHARACTER;
const voiced = (events: readonly WyomingEvent[]) => samplesIn(events).filter((sample) => sample !== 0);

describe('what Wyoming says of itself', () => {
  it('is the voices of the service with their languages, as one program that takes text in pieces', async () => {
    const { connect, tones } = await start();
    const info = await (await connect()).send('describe').next();
    expect(info).toMatchObject({ type: 'info', data: { asr: [], wake: [] } });
    const attribution = { name: expect.any(String), url: expect.stringMatching(/^https:/) };
    const voiceOf = ({ name }: { name: string | undefined }) =>
      expect.objectContaining({ name, installed: true, languages: ['en-US'], attribution, version: null });
    const voices = tones.engine.all.map(voiceOf);
    expect(info?.data.tts).toMatchObject([
      { name: 'tts', installed: true, supports_synthesize_streaming: true, attribution, voices },
    ]);
  });

  it('answers a ping with its text, also while it speaks', async () => {
    const { connect } = await start();
    const client = await connect();
    client.send('ping', { text: 'a' }).send('ping').send('synthesize', { text: 'slow slow slow' });
    client.send('ping', { text: 'b' });
    const pongs = (await client.until('audio-stop')).filter(({ type }) => type === 'pong');
    expect(pongs.map(({ data }) => data.text)).toEqual(['a', null, 'b']);
  });
});

describe('a whole text', () => {
  it('is spoken with the format in front, as often as the client asks, one text after the other', async () => {
    const { connect, tones, records } = await start();
    const client = await connect();
    client.send('synthesize', { text: 'one two' }).send('synthesize', { text: 'three' });
    for (const text of ['one two', 'three']) {
      const events = await client.until('audio-stop');
      expect(typesOf(events)).toEqual(SPOKEN);
      for (const { type, data } of events)
        if (type !== 'audio-stop') expect(data).toEqual({ rate: 22_050, width: 2, channels: 1 });
      expect(samplesIn(events)).toEqual(new Int16Array(letters(text)).fill(1));
    }
    const metrics = (await ask(`${tones.service.url}/metrics`)).bytes.toString();
    expect(metrics).toContain('tts_requests_total{path="wyoming",status="200"} 2');
    expect(metrics).toContain('tts_first_byte_seconds_count 2');
    const said = { event: 'request', method: 'WYOMING', path: 'synthesize', status: 200, cut: false };
    expect(ofFace(records)).toMatchObject([
      { ...said, speaker: 1, characters: 7 },
      { ...said, speaker: 1, characters: 5 },
    ]);
  });

  it.each<[string, object | undefined, number]>([
    ['nobody', undefined, 1],
    ['nobody, in an empty wish', {}, 1],
    ['null', { name: null, language: null, speaker: null }, 1],
    ['a name', { name: 'tone-12' }, 12],
    ['a name in other letters', { name: 'TONE-3' }, 3],
    ['a number', { name: '4' }, 4],
    ['a name and a speaker that says nothing more', { name: 'tone-5', speaker: '0' }, 5],
    ['a language', { language: 'en-US' }, 1],
    ['a language with an underscore', { language: 'en_US' }, 1],
    ['a language alone', { language: 'en' }, 1],
    ['a voice of another program, by its language', { name: 'en_GB-alba-medium' }, 1],
    ['a voice by its name, whatever the language', { name: 'tone-2', language: 'de' }, 2],
  ])('is spoken by the voice that the client names: %s', async (_, voice, no) => {
    const { connect } = await start();
    const events = await (await connect()).send('synthesize', { text: 'hi', voice }).until('audio-stop');
    expect(new Set(samplesIn(events))).toEqual(new Set([no]));
  });

  it.each<[string, readonly (string | Buffer)[]]>([
    ['data in the line', [`{"type": "synthesize", "data": {"text": "größer"}}\n`]],
    [
      'data in the line and behind it',
      ['{"type":"synthesize","data":{"text":"x"},"data_length":20}\n', '{"text": "größer"}'],
    ],
    [
      'no lengths but null',
      ['{"type":"synthesize","data":{"text":"größer"},"data_length":null,"payload_length":null}\n'],
    ],
    [
      'fields that nobody knows',
      ['{"type":"synthesize","more":[1],"data":{"text":"größer","context":{"a":1}}}\n'],
    ],
    [
      'a payload, which says nothing',
      [written('synthesize', { text: 'größer' }, Buffer.from('{"type":"x"}\n'))],
    ],
    ['empty lines before it', ['\n\n', written('synthesize', { text: 'größer' })]],
    [
      'events that are for others before it',
      [
        written('transcribe', { name: 'x' }),
        written('audio-chunk', {}, Buffer.alloc(999)),
        written('synthesize', { text: 'größer' }),
      ],
    ],
  ])('may come with %s, in pieces of one byte', async (_, parts) => {
    const { connect, tones } = await start();
    const client = await connect();
    client.socket.setNoDelay();
    for (const byte of Buffer.concat(parts.map((part) => Buffer.from(part)))) {
      client.socket.write(Buffer.of(byte));
      await turn();
    }
    expect(typesOf(await client.until('audio-stop'))).toEqual(SPOKEN);
    expect(tones.engine.utterances.map(({ text }) => text)).toEqual(['größer']);
  });

  it('gets all of its sound though the client ends its side', async () => {
    const { connect } = await start();
    const client = await connect();
    client.socket.end(written('synthesize', { text: 'slow one two slow' }));
    expect(typesOf(await client.until('nothing more'))).toEqual(SPOKEN);
  });

  it.each(['', '   ', '🔇', '\n\n'])('without a word is a short silence: %j', async (text) => {
    const { connect } = await start();
    const events = await (await connect()).send('synthesize', { text }).until('audio-stop');
    expect(typesOf(events)).toEqual(SPOKEN);
    expect(samplesIn(events).length).toBeGreaterThan(1000);
  });
});

describe('a text in pieces', () => {
  const TEXT =
    'The naïve café 😀 opens at 3.14 and closes at 5. Nobody 👩‍👩‍👧 knows why! 日本語もある。 The end is near.';

  it.each([1, 2, 3, 7, 50, 1000])(
    'of %i units is spoken like the whole text, and only once',
    async (size) => {
      const { connect, tones } = await start();
      const pieces = Array.from({ length: Math.ceil(TEXT.length / size) }, (_, at) =>
        TEXT.slice(at * size, (at + 1) * size),
      );
      const client = await connect();
      const [events] = await Promise.all([client.until('synthesize-stopped'), client.sendInPieces(pieces)]);
      expect(typesOf(events)).toEqual(STREAMED);
      const said = tones.engine.utterances.map(({ text }) => text).join(' ');
      expect(said.replace(/\s+/g, '')).toBe(TEXT.replace(/\s+/g, ''));
      expect(voiced(events)).toHaveLength(letters(TEXT));
    },
  );

  it('is heard before it is complete, and by the voice of its start', async () => {
    const { connect } = await start();
    const client = await connect();
    client.send('synthesize-start', { voice: { name: 'tone-13' } });
    client
      .send('synthesize-chunk', { text: 'The first sentence is comp' })
      .send('synthesize-chunk', { text: 'lete. Th' });
    expect(typesOf(await client.until('audio-chunk'))).toEqual(['audio-start', 'audio-chunk']);
    client.send('synthesize-chunk', { text: 'e second one too.' }).send('synthesize-stop');
    const rest = await client.until('synthesize-stopped');
    expect(typesOf(rest)).toEqual(STREAMED.slice(1));
    expect(new Set(voiced(rest))).toEqual(new Set([13]));
  });

  it('without a piece is the whole text behind it, and without that a short silence', async () => {
    const { connect, tones } = await start();
    const client = await connect();
    client.send('synthesize-start').send('synthesize', { text: 'hello' }).send('synthesize-stop');
    expect(voiced(await client.until('synthesize-stopped'))).toHaveLength(letters('hello'));
    client.send('synthesize-start').send('synthesize-chunk', { text: ' ' }).send('synthesize-stop');
    expect(typesOf(await client.until('synthesize-stopped'))).toEqual(STREAMED);
    expect(tones.engine.utterances).toHaveLength(1);
  });

  it('goes on in a full queue once it is heard', async () => {
    const { connect, tones } = await start();
    const client = await connect();
    client.send('synthesize-start').send('synthesize-chunk', { text: 'A sentence. '.repeat(50) });
    client.send('synthesize-stop');
    await client.until('synthesize-stopped');
    const [first, ...others] = tones.engine.utterances.map(({ ignoresQueueLimit }) => ignoresQueueLimit);
    expect([first, new Set(others)]).toEqual([false, new Set([true])]);
  });
});

describe('a hostile text', () => {
  it.each([
    '\0',
    'a\0b c',
    '%PDF-1.4 obj',
    'PK\u0003\u0004 zip',
    '{\\rtf1 text}',
    '<html><body>one</body></html>',
    '\u001b[31mred\u001b]0;x\u0007',
    '\ufeffmark',
    '\ud800',
    'x\udc00y',
    '\r\n\r\n',
    '[pause 5s] [voice nobody] word',
    '\u202e\u2066word\u2069',
    'a\u0301'.repeat(300),
    '../../etc/passwd',
    `${'A sentence. '.repeat(30)}\0 end. ${'A sentence. '.repeat(30)}`,
    '# heading\n\n- a list\n\n* * *\n\nend',
    `${'('.repeat(500)}word`,
  ])('is spoken, or refused with a sentence, whole and in pieces: %j', async (text) => {
    const { connect, tones, records } = await start();
    for (const inPieces of [false, true]) {
      const client = await connect();
      if (inPieces) await client.sendInPieces([...text]);
      else client.send('synthesize', { text });
      const events = await client.until('audio-stop');
      expect(['audio-stop', 'error']).toContain(events.at(-1)?.type);
      if (events.at(-1)?.type === 'error') expect(events.at(-1)?.data.code).toBe('unsupported_text');
      client.socket.destroy();
    }
    expect(records.filter(({ event }) => event === 'defect')).toEqual([]);
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
  });
});

describe('an error', () => {
  it.each<[string, string, Parameters<typeof written>]>([
    ['a voice that is not there', 'unknown_voice', ['synthesize', { text: 'x', voice: { name: 'nobody' } }]],
    [
      'a language that nobody speaks',
      'unknown_voice',
      ['synthesize', { text: 'x', voice: { language: 'tlh' } }],
    ],
    ['no text', 'missing_field', ['synthesize', {}]],
    ['a text that is none', 'invalid_field', ['synthesize', { text: 5 }]],
    ['a voice that is none', 'invalid_field', ['synthesize', { text: 'x', voice: 'slt' }]],
    ['SSML', 'unsupported_format', ['synthesize', { text: '<speak>x</speak>', text_format: 'ssml' }]],
    ['SSML in pieces', 'unsupported_format', ['synthesize-start', { text_format: 'ssml' }]],
    ['a piece without a start', 'unexpected_event', ['synthesize-chunk', { text: 'x' }]],
    ['a stop without a start', 'unexpected_event', ['synthesize-stop']],
    ['what the voice cannot read', 'unsupported_text', ['synthesize', { text: 'mute' }]],
    ['a full queue', 'busy', ['synthesize', { text: 'full' }]],
    ['a failure of the engine', 'engine_failed', ['synthesize', { text: 'broken' }]],
    ['a defect', 'internal_error', ['synthesize', { text: 'crash' }]],
    ['too long a text', 'text_too_long', ['synthesize', { text: 'x'.repeat(1001) }]],
  ])('says what is wrong, and the connection ends: %s', async (_, code, [type, ...more]) => {
    const { connect, tones, records } = await start({ maxText: 1000 });
    const client = await connect();
    const [error, ...others] = await client
      .send(type, ...more)
      .send('synthesize', { text: 'behind' })
      .until('x');
    expect([error?.type, error?.data.code, others]).toEqual(['error', code, []]);
    expect(error?.data.text).not.toMatch(/secret|7f3a/);
    expect(tones.engine.utterances.map(({ text }) => text)).not.toContain('behind');
    expect(records.filter(({ event }) => event === 'defect')).toHaveLength(code === 'internal_error' ? 1 : 0);
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
  });

  it.each<[string, string, string]>([
    ['no JSON', 'invalid_json', 'hello\n'],
    [
      'a request of a browser',
      'invalid_json',
      'POST / HTTP/1.1\r\nHost: x\r\n\r\n{"type":"synthesize","data":{"text":"x"}}\n',
    ],
    ['bytes that are no UTF-8', 'invalid_json', '{"type":"\xff"}\n'],
    ['a list', 'invalid_event', '[]\n'],
    ['a number', 'invalid_event', '7\n'],
    ['no type', 'missing_field', '{}\n'],
    ['a type that is no text', 'invalid_event', '{"type":1}\n'],
    ['a negative length', 'invalid_event', '{"type":"describe","data_length":-1}\n'],
    ['half a length', 'invalid_event', '{"type":"describe","payload_length":1.5}\n'],
    ['a length in words', 'invalid_event', '{"type":"describe","payload_length":"many"}\n'],
    ['data that is no JSON', 'invalid_json', '{"type":"describe","data_length":2}\n{{'],
    ['data that is a list', 'invalid_event', '{"type":"describe","data_length":2}\n[]'],
    ['a line without end', 'event_too_large', 'x'.repeat(20_000)],
    ['too much data', 'event_too_large', '{"type":"describe","data_length":10001}\n'],
    ['too large a payload', 'event_too_large', '{"type":"describe","payload_length":9007199254740991}\n'],
    [
      'a bomb of brackets',
      'missing_field',
      `{"type":"synthesize","data":${'['.repeat(4000)}${']'.repeat(4000)}}\n`,
    ],
  ])('ends what is no event, and takes nothing after it for one: %s', async (_, code, bytes) => {
    const { connect, tones } = await start({ limits: { body: 10_000 } });
    const client = await connect();
    client.socket.write(Buffer.from(bytes, 'latin1'));
    client.send('synthesize', { text: 'smuggled' });
    const events = await client.until('nothing more');
    expect(events.map(({ type, data }) => [type, data.code])).toEqual([['error', code]]);
    expect(tones.engine.utterances).toEqual([]);
  });

  it('ends a text whose pieces are too long together, and its sound', async () => {
    const { connect, tones } = await start({ maxText: 1000 });
    const client = await connect();
    client.send('synthesize-start').send('synthesize-chunk', { text: 'One stuck sentence. ' });
    for (let at = 0; at < 100; at += 1) client.send('synthesize-chunk', { text: 'and on and on ' });
    const [error] = (await client.until('error')).slice(-1);
    expect(error?.data.code).toBe('text_too_long');
    await expect.poll(() => tones.engine.active).toBe(0);
  });
});

describe('a client that does not want the sound any more', () => {
  const hangUps: [string, (client: WyomingClient) => void][] = [
    ['hangs up', ({ socket }) => socket.destroy()],
    ['resets the connection', ({ socket }) => socket.resetAndDestroy()],
    ['ends its side and takes nothing', ({ socket }) => socket.pause().end()],
  ];
  it.each(hangUps)('%s in the middle, and the voice stops', async (_, hangUp) => {
    const { connect, tones, records } = await start({ limits: { headers: 200, request: 200 } });
    for (const text of ['one two stuck', `${'word '.repeat(20_000)}stuck`]) {
      const client = await connect();
      client.send('synthesize', { text });
      await client.until('audio-chunk');
      hangUp(client);
    }
    await expect.poll(() => tones.engine.active).toBe(0);
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    const cut = { path: 'synthesize', status: 200, cut: true };
    expect(ofFace(records)).toMatchObject([cut, cut]);
  });

  it('hangs up before the text is complete, and nothing more of it is spoken', async () => {
    const { connect, tones } = await start();
    const client = await connect();
    client.send('synthesize-start').send('synthesize-chunk', { text: 'The first sentence. The second is' });
    await client.until('audio-chunk');
    client.socket.end();
    await client.until('nothing more');
    expect(tones.engine.utterances.map(({ text }) => text).join()).not.toContain('second');
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
  });

  it('begins another text, and hears the end of the one before it', async () => {
    const { connect } = await start();
    const client = await connect();
    client.send('synthesize-start').send('synthesize-chunk', { text: 'One two stuck. ' });
    await client.until('audio-chunk');
    await client.sendInPieces(['An', 'other.'], { name: 'tone-2' });
    expect(typesOf(await client.until('audio-stop')).at(-1)).toBe('audio-stop');
    const events = await client.until('synthesize-stopped');
    expect(typesOf(events)).toEqual(STREAMED);
    expect(voiced(events)).toEqual(new Int16Array(letters('Another.')).fill(2));
  });
});

describe('a client that takes nothing', () => {
  it('slows down the engine, and is let go', async () => {
    const { connect, tones } = await start({ limits: { stall: 500 } });
    const client = await connect();
    client.socket.pause();
    client.send('synthesize', { text: 'x'.repeat(400_000) });
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await expect.poll(tones.health, { timeout: 10_000 }).toMatchObject({ requests: 0 });
    expect(tones.engine.made).toBeLessThan(40e6);
  });

  it('gets no pile of answers', async () => {
    const { connect, tones } = await start({ limits: { stall: 500 } });
    const client = await connect();
    client.socket.pause();
    let isClosed = false;
    client.socket.on('close', () => {
      isClosed = true;
    });
    const question = Buffer.concat(Array.from({ length: 1000 }, () => written('describe')));
    for (let at = 0; at < 100; at += 1) client.socket.write(question);
    // The reader waits with its client, so that the questions stay where they are.
    await expect.poll(() => isClosed || client.socket.writableLength > 0).toBe(true);
    expect(client.socket.bytesWritten - client.socket.writableLength).toBeLessThan(20e6);
    expect((await tones.speak({ text: 'hello', speaker_no: 1 })).status).toBe(200);
  });

  it('says nothing, and is let go; one that waits for a slow voice is not', async () => {
    const { connect } = await start({ limits: { stall: 150 } });
    const [silent, torn, open, waiting] = await Promise.all([connect(), connect(), connect(), connect()]);
    torn.socket.write('{"type":');
    open.send('synthesize-start');
    waiting.send('synthesize', { text: 'slow '.repeat(12) });
    for (const client of [silent, torn, open]) expect(await client.until('nothing more')).toEqual([]);
    expect(typesOf(await waiting.until('audio-stop'))).toEqual(SPOKEN);
  });

  it('is let go after a voice that was slower than that, too', async () => {
    const { connect, tones } = await start({ limits: { stall: 300 } });
    const speak = tones.engine.speak.bind(tones.engine);
    tones.engine.speak = async (...asked) => sleep(900).then(() => speak(...asked));
    const client = await connect();
    expect(typesOf(await client.send('synthesize', { text: 'hi' }).until('audio-stop'))).toEqual(SPOKEN);
    expect(await client.until('nothing more')).toEqual([]);
  }, 10_000);

  it('is one of too many, and the others go on', async () => {
    const { connect } = await start({ limits: { peers: 2 } });
    const [first, second] = await Promise.all([connect(), connect()]);
    const third = await connect();
    expect(await third.until('nothing more')).toEqual([]);
    for (const client of [first, second])
      expect(typesOf(await client.send('synthesize', { text: 'hi' }).until('audio-stop'))).toEqual(SPOKEN);
  });
});

it('A service that stops lets the text under way end, and takes no further one.', async () => {
  const { connect, tones } = await start();
  const [idle, busy] = await Promise.all([connect(), connect()]);
  busy.send('synthesize', { text: 'slow slow slow slow' });
  await busy.until('audio-chunk');
  const closed = tones.service.close(10_000);
  busy.send('synthesize', { text: 'another' });
  expect(await idle.until('nothing more')).toEqual([]);
  expect(typesOf(await busy.until('nothing more'))).toEqual(SPOKEN.slice(1));
  await closed;
});

describe('tts serve --wyoming', () => {
  it('speaks with the voices of this machine, and cleans what a model writes as it comes', async () => {
    const box = new Sandbox();
    const { said, url } = await serve('--log text --wyoming 0 --assistant --api-key the-key', { box });
    const wyoming = /for Home Assistant, without a key: (tcp:\S+)/.exec(said.stderr)?.[1];
    expect(said.stderr).not.toContain('warning');
    expect((await ask(`${url}/speakers`)).status).toBe(401);
    const client = await WyomingClient.open(wyoming);
    onTestFinished(() => void client.socket.destroy());
    await client.sendInPieces(['<thi', 'nk>Let me th', 'ink.</think>', '**Hel', 'lo** there.'], {
      name: 'slt',
    });
    const streamed = samplesIn(await client.until('synthesize-stopped'));
    client.send('synthesize', { text: 'Hello there.', voice: { name: 'slt' } });
    expect(streamed).toEqual(samplesIn(await client.until('audio-stop')));
    await expect.poll(() => said.stderr).toMatch(/WYOMING synthesize 200 \d+ ms, speaker 2, 12 characters/);
  });

  it('warns of a network that can reach it, and says whose port is taken', async () => {
    const box = new Sandbox();
    const { said } = await serve('--wyoming 0 --host 0.0.0.0', { box });
    expect(said.stderr).toContain('--wyoming asks for no key');
    const port = /tcp:\S+:(\d+)/.exec(said.stderr)?.[1];
    const { status, stderr } = await box.run(['serve', '--port=0', `--wyoming=${port}`]);
    expect(status).toBe(2);
    expect(stderr).toContain(`port ${port} (EADDRINUSE)`);
    expect(stderr).toContain('choose with --wyoming');
  });
});
