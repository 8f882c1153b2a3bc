/** The runs that make no sound: `--dry-run` and `--show-text`. */
import { pipeline } from 'node:stream/promises';
import { ExitCode, TtsError } from '../kit/error.ts';
import { isReaderGone } from '../kit/folders.ts';
import { duration, priceInWords, printable, visible } from '../kit/words.ts';
import { checkFile } from '../out/open.ts';
import { costOf, type Pricing, type Resolved } from '../run/job.ts';
import { type Mix, silenceOf } from '../run/mix.ts';
import { checkOutput } from '../run/outputs.ts';
import { RunText } from '../run/text.ts';
import { labelOf, type Speaker } from '../sound/voice.ts';
import { EMPTY_LINE, type Heading, Spacing } from '../text/piece.ts';
import type { Segment, Silence } from '../text/segment.ts';
import { expectedSeconds } from '../text/speaking-time.ts';
import { countCodePoints } from '../text/unicode.ts';
import { type Cache, cacheKey } from '../voices/cache.ts';
import { languageName, languageOf } from '../voices/language.ts';
import { requestBody } from '../voices/service.ts';
import type { Context } from './commands.ts';
import { checkLanguage } from './language-check.ts';
import { assertOpen, stdoutError } from './print.ts';
import { warnOfAbsent, warnOfNamesBefore, warnOfRoom } from './speak-report.ts';

/** Estimate of what a run would send and make. */
interface Estimated {
  readonly characters: number;
  readonly charactersToSend: number;
  readonly segments: number;
  readonly requests: number;
  readonly inCache: number;
  /** Seconds of sound, with its pauses. */
  readonly duration: number;
}

/** The pace of a voice, from its sound in the cache. */
interface Pace {
  /** Seconds of sound in the cache; and of the same texts at a usual pace. */
  kept: number;
  keptUsual: number;
  /** Seconds of all other texts at a usual pace. */
  newUsual: number;
}

/** Counts what a run would send. With a cache, a repeated text is sent once. */
export class Estimate {
  /** Characters that a service charges for: voices of this machine cost nothing. */
  paidCharacters = 0;
  readonly #mix: Mix;
  readonly #paces = new Map<Speaker['voice'], Pace>();
  /** Hashes of the texts to send, as numbers, which take less memory than the keys. */
  readonly #toSend = new Set<number>();
  #characters = 0;
  #charactersToSend = 0;
  #segments = 0;
  #inCache = 0;
  #pauses = 0;
  /** Seconds of the films that the sound is fitted to. */
  #films = 0;

  constructor(mix: Mix) {
    this.#mix = mix;
  }

  get result(): Estimated {
    return {
      characters: this.#characters,
      charactersToSend: this.#charactersToSend,
      segments: this.#segments,
      requests: this.#segments - this.#inCache,
      inCache: this.#inCache,
      duration: Math.round(10 * (this.#mix.fit ? this.#films : this.#pauses + this.#seconds)) / 10,
    };
  }

  /** True if the length is not known completely, from sound in the cache or from a film. */
  get isGuessed(): boolean {
    return !this.#mix.fit && [...this.#paces.values()].some(({ newUsual }) => newUsual > 0);
  }

  /**
   * @param isFirst true if the sound begins with this segment, so that no pause comes before it
   * @param cache of the voice; `undefined` if its sound is not cached
   */
  async add(
    segment: Segment | Silence,
    isFirst: boolean,
    speaker: Speaker,
    cache: Cache | undefined,
  ): Promise<void> {
    if (segment.kind === 'silence') {
      this.#pauses += segment.seconds;
      return;
    }
    const { text, pause, cue } = segment;
    if (isFirst && cue) this.#films += this.#mix.fit?.length ?? cue.filmEnd;
    if (!isFirst || typeof pause === 'number') this.#pauses += silenceOf(pause, this.#mix);
    const asked = { ...speaker, text };
    const seconds = await cache?.secondsOf(asked);
    const isAsked = cache && seconds === undefined && this.#isAsked(cacheKey(asked));
    this.addText(text, speaker, { seconds, isAsked });
  }

  /** Counts a text, which need not be cut into segments. */
  addText(
    text: string,
    { voice, speed = 1 }: Speaker,
    {
      seconds,
      isAsked = false,
    }: { readonly seconds?: number | undefined; readonly isAsked?: boolean | undefined } = {},
  ): void {
    const characters = countCodePoints(text);
    const usual = expectedSeconds(text) / speed;
    this.#segments += 1;
    this.#characters += characters;
    const pace = this.#paceOf(voice);
    if (seconds === undefined) pace.newUsual += usual;
    else {
      pace.kept += seconds / speed;
      pace.keptUsual += usual;
    }
    if (seconds !== undefined || isAsked) this.#inCache += 1;
    else {
      this.#charactersToSend += characters;
      if (voice.source.kind === 'service') this.paidCharacters += characters;
    }
  }

  get #seconds(): number {
    let sum = 0;
    for (const { kept, keptUsual, newUsual } of this.#paces.values())
      sum += kept + newUsual * (keptUsual > 0 ? kept / keptUsual : 1);
    return sum;
  }

  #paceOf(voice: Speaker['voice']): Pace {
    const pace = this.#paces.get(voice) ?? { kept: 0, keptUsual: 0, newUsual: 0 };
    this.#paces.set(voice, pace);
    return pace;
  }

  /**
   * Notes a text as asked for.
   * @param key a hash in hex
   * @returns true if the text was noted before
   */
  #isAsked(key: string): boolean {
    const hash = Number.parseInt(key.slice(0, 13), 16);
    const isAsked = this.#toSend.has(hash);
    this.#toSend.add(hash);
    return isAsked;
  }
}

interface ChapterCost {
  readonly number: number;
  readonly title: string | null;
  readonly level: number;
  readonly characters: number;
  /** Seconds of sound, with its pauses. */
  readonly duration: number;
  readonly price?: number;
  readonly currency?: string;
}

/** Divides the estimate of a run into chapters. */
class ChapterCosts {
  readonly list: ChapterCost[] = [];
  readonly #estimate: Estimate;
  readonly #pricing: Pricing | undefined;
  #heading: Heading | undefined;
  #before = { characters: 0, duration: 0, paid: 0 };

  constructor(estimate: Estimate, pricing: Pricing | undefined) {
    this.#estimate = estimate;
    this.#pricing = pricing;
  }

  /** Call this before a segment is added to the estimate, and with `undefined` at the end. */
  enter(heading: Heading | undefined): void {
    if (heading === this.#heading) return;
    const { result, paidCharacters: paid } = this.#estimate;
    if (this.#heading) {
      const { number, title = null, level } = this.#heading;
      this.list.push({
        number,
        title,
        level,
        characters: result.characters - this.#before.characters,
        duration: Math.max(0, Math.round(10 * (result.duration - this.#before.duration)) / 10),
        ...(this.#pricing && costOf(paid - this.#before.paid, this.#pricing)),
      });
    }
    this.#heading = heading;
    this.#before = { ...result, paid };
  }
}

interface LanguageShare {
  /** The language as the user names it, or else that of the run's voice; `null` if it is unknown. */
  readonly language: string | null;
  readonly speaker: string;
  readonly characters: number;
  /** Share of all characters, from 0 to 1. */
  readonly share: number;
}

/** The share of each language in a text, if languages have voices of their own (`--languages`). */
class LanguageShares {
  readonly #shares = new Map<string | null, Omit<LanguageShare, 'share'>>();
  readonly #usual: string | undefined;
  readonly #isAsked: boolean;

  constructor({ cast, speaker: { voice } }: DryRun['job']) {
    this.#isAsked = cast !== undefined && cast.languages.length > 0;
    this.#usual = languageOf(voice.language ?? '');
  }

  add({ text, role }: Segment): void {
    const language = role.language ?? this.#usual ?? null;
    const { characters = 0 } = this.#shares.get(language) ?? {};
    const speaker = labelOf(role.speaker.voice);
    this.#shares.set(language, { language, speaker, characters: characters + countCodePoints(text) });
  }

  /** The largest share comes first. */
  get list(): readonly LanguageShare[] {
    if (!this.#isAsked) return [];
    const shares = [...this.#shares.values()].toSorted((a, b) => b.characters - a.characters);
    const all = shares.reduce((sum, { characters }) => sum + characters, 0);
    return shares.map((share) => ({ ...share, share: Math.round((1000 * share.characters) / all) / 1000 }));
  }
}

function shareInWords({ language, speaker, share }: LanguageShare): string {
  const name = language === null ? 'others' : (languageName(language) ?? language);
  return `${printable(name)} ${Math.round(100 * share)} % (${printable(speaker)})`;
}

/** Returns a line for each chapter, in aligned columns. */
function chapterLines(chapters: readonly ChapterCost[]): readonly string[] {
  const rows = chapters.map(({ number, characters, duration: seconds, level, title, ...cost }) => {
    const name = '  '.repeat(level - 1) + printable(title ?? '(no title)');
    return [String(number), String(characters), duration(seconds), [...priceOf(cost), name].join('  ')];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}

function priceOf({ price, currency }: { readonly price?: number; readonly currency?: string }): string[] {
  return price === undefined ? [] : [priceInWords(price, currency)];
}

/** Request bodies that `--verbose` shows. */
const SHOWN_BODIES = 3;

type DryRun = Pick<Extract<Resolved, { mode: 'dry-run' }>, 'job' | 'pricing'>;

/**
 * Sends nothing; removes damaged entries of the cache.
 * @throws TtsError as the run does before it sends anything, but not for its key
 */
export async function dryRun({ job, pricing }: DryRun, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  await using _voices = job.voices;
  if (job.subtitles) checkFile(job.subtitles);
  const isLive = job.split ? false : await checkOutput(job.output, host);
  const estimate = new Estimate(job.mix);
  const bodies: string[] = [];
  const runText = await RunText.open(job.text, signal);
  const languageWarning = await checkLanguage(job, runText, context);
  await warnOfNamesBefore(job, runText, context);
  await openCache(job);
  const chapters = new ChapterCosts(estimate, pricing);
  const languages = new LanguageShares(job);
  let isFirst = true;
  for await (const segment of runText.segments(isLive, signal)) {
    if (segment.kind === 'segment') chapters.enter(segment.chapter);
    const speaker = segment.kind === 'silence' ? job.speaker : segment.role.speaker;
    await estimate.add(segment, isFirst, speaker, await job.voices.cacheFor(speaker));
    if (segment.kind === 'silence') continue;
    isFirst = false;
    languages.add(segment);
    if (notices.verbose && bodies.length < SHOWN_BODIES) bodies.push(requestBody(segment.text, speaker));
  }
  chapters.enter(undefined);
  if (isFirst) throw runText.blank();
  warnOfAbsent(job, notices);
  warnOfRoom(job, estimate.result.duration, context);
  const cost = { ...estimate.result, ...(pricing && costOf(estimate.paidCharacters, pricing)) };
  const remarks = [...runText.remarks, languageWarning];
  const book: Book = {
    chapters: chapters.list,
    languages: languages.list,
    remarks: remarks.filter((remark) => remark !== undefined),
    bodies,
  };
  notices.result(job.json ? asData(cost, book) : asText(cost, book, estimate.isGuessed));
  return ExitCode.ok;
}

/** Opens the cache before the text is cut, because the cutter looks for sound there. */
async function openCache({ voices, speaker, cast }: DryRun['job']): Promise<void> {
  for (const each of [speaker, ...(cast?.all ?? [])]) await voices.cacheFor(each);
}

type Cost = Estimated & Partial<ReturnType<typeof costOf>>;

interface Book {
  readonly chapters: ChapterCosts['list'];
  readonly languages: LanguageShares['list'];
  /** Remarks of the reader, such as what was left out of the book. */
  readonly remarks: readonly string[];
  readonly bodies: readonly string[];
}

function asData(cost: Cost, { bodies, ...book }: Book): object {
  const lists = { ...book, bodies: bodies.map((body) => JSON.parse(body)) };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { dryRun: true, ...cost, ...Object.fromEntries(filled) };
}

function asText(cost: Cost, { chapters, languages, remarks, bodies }: Book, isGuessed: boolean): string {
  return [
    `characters  ${cost.characters}`,
    `to send     ${cost.charactersToSend}`,
    `segments    ${cost.segments}`,
    `in cache    ${cost.inCache}`,
    `requests    ${cost.requests}`,
    `length      ${isGuessed ? 'about ' : ''}${duration(cost.duration)}`,
    ...priceOf(cost).map((price) => `price       ${price}`),
    ...(languages.length === 0 ? [] : [`languages   ${languages.map(shareInWords).join(', ')}`]),
    ...(chapters.length === 0 ? [] : [`chapters    ${chapters.length}`, ...chapterLines(chapters)]),
    ...remarks.map(printable),
    ...bodies.map(visible),
  ].join('\n');
}

type ShownText = Pick<Extract<Resolved, { mode: 'show-text' }>, 'text' | 'numbers'>;

/**
 * Prints the text that would be spoken. A reader of stdout that leaves is not an error.
 * @throws TtsError (output)
 */
export async function showText(
  { text: plan, numbers }: ShownText,
  { host: { stdout }, signal }: Context,
): Promise<number> {
  assertOpen(stdout);
  const text = await RunText.open(plan, signal);
  let isBlank = true;
  async function* printed(): AsyncGenerator<string> {
    const spacing = new Spacing();
    const worded = new NumbersInWords(numbers);
    let held = '';
    for await (const piece of text.pieces(signal)) {
      const written = piece.kind === 'chapter' && !isBlank ? EMPTY_LINE : spacing.of(piece);
      isBlank &&= written.trim() === '';
      held += await worded.push(written);
      // Buffer the many short paragraphs of a book, but show at once what somebody is still writing.
      if (held === '' || (held.length < BATCH && text.canBeReadAgain)) continue;
      yield held;
      held = '';
    }
    if (!isBlank) yield `${held}${await worded.end()}\n`;
  }
  try {
    await pipeline(
      printed,
      stdout.stream.on('error', () => {}),
      { end: false, signal },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (isReaderGone(error as Error)) return ExitCode.ok;
    throw error instanceof TtsError ? error : stdoutError(error);
  }
  if (isBlank) throw text.blank();
  return ExitCode.ok;
}

/** UTF-16 units of text that are buffered before they are printed. */
const BATCH = 16_384;

/** Puts numbers in words up to the last empty line: at any other place, a value may continue in the next text. */
class NumbersInWords {
  readonly #language: string | undefined;
  #held = '';

  constructor(language: string | undefined) {
    this.#language = language;
  }

  async push(text: string): Promise<string> {
    if (this.#language === undefined) return text;
    this.#held += text;
    const end = this.#held.length > LONGEST_HELD ? this.#held.length : this.#held.lastIndexOf(EMPTY_LINE);
    return end <= 0 ? '' : await this.#inWords(end);
  }

  end(): Promise<string> {
    return this.#inWords(this.#held.length);
  }

  async #inWords(end: number): Promise<string> {
    const [text, language] = [this.#held.slice(0, end), this.#language];
    this.#held = this.#held.slice(end);
    if (language === undefined) return text;
    return (await import('../text/in-words.ts')).numbersInWords(text, language);
  }
}

/** UTF-16 units of text without an empty line that are held back at most. */
const LONGEST_HELD = 65_536;
