/**
 * When espeak-ng says each word of a text. The program does not tell, but it can mute words without another change of its sound:
 * it speaks the text once aloud, and once more for each binary digit of the numbers of the words, with those muted that have the
 * digit. In which of the sounds a moment is silent is the number of its word.
 */
import { outputOf } from '../kit/program.ts';
import type { Samples } from '../sound/samples.ts';
import { type Espeak, samplesIn, withoutPhonemes } from './espeak.ts';
import type { SpokenWord } from './flite-words.ts';

interface TimedSamples extends Samples {
  readonly words: readonly SpokenWord[];
}

/** Milliseconds for one of the sounds. */
const PATIENCE_MS = 30_000;

/** Seconds of the sound that belong to one word. */
const STEP = 0.005;

/** The mean of the amplitudes of 16 bits. Less is a pause. */
const HEARD = 8;

/** Seconds of silence at both ends, so that those of another sound are not taken for the first word and the last. */
const EDGE = 0.1;

/** Seconds. A shorter silence between two words is the beginning of the second one: `p`, `t` and `k` are silent before they burst. */
const CLOSURE = 0.1;

/**
 * @param voice its file, as the list of voices names it
 * @returns `undefined` for a text without words, and where muting changes the length of the sound
 * @throws what a program throws that fails
 */
export async function speakTimed(
  text: string,
  voice: string,
  { program, env }: Pick<Espeak, 'program' | 'env'>,
  signal: AbortSignal,
): Promise<TimedSamples | undefined> {
  const words = wordsOf(text);
  const speak = async (isMuted: (number: number) => boolean) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const how = ['-m', '-v', voice, '-b', '1', '-z', '--stdin', '--stdout'];
    return samplesIn(await outputOf(program, how, { env, signal: until, input: markedUp(words, isMuted) }));
  };
  if (words.length === 0) return undefined;
  const { samples, sampleRate } = await speak(() => false);
  const size = Math.round(STEP * sampleRate);
  const aloud = loudness(samples, size);
  const codes = new Uint32Array(aloud.length);
  for (let digit = 1; digit < words.length; digit *= 2) {
    const muted = await speak((number) => (grayCode(number) & digit) !== 0);
    if (muted.samples.length !== samples.length) return undefined;
    for (const [step, level] of loudness(muted.samples, size).entries())
      if (2 * level < (aloud[step] ?? 0)) codes[step] = (codes[step] ?? 0) | digit;
  }
  const numbers = Array.from(codes, (code, step) =>
    (aloud[step] ?? 0) < HEARD ? undefined : fromGrayCode(code),
  );
  const edge = Math.round(EDGE * sampleRate);
  const padded = new Int16Array(samples.length + 2 * edge);
  padded.set(samples, edge);
  return {
    samples: padded,
    sampleRate,
    words: timed(words, numbers, { step: size / sampleRate, from: EDGE }),
  };
}

/** Signs without a letter belong to the word before them, and so does the second part of "25 000". */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const word of withoutPhonemes(text).split(/\s+/u)) {
    const last = words.at(-1);
    const isOfNumber = /^\d{3}(?!\d)/u.test(word) && /\d/u.test(last?.at(-1) ?? '');
    const goesOn = isOfNumber || !/[\p{L}\p{N}]/u.test(word);
    if (goesOn && last !== undefined) words[words.length - 1] = `${last} ${word}`;
    else if (word !== '') words.push(word);
  }
  return words;
}

/** A volume other than the usual one of 100 ends what espeak-ng would join, in each of the sounds alike. */
const VOLUME = { aloud: 99, muted: 0 };

function markedUp(words: readonly string[], isMuted: (number: number) => boolean): string {
  return words
    .map((word, number) => {
      const volume = isMuted(number) ? VOLUME.muted : VOLUME.aloud;
      return `<prosody volume="${volume}">${escaped(word)}</prosody>`;
    })
    .join(' ');
}

/** In markup, brackets change the length of the sound. */
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

/** Two numbers that follow each other differ in one digit (Gray code), so a moment between two words is one of both. */
function grayCode(number: number): number {
  return number ^ (number >> 1);
}

function fromGrayCode(code: number): number {
  let number = 0;
  for (let rest = code; rest > 0; rest >>= 1) number ^= rest;
  return number;
}

/** A word without a sound of its own is said together with the one before it, as in "parce qu’il" and "25. März". */
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
    const start = before && heard - before.end < CLOSURE ? before.end : heard;
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
