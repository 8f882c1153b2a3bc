import { describe, expect, it, test } from 'vitest';
import { COARSE_STEP } from '../../../src/sound/align.ts';
import type { Utterance, VoiceEvent } from '../../../src/sound/voice.ts';
import {
  Comparable,
  isComparable,
  Judge,
  type Likeness,
  likenessOf,
  Prover,
} from '../../../src/voices/proof.ts';
import type { TimedSound } from '../../../src/voices/timed-words.ts';
import { speakerThat, utteranceOf } from '../../support/speaker.ts';
import { openTimedVoices, RATE } from '../../support/timed-voice.ts';

const SENTENCES = [
  'She had been waiting for almost an hour, and nobody had come to the door.',
  'He opened the letter slowly, read it through, and put it back into his pocket.',
  'The old man and the sea were friends, although neither of them would ever admit it.',
  'Do you know how many miles it is from the village to the next railway station?',
];
const STORY = SENTENCES.join(' ');
const OTHER =
  'The quick brown fox jumps over the lazy dog near the bank of the river. Please call me back before noon, because I will leave the office early today, and take the boat to the island.';

const FORMAT = { encoding: 'integer', sampleRate: RATE, channels: 1, bitsPerSample: 16 } as const;

const said = await openTimedVoices();

function sound(name: string, text: string): Int16Array {
  const timed = said(name, text);
  const known = sounds.get(timed) ?? joined(...timed.pieces);
  sounds.set(timed, known);
  return known;
}

/** As the reference says it. */
function timed(text: string): TimedSound {
  return said('rms', text);
}

function pcmOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

const sounds = new WeakMap<TimedSound, Int16Array>();
const compared = new WeakMap<Int16Array, Map<string, Likeness | undefined>>();

async function likeness(text: string, samples: Int16Array): Promise<Likeness | undefined> {
  const known = compared.get(samples) ?? new Map();
  compared.set(samples, known);
  if (!known.has(text)) {
    const comparable = new Comparable(FORMAT, COARSE_STEP);
    comparable.push(pcmOf(samples));
    const pair = await comparable.pairWith(timed(text));
    known.set(text, pair && likenessOf(pair));
  }
  return known.get(text);
}

async function judged(judge: Judge, text: string, samples: Int16Array): Promise<string | undefined> {
  const found = await likeness(text, samples);
  return found && judge.doubtOf(found);
}

function joined(...parts: readonly Int16Array[]): Int16Array {
  const bytes = Uint8Array.from(Buffer.concat(parts.map(pcmOf)));
  return new Int16Array(bytes.buffer);
}

const MISSING = /^in which about \d\.\d s of the text seem to be missing$/;
const EXTRA = /^of which about \d\.\d s do not seem to be in the text$/;
const UNLIKE = /^which seems to be that of another text$/;
const TWICE = /^in which ".*" seems to be said twice$/;

describe.each(['slt', 'kal16'])('The sound of %s', (voice) => {
  const say = (text: string) => sound(voice, text);
  test.each<[string, string, () => Int16Array, RegExp | undefined]>([
    ['a story', STORY, () => say(STORY), undefined],
    ['a sentence', SENTENCES[2] ?? '', () => say(SENTENCES[2] ?? ''), undefined],
    ['other texts', OTHER, () => say(OTHER), undefined],
    ['the first sentence missing', STORY, () => say(STORY.replace(`${SENTENCES[0]} `, '')), MISSING],
    ['a sentence missing', STORY, () => say(STORY.replace(`${SENTENCES[2]} `, '')), MISSING],
    ['the last third missing', STORY, () => say(STORY).subarray(0, (say(STORY).length * 2) / 3), MISSING],
    ['the first half missing', STORY, () => say(STORY).subarray(say(STORY).length / 2), UNLIKE],
    ['a sentence twice', STORY, () => say(STORY.replace(SENTENCES[1] ?? '', '$& $&')), EXTRA],
    ['babble at the end', STORY, () => joined(say(STORY), say(OTHER).subarray(0, 3 * RATE)), EXTRA],
    ['babble before it', STORY, () => joined(say(OTHER).subarray(0, 3 * RATE), say(STORY)), EXTRA],
    [
      'a word that the text has twice',
      STORY.replace('letter', 'letter letter'),
      () => say(STORY.replace('letter', 'letter letter')),
      undefined,
    ],
    ['another text', STORY, () => say(OTHER), UNLIKE],
    ['silence', STORY, () => new Int16Array(10 * RATE), UNLIKE],
  ])('is doubted where there is reason to: %s', async (_, text, made, expected) => {
    const judge = new Judge();
    for (const each of SENTENCES) expect(await judged(judge, each, say(each))).toBeUndefined();
    const doubt = await judged(judge, text, made());
    if (expected) expect(doubt).toMatch(expected);
    else expect(doubt).toBeUndefined();
  });
});

it('A voice is not compared any more when three texts, and no other, were unlike the reference.', async () => {
  const judge = new Judge();
  const noise = Int16Array.from({ length: 10 * RATE }, (_, at) => ((at * at * 7919) % 20_000) - 10_000);
  for (const [at, text] of SENTENCES.slice(0, 3).entries())
    expect([await judged(judge, text, noise), judge.mayCompare]).toEqual([undefined, at < 2]);
});

it('Nor is one whose first three sounds were far too short or too long.', () => {
  const judge = new Judge();
  const seen = [1, 2, 3].map(() => [judge.mayCompare, judge.doubtOfLength(() => {})]);
  expect([...seen, judge.mayCompare]).toEqual([...Array(3).fill([true, undefined]), false]);
});

test.each<[string, string | undefined, string, boolean]>([
  ['an English text', undefined, STORY, true],
  ['one of a voice whose language nobody knows', 'und', STORY, true],
  ['other letters and quotes', 'en-GB', '“Éva—she’s been here for an hour now,” I said.', true],
  ['a short one', 'en', 'She had been waiting.', false],
  ['one with a number', 'en', 'It was 1998, and she had been waiting for an hour.', false],
  ['one with a sign', 'en', 'Five % of all of it was gone before anybody came.', false],
  ['one with an abbreviation', 'en', 'She had worked for NASA for all of her long life.', false],
  [
    'one with a Roman numeral',
    'en',
    'She read it in chapter vii, and then in the tale of the letter.',
    false,
  ],
  [
    'one with two signs in a row',
    'en',
    'It was so dark in the house!—not even a lamp was left to her.',
    false,
  ],
  ['a German voice', 'de', STORY, false],
  [
    'another language',
    undefined,
    'Der alte Mann und das Meer waren Freunde, obwohl es keiner von ihnen je zugegeben hätte.',
    false,
  ],
])('Which texts are compared: %s', (_, language, text, expected) => {
  expect(isComparable(language, text)).toBe(expected);
});

interface Asked {
  readonly texts: string[];
  readonly events: VoiceEvent[];
  readonly pcm: Buffer;
  readonly isOneTake: boolean | undefined;
}

/** Asks for texts, one after the other, of a source that says this for each. */
async function asking(
  texts: readonly string[],
  say: (text: string, number: number) => Int16Array,
): Promise<readonly Asked[]> {
  let seen: string[] = [];
  let number = 0;
  const speaker = speakerThat(async ({ text }: Utterance) => {
    seen.push(text);
    number += 1;
    const bytes = pcmOf(say(text, number));
    const pcm = (async function* () {
      yield bytes.subarray(0, 1000);
      yield bytes.subarray(1000);
    })();
    return { format: FORMAT, bytes: bytes.length, pcm };
  });
  const reference = { speak: async (text: string) => timed(text), [Symbol.asyncDispose]: async () => {} };
  await using prover = new Prover(speaker.voice.source, async () => reference);
  const all: Asked[] = [];
  for (const text of texts) {
    seen = [];
    const events: VoiceEvent[] = [];
    // A voice of a service is another object for other instructions.
    const asked = utteranceOf({ ...speaker, voice: { ...speaker.voice } }, text, 0, events);
    const speech = await prover.speak(asked, new AbortController().signal);
    const pieces: Uint8Array[] = [];
    for await (const piece of speech?.pcm ?? []) pieces.push(piece);
    const pcm = Buffer.concat(pieces);
    expect(speech?.bytes).toBe(pcm.length);
    all.push({ texts: seen, events, pcm, isOneTake: speech?.isOneTake?.() });
  }
  return all;
}

const HALVES = [SENTENCES.slice(0, 2).join(' '), SENTENCES.slice(2).join(' ')];
const slt = (text: string) => sound('slt', text);
/** Without its last third. */
const shortened = (text: string) => slt(text).subarray(0, Math.round((slt(text).length * 2) / 3));

test.each(['slt', 'kal16'])(
  'Words that %s says twice are nearer to the reference with these words twice.',
  async (voice) => {
    const gainOf = async (text: string) =>
      (await likeness(STORY, sound(voice, text)))?.repeat?.gain ?? Number.NaN;
    const once = await gainOf(STORY);
    for (const words of ['opened', 'railway', 'old man'])
      expect(await gainOf(STORY.replace(words, `${words} ${words}`))).toBeGreaterThan(once + 0.2);
  },
);

test.each([
  ['much', 0.4, -0.3, TWICE],
  ['more than once, in a longer sound', 0.2, 0.1, TWICE],
  ['a slow word', 0.3, -0.5, undefined],
  ['once', 0.1, -1.4, undefined],
])('What speaks for words that are said twice: %s', (_, extra, gain, expected) => {
  const doubt = new Judge().doubtOf({ share: 0.6, missing: 0.1, extra, repeat: { text: 'old man', gain } });
  if (expected) expect(doubt).toMatch(expected);
  else expect(doubt).toBeUndefined();
});

describe('A source whose sound is compared with its text', () => {
  it('gives what it made.', async () => {
    const [sentence = ''] = SENTENCES;
    const [asked] = await asking([sentence], slt);
    expect(asked).toMatchObject({ texts: [sentence], events: [], isOneTake: true });
    expect(asked?.pcm.equals(pcmOf(slt(sentence)))).toBe(true);
  });

  it('is asked again in halves, whose sound is all there is.', async () => {
    const [asked] = await asking([STORY], (text) => (text === STORY ? shortened(text) : slt(text)));
    expect(asked?.texts).toEqual([STORY, ...HALVES]);
    expect(asked?.events).toEqual([
      {
        type: 'cut',
        message: expect.stringMatching(/^a source sent \d+\.\d s of sound for "She had.*", in which about/),
        how: 'in parts',
      },
    ]);
    expect(asked?.pcm.equals(pcmOf(joined(...HALVES.map(slt))))).toBe(true);
    expect(asked?.isOneTake).toBe(true);
  });

  it('is asked again for the whole where halves would be too short.', async () => {
    const [sentence = ''] = SENTENCES;
    const [asked] = await asking([sentence], (text, number) => (number === 1 ? shortened(text) : slt(text)));
    expect(asked).toMatchObject({ texts: [sentence, sentence], events: [{ how: 'again' }], isOneTake: true });
    expect(asked?.pcm.equals(pcmOf(slt(sentence)))).toBe(true);
  });

  it('names the smallest part that stays as it is, and that is not kept.', async () => {
    const [asked] = await asking([STORY], (text) => (text.includes('letter') ? shortened(text) : slt(text)));
    expect(asked?.texts).toEqual([STORY, HALVES[0], SENTENCES[0], SENTENCES[1], HALVES[1]]);
    expect(asked?.events).toMatchObject([
      { how: 'in parts' },
      { how: 'doubtful', message: expect.stringContaining('"He opened') },
    ]);
    expect(asked?.isOneTake).toBe(false);
  });

  it('is not asked again after three texts for which that was in vain.', async () => {
    const all = await asking(SENTENCES, shortened);
    const count = all.map(({ texts }) => texts.length);
    expect(count.map((each) => each > 1)).toEqual([true, true, true, false]);
    expect(all.map(({ events }) => events.map((event) => event.type === 'cut' && event.how))).toEqual(
      Array(4).fill(['doubtful']),
    );
    expect(all[0]?.pcm.equals(pcmOf(shortened(SENTENCES[0] ?? '')))).toBe(true);
  });

  it('is asked again for what is far too short, once it has said another text.', async () => {
    const [sentence = '', other = ''] = SENTENCES;
    const all = await asking([sentence, other, sentence], (text, number) =>
      number === 2 ? slt(text).subarray(0, RATE / 2) : slt(text),
    );
    expect(all.map(({ texts }) => texts)).toEqual([[sentence], [other, other], [sentence]]);
    expect(all[1]?.events).toMatchObject([
      { how: 'again', message: expect.stringContaining('whose length does not fit') },
    ]);
  });

  it('is told to have been far too short before it said its first text.', async () => {
    const [sentence = '', other = ''] = SENTENCES;
    const short = (text: string) => slt(text).subarray(0, RATE / 2);
    const all = await asking([other, sentence], (text) => (text === other ? short(text) : slt(text)));
    const late = { how: 'doubtful', message: expect.stringContaining('"He opened') };
    expect(all).toMatchObject([
      { texts: [other], events: [late] },
      { texts: [sentence], events: [] },
    ]);
    expect(await asking([other], short)).toMatchObject([{ texts: [other], events: [] }]);
  });

  it('ends the sound of a half that goes on too long, and keeps the whole.', async () => {
    let open = 0;
    const speaker = speakerThat(async ({ text }: Utterance) => {
      const bytes = pcmOf(text === STORY ? shortened(text) : new Int16Array(9 * 2 ** 20));
      const pcm = (async function* () {
        open += 1;
        try {
          yield bytes;
        } finally {
          open -= 1;
        }
      })();
      return { format: FORMAT, bytes: undefined, pcm };
    });
    const reference = { speak: async (text: string) => timed(text), [Symbol.asyncDispose]: async () => {} };
    await using prover = new Prover(speaker.voice.source, async () => reference);
    const events: VoiceEvent[] = [];
    const speech = await prover.speak(utteranceOf(speaker, STORY, 0, events), new AbortController().signal);
    expect({ open, bytes: speech?.bytes, events }).toMatchObject({
      open: 0,
      bytes: pcmOf(shortened(STORY)).length,
      events: [{ how: 'doubtful' }],
    });
  });

  it('passes on what is too long to be compared.', async () => {
    const long = new Int16Array(9 * 2 ** 20);
    const [asked] = await asking([STORY], () => long);
    expect(asked).toMatchObject({ texts: [STORY], events: [] });
    expect(asked?.pcm.length).toBe(long.byteLength);
  });
});
