import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type {
  Engine,
  EngineError,
  EngineSound,
  EngineUtterance,
  ExternalSource,
} from '../../../src/engines/engine.ts';
import { ExternalEngine } from '../../../src/engines/external.ts';
import { PLAIN } from '../../support/engine.ts';

const RATE = 8000;
const never = new AbortController().signal;

type Speak = (text: string, signal: AbortSignal, number: number) => AsyncGenerator<Int16Array>;

interface Talk {
  readonly engine: Engine;
  readonly asked: string[];
  readonly closed: () => boolean;
}

/** The engine of an engine of 8 kHz. */
function sectionOf(speak: Speak, limits: Partial<ExternalSource> = {}): Talk {
  const asked: string[] = [];
  let isClosed = false;
  const source: ExternalSource = {
    name: 'mine',
    identityOf: () => 'mine',
    voices: ['anna', 'bert'].map((name) => ({ name, language: 'und', sampleRate: RATE })),
    maxChars: 300,
    concurrency: 1,
    async speak(text, _voice, signal): Promise<EngineSound> {
      asked.push(text);
      return { sampleRate: RATE, samples: speak(text, signal, asked.length) };
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
    },
    ...limits,
  };
  const voices = new Map(source.voices.map((voice, at) => [1001 + at, voice]));
  const engine = new ExternalEngine(source, voices);
  return { engine, asked, closed: () => isClosed };
}

/** It speaks at most this many characters, with this many frames each. Each sample is the number of the call. */
function speaking(framesPerCharacter = 400, limit = Number.POSITIVE_INFINITY): Speak {
  return async function* speak(text, _signal, number) {
    const frames = Math.min(text.length, limit) * framesPerCharacter;
    yield new Int16Array(Math.floor(frames / 2)).fill(number);
    yield new Int16Array(Math.ceil(frames / 2)).fill(number);
  };
}

interface More extends Partial<EngineUtterance> {
  readonly signal?: AbortSignal;
}

async function* utter({ engine }: Talk, text: string, { signal = never, ...more }: More = {}) {
  const { samples } = await engine.speak({ text, no: 1001, sampleRate: RATE, style: PLAIN, ...more }, signal);
  yield* samples;
}

async function framesOf(sound: AsyncIterable<Int16Array>): Promise<number> {
  let frames = 0;
  for await (const samples of sound) frames += samples.length;
  return frames;
}

const SENTENCE = 'This is one of many sentences of some fifty letters. ';

describe('the engine of an engine', () => {
  it('passes samples of the same rate on unchanged', async () => {
    const talk = sectionOf(async function* speak() {
      yield Int16Array.of(1, -2, 3);
      yield Int16Array.of(32_767, -32_768);
    });
    const samples: number[] = [];
    for await (const piece of utter(talk, 'Hi', { no: 1002 })) samples.push(...piece);
    expect(samples).toEqual([1, -2, 3, 32_767, -32_768]);
    await expect(framesOf(utter(talk, 'Hi', { no: 1003 }))).rejects.toThrow('there is no speaker 1003');
  });

  it.each([4000, RATE, 192_000])('converts from %i Hz to another rate', async (sampleRate) => {
    const talk = sectionOf(speaking(), {
      speak: async () => ({ sampleRate, samples: speaking()('Hello', never, 1) }),
    });
    const frames = await framesOf(utter(talk, 'Hello', { sampleRate: 2 * RATE }));
    expect(frames).toBe(Math.round((2000 * 2 * RATE) / sampleRate));
  });

  it('asks for a long text in pieces that fit, and keeps their order', async () => {
    const text = SENTENCE.repeat(20).trim();
    const talk = sectionOf(speaking(), { maxChars: 120 });
    const heard: number[] = [];
    for await (const piece of utter(talk, text)) heard.push(...new Set(piece));
    expect(Math.max(...talk.asked.map(({ length }) => length))).toBeLessThanOrEqual(120);
    expect(talk.asked.join(' ')).toBe(text);
    expect([...new Set(heard)]).toEqual(talk.asked.map((_, index) => index + 1));
    expect(heard).toEqual(heard.toSorted((a, b) => a - b));
  });

  it('hands an error of the engine on, after the samples before it', async () => {
    const talk = sectionOf(async function* speak() {
      yield Int16Array.of(7);
      throw new Error('broken');
    });
    const sound = utter(talk, 'Hi')[Symbol.asyncIterator]();
    expect((await sound.next()).value).toEqual(Int16Array.of(7));
    await expect(sound.next()).rejects.toThrow('broken');
    await expect(framesOf(utter(talk, 'Hi'))).rejects.toThrow('broken');
  });
});

/** Pieces of this many frames without an end, and how many were taken. */
function endless(frames: number): { readonly speak: Speak; readonly taken: () => number } {
  let taken = 0;
  async function* speak() {
    for (;;) {
      taken += 1;
      yield new Int16Array(frames).fill(1);
    }
  }
  return { speak, taken: () => taken };
}

describe('the sound of an engine', () => {
  it.each([
    ['Hi', 12],
    ['x'.repeat(90), 100],
  ])('has at most one second for each character and ten more: %s, %i s', async (text, seconds) => {
    const talk = sectionOf(endless(RATE / 2).speak);
    const failed = framesOf(utter(talk, text));
    await expect(failed).rejects.toMatchObject({ name: 'EngineError', kind: 'failed' });
    await expect(failed).rejects.toThrow(
      `mine sent more than ${seconds} s of sound for "${text.slice(0, 60)}"`,
    );
  });

  it.each([1, 3999, 192_001])('has no rate of %i Hz', async (sampleRate) => {
    const talk = sectionOf(speaking(), {
      speak: async () => ({ sampleRate, samples: speaking()('Hi', never, 1) }),
    });
    await expect(framesOf(utter(talk, 'Hi'))).rejects.toMatchObject({
      kind: 'failed',
      message: `mine sent sound of ${sampleRate} Hz; it may have 4000 to 192000 Hz`,
    });
  });

  it('waits for a reader that rests when 16 MiB wait', async () => {
    const { speak, taken } = endless(2 ** 19);
    const talk = sectionOf(speak, { maxChars: 10_000 });
    const slow = utter(talk, 'x'.repeat(9000))[Symbol.asyncIterator]();
    await slow.next();
    await expect.poll(taken).toBeGreaterThanOrEqual(16);
    await sleep(50);
    expect(taken()).toBeLessThanOrEqual(20);
    for (let piece = 0; piece < 20; piece += 1) await slow.next();
    expect(taken()).toBeGreaterThan(20);
    await slow.return?.();
    await sleep(50);
    expect(taken()).toBeLessThanOrEqual(45);
  });
});

describe('a sound that is too short for its text', () => {
  const text = SENTENCE.repeat(16).trim();
  /** 15 characters a second at 8000 Hz. */
  const USUAL = 533;

  it.each([80, 150, 280, 400])('is asked for in halves, until nothing is missing: %i', async (limit) => {
    const talk = sectionOf(speaking(USUAL, limit), { maxChars: 1000 });
    const heard: string[] = [];
    for await (const piece of utter(talk, text)) heard.push(...new Set([...piece].map(String)));
    const spoken = [...new Set(heard)].map((number) => talk.asked[Number(number) - 1] ?? '');
    expect(spoken.join(' ')).toBe(text);
    expect(Math.max(...spoken.map(({ length }) => length))).toBeLessThanOrEqual(limit);
  });

  it('is asked for in halves below 60 % of the pace of a slow voice', async () => {
    const slow = speaking(2 * USUAL);
    const talk = sectionOf((some, signal, number) =>
      number === 5 ? speaking(USUAL)(some, signal, number) : slow(some, signal, number),
    );
    const sentence = SENTENCE.repeat(2).trim();
    for (let time = 0; time < 5; time += 1) await framesOf(utter(talk, sentence));
    expect(talk.asked.length).toBeGreaterThan(5);
  });

  describe('before the pace of the voice was known', () => {
    const sentence = SENTENCE.repeat(2).trim();

    /** What is told of the texts, all of which are spoken by one voice. */
    async function toldOf(texts: readonly string[], speak: Speak) {
      const talk = sectionOf(speak, { maxChars: 1000 });
      const all = [];
      for (const some of texts) all.push((await spoken(talk, some, { isWhole: false })).told);
      const told = all.flatMap((each, at) => each.map(([message, how]) => [at, message, how]));
      return { told, asked: talk.asked };
    }

    it('is told as soon as it is known, and asked for no more', async () => {
      const { told, asked } = await toldOf(Array(6).fill(sentence), (some, signal, number) =>
        speaking(number === 1 ? USUAL : 2 * USUAL)(some, signal, number),
      );
      const message =
        'mine sent 7.0 s of sound for "This is one of many sentences of some fifty letters. This is", too short for 105 characters: the engine seems to drop text; set maxChars: 50';
      expect(told).toEqual([[0, message, 'late']]);
      expect(asked).toEqual(Array(6).fill(sentence));
    });

    it('is no sign where a voice only varies by a third', async () => {
      const paces = [0.8, 1.2, 1, 1.1, 0.9, 1.2];
      const { told } = await toldOf(Array(6).fill(sentence), (some, signal, number) =>
        speaking(1.5 * USUAL * (paces[number - 1] ?? 1))(some, signal, number),
      );
      expect(told).toEqual([]);
    });
  });

  it('is that of a fast voice if halves are as fast, and is not asked for again', async () => {
    const talk = sectionOf(speaking(280), { maxChars: 1000 });
    const frames = text.length * 280;
    expect(await framesOf(utter(talk, text))).toBe(frames);
    const asked = talk.asked.length;
    expect(await framesOf(utter(talk, text))).toBe(frames);
    expect(talk.asked.length).toBe(asked + 1);
  });

  it.each([
    ['all of it at once', speaking(USUAL, 20)],
    ['nearly nothing', speaking(1)],
  ])('is an error if small pieces are too short as well: %s', async (_, speak) => {
    const talk = sectionOf(speak, { maxChars: 1000 });
    const failed: Promise<number> = framesOf(utter(talk, text));
    await expect(failed).rejects.toMatchObject({
      kind: 'failed',
      isFinal: true,
    } satisfies Partial<EngineError>);
    await expect(failed).rejects.toThrow(
      /^mine sent \d\.\d s of sound for "This is one of many.*", too short for 847 characters: the engine seems to drop text; set maxChars: 40$/,
    );
  });

  it('is no error below forty letters, and always one without a sample', async () => {
    const brief = sectionOf(async function* speak() {
      yield Int16Array.of(1);
    });
    expect(await framesOf(utter(brief, 'x'.repeat(39)))).toBe(1);
    await expect(framesOf(utter(brief, 'x'.repeat(40)))).rejects.toThrow('mine sent');
    const silent = sectionOf(async function* speak() {});
    await expect(framesOf(utter(silent, 'Hi'))).rejects.toThrow('mine sent no sound for "Hi"');
  });
});

/** Seconds of sound that is heard, and of silence after it. */
function soundOf(seconds: number, silence = 0): Int16Array {
  const samples = new Int16Array(Math.round((seconds + silence) * RATE));
  return samples.fill(1000, 0, Math.round(seconds * RATE));
}

/** What is heard of a text, in seconds, and what is told. */
async function spoken(talk: Talk, text: string, more: Partial<EngineUtterance> = {}) {
  const told: (readonly [message: string, how: string])[] = [];
  const onCut = (message: string, how: string) => void told.push([message, how]);
  const frames = await framesOf(utter(talk, text, { isWhole: true, onCut, ...more }));
  return { seconds: frames / RATE, told };
}

const FIRST = 'The lamp was lit by the keeper at seven.';
const SECOND = 'Nobody else had been on the island for weeks.';
const USUAL_SECONDS = 0.067;

describe('a sound that is too long for its text', () => {
  const sentence = SENTENCE.trim();
  /** It takes 60 s for what `babbles` picks, once it is known. */
  const babbling = (babbles: (text: string, number: number) => boolean): Speak =>
    async function* speak(text, _signal, number) {
      const isBabble = number > 3 && babbles(text, number);
      yield soundOf(isBabble ? Math.min(60, text.length + 9) : text.length * USUAL_SECONDS);
    };
  async function known(speak: Speak): Promise<Talk> {
    const talk = sectionOf(speak);
    for (let time = 0; time < 3; time += 1) await spoken(talk, sentence);
    return talk;
  }

  it('is asked for in halves', async () => {
    const talk = await known(babbling((text) => text.length > 60));
    const { seconds, told } = await spoken(talk, `${FIRST} ${SECOND}`);
    expect(talk.asked.slice(3)).toEqual([`${FIRST} ${SECOND}`, FIRST, SECOND]);
    expect(seconds).toBeCloseTo((FIRST.length + SECOND.length) * USUAL_SECONDS, 1);
    expect(told).toEqual([
      [
        `mine sent 60.0 s of sound for "${`${FIRST} ${SECOND}`.slice(0, 60)}", too long for 86 characters at the pace of the voice: the engine seems to say words that are not in the text; a smaller maxChars may help`,
        'in parts',
      ],
    ]);
  });

  it('is asked for once more where it cannot be divided', async () => {
    const talk = await known(babbling((_, number) => number === 4));
    expect((await spoken(talk, 'Hmm.')).told).toHaveLength(1);
    expect(talk.asked.slice(3)).toEqual(['Hmm.', 'Hmm.']);
  });

  it('ends the run where a part of it was heard', async () => {
    const talk = await known(async function* speak(text, _signal, number) {
      for (let second = 0; second < (number > 3 ? 60 : text.length * USUAL_SECONDS); second += 1)
        yield soundOf(1);
    });
    await expect(spoken(talk, sentence, { isWhole: false })).rejects.toThrow('too long for 52 characters');
  });

  it.each([
    ['a number', '1,234,567,890', 8],
    ['few letters', 'Hmm.', 2],
    ['only signs', '...', 2],
    ['a slow sentence', sentence, 9],
  ])('is none for %s', async (_, text, seconds) => {
    const talk = await known(async function* speak(some, _signal, number) {
      yield soundOf(number > 3 ? seconds : some.length * USUAL_SECONDS);
    });
    expect(await spoken(talk, text)).toEqual({ seconds, told: [] });
  });
});

describe('silence in a sound', () => {
  /** An engine that rests after each sentence. */
  const resting = (seconds: number): Speak =>
    async function* speak(text) {
      for (const sentence of text.split(/(?<=\.) /)) yield soundOf(sentence.length * USUAL_SECONDS, seconds);
    };

  it('is trimmed to half a second at the end', async () => {
    for (const isWhole of [true, false]) {
      const { seconds, told } = await spoken(sectionOf(resting(4)), FIRST, { isWhole });
      expect([seconds, told]).toEqual([FIRST.length * USUAL_SECONDS + 0.5, []]);
    }
    const short = sectionOf(resting(0.3));
    expect((await spoken(short, FIRST)).seconds).toBeCloseTo(FIRST.length * USUAL_SECONDS + 0.3, 5);
  });

  it('is asked for in halves where it is dead air', async () => {
    const talk = sectionOf(resting(4));
    const { seconds, told } = await spoken(talk, `${FIRST} ${SECOND}`);
    expect(talk.asked).toEqual([`${FIRST} ${SECOND}`, FIRST, SECOND]);
    expect(seconds).toBeCloseTo((FIRST.length + SECOND.length) * USUAL_SECONDS + 1, 1);
    expect(told).toEqual([
      [expect.stringContaining('with 4.0 s of silence inside: the engine seems to fall silent'), 'in parts'],
    ]);
  });

  it('is an error inside a sentence that stays so', async () => {
    const talk = sectionOf(async function* speak() {
      yield soundOf(1, 4);
      yield soundOf(1);
    });
    await expect(spoken(talk, FIRST)).rejects.toMatchObject({ isFinal: true });
    expect(talk.asked).toEqual([FIRST, FIRST]);
  });

  it('is made shorter before the first sound', async () => {
    const talk = sectionOf(async function* speak() {
      yield soundOf(0, 4);
      yield soundOf(3);
    });
    expect(await spoken(talk, FIRST)).toEqual({ seconds: 4.5, told: [] });
  });

  it('is that of a sound of zeros', async () => {
    const talk = sectionOf(async function* speak() {
      yield soundOf(0, 5);
    });
    await expect(spoken(talk, `${FIRST} ${SECOND}`)).rejects.toThrow('with 5.0 s of silence inside');
  });

  it('is told, and made shorter, where a part was heard', async () => {
    const talk = sectionOf(async function* speak() {
      yield soundOf(3);
      for (let second = 0; second < 4; second += 1) yield soundOf(0, 1);
      yield soundOf(3);
    });
    const { seconds, told } = await spoken(talk, `${FIRST} ${SECOND}`, { isWhole: false });
    expect(seconds).toBe(7.5);
    expect(told).toEqual([[expect.stringContaining('with 4.0 s of silence inside'), 'heard']]);
  });

  it.each([
    ['between sentences', `${FIRST} ${SECOND}`, 1.4],
    ['at dots', 'I wonder ... if they ever come back here.', 2.5],
    ['between paragraphs', `${FIRST}\n\n${SECOND}`, 2.5],
    ['without a word', '* * *', 5],
  ])('is allowed %s', async (_, text, silence) => {
    const talk = sectionOf(async function* speak() {
      yield soundOf(3, silence);
      yield soundOf(3);
    });
    expect(await spoken(talk, text)).toEqual({
      seconds: 6 + silence,
      told: [],
    });
  });
});

describe('utterances of one engine', () => {
  it('take turns, one piece each', async () => {
    const talk = sectionOf(speaking(), { maxChars: 60 });
    const [first, second] = ['First sentence of a text. ', 'Second text of sentences. '].map((text) =>
      utter(talk, text.repeat(8)),
    );
    await Promise.all([framesOf(first as never), framesOf(second as never)]);
    const speakers = talk.asked.map((text) => text.slice(0, 5));
    expect(speakers.slice(0, 8)).toEqual([
      'First',
      'Secon',
      'First',
      'Secon',
      'First',
      'Secon',
      'First',
      'Secon',
    ]);
  });

  it.each(['leaves', 'aborts'])('stop when the reader %s, and free the engine', async (how) => {
    const stopped: unknown[] = [];
    const talk = sectionOf(async function* speak(text, signal) {
      yield Int16Array.of(1);
      if (text === 'Next.') return;
      await sleep(60_000, undefined, { signal }).catch(() => stopped.push(text));
      signal.throwIfAborted();
    });
    const leaving = new AbortController();
    const sound = utter(talk, 'Stuck.', { signal: leaving.signal })[Symbol.asyncIterator]();
    await sound.next();
    const next = framesOf(utter(talk, 'Next.'));
    if (how === 'leaves') await sound.return?.();
    else leaving.abort(new Error('gone'));
    expect(await next).toBe(1);
    expect(stopped).toEqual(['Stuck.']);
  });

  it('end when the engine is closed, and the engine with it', async () => {
    const talk = sectionOf(async function* speak(_text, signal) {
      yield Int16Array.of(1);
      await sleep(60_000, undefined, { signal }).catch(() => signal.throwIfAborted());
    });
    const sound = utter(talk, 'Stuck.')[Symbol.asyncIterator]();
    await sound.next();
    const rest = sound.next();
    await talk.engine.close();
    await expect(rest).rejects.toThrow('the engine is closed');
    expect(talk.closed()).toBe(true);
  });
});
