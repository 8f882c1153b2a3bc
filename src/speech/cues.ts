import { extname } from 'node:path';
import type { Place } from '../text/piece.ts';
import { sentences } from '../text/sentences.ts';
import { countCodePoints } from '../text/unicode.ts';
import { cueTexts, linesOf, withoutBreaks } from './cues/cue-texts.ts';

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
