import { writeSync } from 'node:fs';
import { extname } from 'node:path';
import { usageError } from '../kit/error.ts';
import { AtomicFile, type FileOptions, type Writer } from '../kit/file.ts';
import { pathOf, unwritable } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import type { Settings } from '../options/load.ts';
import { checkFile, lookAt } from '../out/open.ts';
import { frameBytes, type PcmFormat } from '../sound/pcm.ts';
import type { Place } from '../text/piece.ts';
import { cueTexts, linesOf, withoutBreaks } from '../text/screen.ts';
import type { Segment } from '../text/segment.ts';
import { sentences } from '../text/sentences.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { Part } from './ahead.ts';
import type { Listener, RunEvent } from './run.ts';

/** Start and end count frames. */
export interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface CueContext {
  /** Undefined for the only text of a run. */
  readonly file: string | undefined;
  readonly line: Place['line'];
  /** The text gives the voice this name; the speaker of the run has none. */
  readonly voice: string | undefined;
  /** The title of its chapter. */
  readonly chapter: string | undefined;
}

interface Cue extends TimedText, CueContext {
  /** From 1. */
  readonly number: number;
  /** True for a part of a segment, whose borders are estimated. */
  readonly isDivided: boolean;
  /** Their borders are estimated. */
  readonly sentences: readonly TimedText[];
}

/** The time is shared out in proportion to the characters. */
function shared(texts: readonly string[], { start, end }: Omit<TimedText, 'text'>): TimedText[] {
  const all = texts.reduce((sum, text) => sum + countCodePoints(text), 0);
  let before = 0;
  const border = () => start + Math.round(((end - start) * before) / all);
  return texts.map((text) => {
    const from = border();
    before += countCodePoints(text);
    return { text, start: from, end: border() };
  });
}

/** Divides a text that is too long for a screen. */
export function timedCues(timed: TimedText, sampleRate: number): Omit<Cue, 'number' | keyof CueContext>[] {
  const seconds = (timed.end - timed.start) / sampleRate;
  const cues = shared(cueTexts(withoutBreaks(timed.text), seconds), timed);
  return cues.map((cue) => ({
    ...cue,
    isDivided: cues.length > 1,
    sentences: shared(sentences(cue.text).map(withoutBreaks), cue),
  }));
}

export interface SubtitleStyle {
  head(sampleRate: number): string;
  cue(cue: Cue, sampleRate: number): string;
  readonly tail: string;
}

/** SubRip, as VLC and ffmpeg read it. */
const srt: SubtitleStyle = {
  head: () => '',
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, ',')}\n${linesOf(cue.text).join('\n')}\n\n`,
  tail: '',
};

/** The format is WebVTT of the W3C. */
const vtt: SubtitleStyle = {
  head: () => 'WEBVTT\n\n',
  cue: (cue, rate) =>
    `${cue.number}\n${times(cue, rate, '.')}\n${speakerName(cue)}${linesOf(cue.text).map(escapeMarkup).join('\n')}\n\n`,
  tail: '',
};

const json: SubtitleStyle = {
  head: (sampleRate) => `{"sampleRate":${sampleRate},"cues":[`,
  cue: (cue, rate) => `${cue.number === 1 ? '' : ','}\n${JSON.stringify(cueData(cue, rate))}`,
  tail: '\n]}\n',
};

const styles = new Map([
  ['.srt', srt],
  ['.vtt', vtt],
  ['.json', json],
]);

export function styleOf(name: string): SubtitleStyle | undefined {
  return styles.get(extname(name).toLowerCase());
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

function cueData({ file, line, voice, chapter, sentences, isDivided, ...cue }: Cue, sampleRate: number) {
  const seconds = ({ start, end }: TimedText) => ({ start: start / sampleRate, end: end / sampleRate });
  const frames = { startFrame: cue.start, endFrame: cue.end };
  const isOfMany = sentences.length > 1;
  const estimated = isDivided || isOfMany;
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
  };
}

/** Rounded from whole frames: errors do not add up. */
export function timestamp(frames: number, sampleRate: number, point: string): string {
  const milliseconds = Math.round((frames * 1000) / sampleRate);
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}${point}${String(milliseconds % 1000).padStart(3, '0')}`;
}

const ELSEWHERE = 'name another file with --subtitles';

/** Characters. */
const BATCH = 1 << 16;

export interface SubtitlesPlan extends FileOptions {
  readonly style: SubtitleStyle;
}

interface CurrentCue {
  readonly segment: Segment;
  readonly format: PcmFormat;
  readonly start: number;
}

/** The file appears when the sound is complete. */
export class Subtitles implements Listener {
  readonly #file: AtomicFile;
  readonly #name: string;
  readonly #style: SubtitleStyle;
  #current: CurrentCue | undefined;
  #frames = 0;
  #number = 0;
  #batch = '';

  constructor(file: AtomicFile, { name, style }: Pick<SubtitlesPlan, 'name' | 'style'>) {
    this.#file = file;
    this.#name = name;
    this.#style = style;
  }

  /** @throws TtsError (output) */
  on(event: RunEvent): void | Promise<void> {
    if (event.type === 'started') this.#begin(event.part, event.pauseFrames);
    if (event.type === 'sound' && this.#current)
      this.#frames += event.bytes / frameBytes(this.#current.format);
    return event.type === 'end' ? this.#complete() : undefined;
  }

  #begin({ segment, speech }: Part, pauseFrames: number): void {
    if (!speech) return;
    const { format } = speech;
    if (this.#current) this.#end(this.#current);
    else this.#write(this.#style.head(format.sampleRate));
    this.#frames += pauseFrames;
    this.#current = { segment, format, start: this.#frames };
  }

  async #complete(): Promise<void> {
    if (this.#current) this.#end(this.#current);
    this.#write(this.#style.tail);
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

  #end({ segment, format, start }: CurrentCue): void {
    const { text, place } = segment;
    const voice = segment.role.name;
    const chapter = segment.chapter?.title;
    const context = { file: place.source || undefined, line: place.line, voice, chapter };
    for (const cue of timedCues({ text, start, end: this.#frames }, format.sampleRate)) {
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
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file.fd, bytes, done);
    } catch (error) {
      throw unwritable(this.#name, error, ELSEWHERE);
    }
  }
}

export function openSubtitles(plan: SubtitlesPlan): Subtitles {
  return new Subtitles(AtomicFile.forOutput(plan), plan);
}

/** @throws TtsError (output) */
export function checkSubtitles(plan: SubtitlesPlan): void {
  checkFile(plan);
}

/** @throws TtsError (usage, output) */
export function planSubtitles(
  name: string,
  { callbackUrl, clobber }: Pick<Settings, 'callbackUrl' | 'clobber'>,
  host: Pick<Host, 'cwd'> & Writer,
): SubtitlesPlan {
  const style = styleOf(name);
  if (!style)
    throw usageError(`--subtitles: ${name} must end in .srt, .vtt or .json`, 'the ending chooses the format');
  if (callbackUrl)
    throw usageError(
      'there are no subtitles with --callback-url',
      'leave out one of the two: the sound goes elsewhere, and only what is heard here can be timed',
    );
  try {
    const path = pathOf(host.cwd, name);
    const old = lookAt(path, name);
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
