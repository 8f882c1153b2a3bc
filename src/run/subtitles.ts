import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { usageError } from '../kit/error.ts';
import { AtomicFile, type FileOptions, type Writer } from '../kit/file.ts';
import { pathOf, unwritable } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import type { Settings } from '../options/load.ts';
import { outputStats } from '../out/open.ts';
import { type PcmFormat, timestamp } from '../sound/pcm.ts';
import { cueTexts, linesOf, withoutBreaks } from '../text/cue-lines.ts';
import type { Place } from '../text/piece.ts';
import type { Segment, Span } from '../text/segment.ts';
import { sentences } from '../text/sentences.ts';
import { countCodePoints, inkOf } from '../text/unicode.ts';
import type { Part } from './ahead.ts';
import type { Listener, RunEvent } from './run.ts';
import { EXPECTED_ERROR, type TimedWords, type TimeSource, type WordTimes } from './words.ts';

/** Start and end are in frames. */
export interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface CueContext {
  /** Undefined for the only text of a run. */
  readonly file: string | undefined;
  readonly line: Place['line'];
  /** The name that the text gives the voice; the speaker of the run has none. */
  readonly voice: string | undefined;
  /** The title of the chapter. */
  readonly chapter: string | undefined;
}

/** A word with its times, in the text of a cue or a segment. */
interface CueWord extends TimedText {
  /** Its characters in the input, if they are known. */
  readonly span?: Span | undefined;
}

interface CueWords {
  readonly source: TimeSource;
  readonly list: readonly CueWord[];
}

interface Cue extends TimedText, CueContext {
  /** Set with `--words`. */
  readonly words?: CueWords | undefined;
  /** From 1. */
  readonly number: number;
  /** True for a part of a segment, whose borders are estimated. */
  readonly isDivided: boolean;
  /** The sentences of the cue, with estimated borders. */
  readonly sentences: readonly TimedText[];
}

/** Times the parts of a text: by their words, if those are timed; otherwise in proportion to the characters. */
function timedParts(
  texts: readonly string[],
  { start, end }: Omit<TimedText, 'text'>,
  words: readonly CueWord[] = [],
): (TimedText & { readonly words: readonly CueWord[] })[] {
  const all = texts.reduce((sum, text) => sum + countCodePoints(text), 0);
  const places = inkPlaces(words);
  let [characters, ink, from] = [0, 0, 0];
  const parts = texts.map((text) => {
    const estimated = start + Math.round(((end - start) * characters) / all);
    const begin = from === 0 ? start : (words[from]?.start ?? estimated);
    characters += countCodePoints(text);
    ink += inkOf(text);
    const first = from;
    while ((places[from] ?? Number.POSITIVE_INFINITY) < ink) from += 1;
    const own = words.slice(first, from);
    return { text, words: own, start: words.length === 0 ? estimated : begin };
  });
  return parts.map((part, at) => ({ ...part, end: parts[at + 1]?.start ?? end }));
}

function inkPlaces(words: readonly CueWord[]): readonly number[] {
  let ink = 0;
  return words.map(({ text }) => {
    const place = ink;
    ink += inkOf(text);
    return place;
  });
}

/** The most words and characters of a group. A group also ends where a clause ends. */
const GROUP_WORDS = 4;
const GROUP_CHARACTERS = 24;

function groupsOf(words: readonly CueWord[]): string[] {
  const groups: string[][] = [];
  let isOpen = false;
  for (const { text } of words) {
    const last = groups.at(-1);
    const fits = last && last.length < GROUP_WORDS && last.join(' ').length + text.length < GROUP_CHARACTERS;
    if (isOpen && fits) last.push(text);
    else groups.push([text]);
    isOpen = !/[.,;:!?…—–]["'”’»)\]]*$/u.test(text);
  }
  return groups.map((group) => group.join(' '));
}

/** Divides a text into cues that fit a screen, or into groups of words. */
export function timedCues(
  timed: TimedText,
  sampleRate: number,
  { words, inGroups = false }: { readonly words?: CueWords | undefined; readonly inGroups?: boolean } = {},
): Omit<Cue, 'number' | keyof CueContext>[] {
  const seconds = (timed.end - timed.start) / sampleRate;
  const texts = words && inGroups ? groupsOf(words.list) : cueTexts(withoutBreaks(timed.text), seconds);
  const cues = timedParts(texts, timed, words?.list);
  return cues.map(({ words: list, ...cue }) => ({
    ...cue,
    words: words && { source: words.source, list },
    isDivided: cues.length > 1,
    sentences: timedParts(sentences(cue.text).map(withoutBreaks), cue, list).map(
      ({ words: _, ...sentence }) => sentence,
    ),
  }));
}

export interface SubtitleStyle {
  head?(sampleRate: number): string;
  cue(cue: Cue, sampleRate: number): string;
  /** Writes a comment on where the times of the next words come from. */
  note?(source: TimeSource): string;
  /** If words are timed, each cue is a group of words. */
  readonly inGroups?: boolean;
  /** True if it tells the places of words in the input. */
  readonly namesPlaces?: boolean;
  readonly tail?: string;
}

/** SubRip, as VLC and ffmpeg read it. */
const srt: SubtitleStyle = {
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, ',')}\n${linesOf(cue.text).join('\n')}\n\n`,
  inGroups: true,
};

/** The format is WebVTT of the W3C. */
const vtt: SubtitleStyle = {
  head: () => 'WEBVTT\n\n',
  note: (source) => `NOTE ${wordNote(source)}\n\n`,
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, '.')}\n${speakerName(cue)}${vttText(cue, rate)}\n\n`,
};

/** Advanced SubStation Alpha, as libass and Aegisub read it. */
const ass: SubtitleStyle = {
  head: () => `[Script Info]
ScriptType: v4.00+
WrapStyle: 0
PlayResX: 1280
PlayResY: 720

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Sans,48,&H00FFFFFF,&H00A0A0A0,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,40,40,40,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`,
  note: (source) => `Comment: 0,0:00:00.00,0:00:00.00,Default,,0,0,0,,${wordNote(source)}\n`,
  cue: (cue, rate) =>
    `Dialogue: 0,${assTime(cue.start, rate)},${assTime(cue.end, rate)},Default,${assName(cue)},0,0,0,,${assText(cue, rate)}\n`,
};

const json: SubtitleStyle = {
  namesPlaces: true,
  head: (sampleRate) => `{"sampleRate":${sampleRate},"cues":[`,
  cue: (cue, rate) => `${cue.number === 1 ? '' : ','}\n${JSON.stringify(cueData(cue, rate))}`,
  tail: '\n]}\n',
};

const styles = new Map([
  ['.srt', srt],
  ['.vtt', vtt],
  ['.ass', ass],
  ['.json', json],
]);

function wordNote(source: TimeSource): string {
  const error = Math.round(EXPECTED_ERROR[source] * 1000);
  return `word times: ${source}, ${error} ms off on average`;
}

/**
 * Returns the lines of a cue with a mark before each word.
 * @param before makes the mark of a word
 */
function markedLines(
  { text, words }: Cue,
  escaped: (text: string) => string,
  before: (word: CueWord, number: number) => string,
): string[] {
  const places = new Map(inkPlaces(words?.list ?? []).map((place, number) => [place, number]));
  let ink = 0;
  return linesOf(text).map((line) =>
    Array.from(line, (character) => {
      const number = /\s/u.test(character) ? undefined : places.get(ink);
      const word = number === undefined ? undefined : words?.list[number];
      ink += inkOf(character);
      return (word && number !== undefined ? before(word, number) : '') + escaped(character);
    }).join(''),
  );
}

/** Puts a time before each word that begins after the start of the cue and before its end, as WebVTT requires. */
function vttText(cue: Cue, rate: number): string {
  let last = timestamp(cue.start, rate);
  const end = timestamp(cue.end, rate);
  const before = ({ start }: CueWord) => {
    const time = timestamp(start, rate);
    if (time <= last || time >= end) return '';
    last = time;
    return `<${time}>`;
  };
  return markedLines(cue, escapeMarkup, before).join('\n');
}

/** Gives each word the time until the next one begins. */
function assText(cue: Cue, rate: number): string {
  const list = cue.words?.list ?? [];
  const centiseconds = (frames: number) => Math.round((frames * 100) / rate);
  const before = ({ start }: CueWord, number: number) => {
    const lead =
      number === 0 && start > cue.start ? `{\\k${centiseconds(start) - centiseconds(cue.start)}}` : '';
    const end = list[number + 1]?.start ?? cue.end;
    return `${lead}{\\k${centiseconds(end) - centiseconds(start)}}`;
  };
  return markedLines(cue, escapeAss, before).join('\\N');
}

/** Replaces the characters that begin commands by their full-width forms. */
function escapeAss(text: string): string {
  return text.replaceAll('\\', '＼').replaceAll('{', '｛').replaceAll('}', '｝');
}

function assName({ voice = '' }: Cue): string {
  return voice.replace(/[,\r\n]/gu, ' ');
}

function assTime(frames: number, sampleRate: number): string {
  const centiseconds = Math.round((frames * 100) / sampleRate);
  const [minutes, rest] = [Math.floor(centiseconds / 6000), centiseconds % 6000];
  const two = (number: number) => String(number).padStart(2, '0');
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(Math.floor(rest / 100))}.${two(rest % 100)}`;
}

function times({ start, end }: TimedText, sampleRate: number, point: string): string {
  return `${timestamp(start, sampleRate, point)} --> ${timestamp(end, sampleRate, point)}`;
}

/** WebVTT names the voice of a cue in a tag. */
function speakerName({ voice }: Cue): string {
  return voice === undefined ? '' : `<v ${escapeMarkup(voice)}>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function cueData(
  { file, line, voice, chapter, sentences, isDivided, words, ...cue }: Cue,
  sampleRate: number,
) {
  const seconds = ({ start, end }: TimedText) => ({ start: start / sampleRate, end: end / sampleRate });
  const frames = { startFrame: cue.start, endFrame: cue.end };
  const isOfMany = sentences.length > 1;
  const estimated = (isDivided || isOfMany) && (words === undefined || words.source === 'spread');
  return {
    number: cue.number,
    ...seconds(cue),
    ...frames,
    file,
    line,
    voice,
    chapter,
    text: cue.text,
    estimated,
    ...(isOfMany && {
      sentences: sentences.map((sentence) => ({ ...seconds(sentence), text: sentence.text, estimated })),
    }),
    ...(words && {
      source: words.source,
      error: EXPECTED_ERROR[words.source],
      words: words.list.map((word) => ({
        ...seconds(word),
        text: word.text,
        ...(word.span && { from: word.span.start, to: word.span.end }),
      })),
    }),
  };
}

const ELSEWHERE = 'name another file with --subtitles';

/** Characters that are buffered before a write. */
const BATCH = 1 << 16;

export interface SubtitlesPlan extends FileOptions {
  readonly style: SubtitleStyle;
}

interface CurrentCue {
  readonly segment: Segment;
  readonly format: PcmFormat;
  readonly start: number;
  end: number;
}

/** Writes subtitles to a file that appears when the sound is complete. */
export class Subtitles implements Listener {
  readonly #file: AtomicFile;
  readonly #name: string;
  readonly #style: SubtitleStyle;
  readonly #words: WordTimes | undefined;
  #current: CurrentCue | undefined;
  #isBegun = false;
  #number = 0;
  #source: TimeSource | undefined;
  #batch = '';
  /** Settles when all cues so far are written. Each segment waits for its words and for the segment before. */
  #written: Promise<void> = Promise.resolve();

  /**
   * @param words finds the word times, for `--words`
   * @throws TtsError (output) for a file that cannot be written
   */
  constructor(plan: SubtitlesPlan, words: WordTimes | undefined) {
    this.#file = AtomicFile.forOutput(plan);
    this.#name = plan.name;
    this.#style = plan.style;
    this.#words = words;
  }

  /** @throws TtsError (output) */
  on(event: RunEvent): void | Promise<void> {
    if (event.type === 'started') this.#begin(event.part, event.at);
    if (event.type === 'sound' && this.#current) {
      this.#current.end = event.at;
      this.#words?.sound(event.pcm);
    }
    if (event.type === 'spoken') return this.#end();
    return event.type === 'end' ? this.#complete() : undefined;
  }

  #begin(part: Part, at: number): void {
    const { segment, speech } = part;
    if (!speech) return;
    const { format } = speech;
    // A segment that was dropped gets no `spoken` event.
    void this.#end();
    if (!this.#isBegun) this.#write(this.#style.head?.(format.sampleRate) ?? '');
    this.#isBegun = true;
    this.#words?.begin(part, format);
    this.#current = { segment, format, start: at, end: at };
  }

  /** @returns settles when the previous segment is written, so that at most two segments wait for their words */
  #end(): Promise<void> | undefined {
    const [current, before] = [this.#current, this.#written];
    this.#current = undefined;
    if (!current) return undefined;
    const timed = this.#words?.end();
    if (!timed) {
      this.#writeCues(current);
      return undefined;
    }
    this.#written = before.then(async () => this.#writeCues(current, await timed));
    this.#written.catch(() => {});
    return before;
  }

  async #complete(): Promise<void> {
    void this.#end();
    await this.#written;
    this.#write(this.#style.tail ?? '');
    this.#flush();
    await this.#file.prepare();
  }

  async publish(signal: AbortSignal): Promise<void> {
    await this.#file.publish(signal);
  }

  /** Never throws. */
  discard(): void {
    this.#file.discard();
  }

  #writeCues({ segment, format, start, end }: CurrentCue, timed?: TimedWords): void {
    const { text, place } = segment;
    const voice = segment.role.name;
    const chapter = segment.chapter?.title;
    const context = { file: place.source || undefined, line: place.line, voice, chapter };
    const words = timed && {
      source: timed.source,
      list: timed.words.map((word) => ({
        text: word.text,
        start: start + word.start,
        end: start + word.end,
        span: segment.wordSpan?.(word.at, word.text.length),
      })),
    };
    if (words && words.source !== this.#source) this.#write(this.#style.note?.(words.source) ?? '');
    this.#source = words?.source;
    const { inGroups = false } = this.#style;
    for (const cue of timedCues({ text, start, end }, format.sampleRate, { words, inGroups })) {
      this.#number += 1;
      this.#write(this.#style.cue({ ...cue, ...context, number: this.#number }, format.sampleRate));
    }
  }

  #write(text: string): void {
    this.#batch += text;
    if (this.#batch.length >= BATCH) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#batch);
    this.#batch = '';
    try {
      writeFileSync(this.#file.fd, bytes);
    } catch (error) {
      throw unwritable(this.#name, error, ELSEWHERE);
    }
  }
}

/** @throws TtsError (usage, output) */
export function planSubtitles(
  name: string,
  { callbackUrl, clobber }: Pick<Settings, 'callbackUrl' | 'clobber'>,
  host: Pick<Host, 'cwd'> & Writer,
): SubtitlesPlan {
  const style = styles.get(extname(name).toLowerCase());
  if (!style)
    throw usageError(
      `--subtitles: ${name} must end in .srt, .vtt, .ass or .json`,
      'the ending chooses the format',
    );
  if (callbackUrl)
    throw usageError(
      'there are no subtitles with --callback-url',
      'leave out one of the two: the sound goes elsewhere, and only what is heard here can be timed',
    );
  try {
    const path = pathOf(host.cwd, name);
    const old = outputStats(path, name);
    if (old && !old.isFile())
      throw usageError(
        `--subtitles: ${name} is not a regular file`,
        'they appear when they are whole: name a file',
      );
    return { name, path, old, clobber: clobber.value, writer: host, elsewhere: ELSEWHERE, style };
  } catch (error) {
    throw unwritable(name, error, ELSEWHERE);
  }
}
