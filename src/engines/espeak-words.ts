/**
 * Finds out when espeak-ng says each word of a text. The program does not report it, but can mute words without changing the
 * rest of its sound. So it speaks the text once aloud, and once more for each bit of the word numbers, with the words muted
 * whose number has that bit. The set of sounds in which a moment is silent then spells the number of its word.
 */
import { outputOf } from '../kit/program.ts';
import type { Samples } from '../sound/samples.ts';
import { type Espeak, PIPED, samplesIn, withoutPhonemes } from './espeak.ts';
import type { SpokenWord } from './flite-words.ts';

interface TimedSamples extends Samples {
  readonly words: readonly SpokenWord[];
}

/** Milliseconds after which one run of the program is given up. */
const TIMEOUT_MS = 30_000;

/** Seconds of sound per measurement; each step belongs to one word. */
const STEP_SECONDS = 0.005;

/** The mean amplitude of 16-bit samples below which a step is a pause. */
const AUDIBLE = 8;

/** Seconds of silence added at both ends, so that a neighbouring sound is not taken for the first or the last word. */
const EDGE_SECONDS = 0.1;

/** Seconds. A shorter silence between two words belongs to the second: `p`, `t` and `k` start with a silent closure. */
const CLOSURE_SECONDS = 0.1;

/**
 * @param voice the file of the voice, as the list of voices names it
 * @returns `undefined` for a text without words, or if muting changes the length of the sound
 * @throws the error of a program that fails
 */
export async function speakTimed(
  text: string,
  voice: string,
  { program, env }: Pick<Espeak, 'program' | 'env'>,
  signal: AbortSignal,
): Promise<TimedSamples | undefined> {
  const words = wordsOf(text);
  const speak = async (isMuted: (number: number) => boolean) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const how = ['-m', '-v', voice, ...PIPED];
    return samplesIn(await outputOf(program, how, { env, signal: until, input: markedUp(words, isMuted) }));
  };
  if (words.length === 0) return undefined;
  const { samples, sampleRate } = await speak(() => false);
  const size = Math.round(STEP_SECONDS * sampleRate);
  const aloud = loudness(samples, size);
  const codes = new Uint32Array(aloud.length);
  for (let bit = 1; bit < words.length; bit *= 2) {
    const muted = await speak((number) => (grayCode(number) & bit) !== 0);
    if (muted.samples.length !== samples.length) return undefined;
    for (const [step, level] of loudness(muted.samples, size).entries())
      if (2 * level < (aloud[step] ?? 0)) codes[step] = (codes[step] ?? 0) | bit;
  }
  const numbers = Array.from(codes, (code, step) =>
    (aloud[step] ?? 0) < AUDIBLE ? undefined : fromGrayCode(code),
  );
  const edge = Math.round(EDGE_SECONDS * sampleRate);
  const padded = new Int16Array(samples.length + 2 * edge);
  padded.set(samples, edge);
  return {
    samples: padded,
    sampleRate,
    words: timed(words, numbers, { step: size / sampleRate, from: EDGE_SECONDS }),
  };
}

/** Joins punctuation without letters to the word before it, and also the second part of "25 000". */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const word of withoutPhonemes(text).split(/\s+/u)) {
    const last = words.at(-1);
    const isOfNumber = /^\d{3}(?!\d)/u.test(word) && /\d/u.test(last?.at(-1) ?? '');
    const isContinued = isOfNumber || !/[\p{L}\p{N}]/u.test(word);
    if (isContinued && last !== undefined) words[words.length - 1] = `${last} ${word}`;
    else if (word !== '') words.push(word);
  }
  return words;
}

/** A volume other than the default of 100 keeps espeak-ng from joining words, in the same way in all sounds. */
const VOLUME = { aloud: 99, muted: 0 };

function markedUp(words: readonly string[], isMuted: (number: number) => boolean): string {
  return words
    .map((word, number) => {
      const volume = isMuted(number) ? VOLUME.muted : VOLUME.aloud;
      return `<prosody volume="${volume}">${escaped(word)}</prosody>`;
    })
    .join(' ');
}

/** Escapes a word for SSML. Brackets are dropped, since in markup they change the length of the sound. */
function escaped(word: string): string {
  return word
    .replace(/[[\]]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** The mean amplitude of each step. */
function loudness(samples: Int16Array, size: number): Float64Array {
  const levels = new Float64Array(Math.ceil(samples.length / size));
  for (const [at, sample] of samples.entries()) {
    const step = Math.floor(at / size);
    levels[step] = (levels[step] ?? 0) + Math.abs(sample) / size;
  }
  return levels;
}

/** Consecutive Gray codes differ in one bit, so a step between two words is decoded as one of these two. */
function grayCode(number: number): number {
  return number ^ (number >> 1);
}

function fromGrayCode(code: number): number {
  let number = 0;
  for (let rest = code; rest > 0; rest >>= 1) number ^= rest;
  return number;
}

/** Gives words their times. A word without a sound of its own is joined to the one before it: "parce qu’il", "25. März". */
function timed(
  words: readonly string[],
  numbers: readonly (number | undefined)[],
  { step, from }: { readonly step: number; readonly from: number },
): readonly SpokenWord[] {
  const times = new Map<number, { start: number; end: number }>();
  let last = 0;
  for (const [at, number] of numbers.entries()) {
    if (number === undefined || number < last || number >= words.length) continue;
    const end = from + (at + 1) * step;
    const [own, before] = [times.get(number), times.get(last)];
    const heard = from + at * step;
    const start = before && heard - before.end < CLOSURE_SECONDS ? before.end : heard;
    times.set(number, { start: own?.start ?? start, end });
    last = number;
  }
  const spoken: SpokenWord[] = [];
  for (const [number, text] of words.entries()) {
    const [time, before] = [times.get(number), spoken.at(-1)];
    if (time) spoken.push({ text, ...time });
    else if (before) spoken[spoken.length - 1] = { ...before, text: `${before.text} ${text}` };
  }
  return spoken;
}
