import { extname } from 'node:path';
import type { Place } from '../text/piece.ts';
import { sentences } from '../text/sentences.ts';
import { countCodePoints } from '../text/unicode.ts';

/** Start and end count frames. */
export interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Cue extends TimedText {
  /** From 1. */
  readonly number: number;
  /** Undefined for the only text of a run. */
  readonly file: string | undefined;
  readonly line: Place['line'];
  /** The text gives the voice this name; the speaker of the run has none. */
  readonly voice: string | undefined;
  /** The title of its chapter. */
  readonly chapter: string | undefined;
  /** Their borders are estimated. */
  readonly sentences: readonly TimedText[];
}

export function withoutBreaks(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** The time is shared out in proportion to the characters. */
export function timedSentences({ text, start, end }: TimedText): TimedText[] {
  const texts = sentences(text).map(withoutBreaks);
  const all = texts.reduce((sum, sentence) => sum + countCodePoints(sentence), 0);
  let before = 0;
  const border = () => start + Math.round(((end - start) * before) / all);
  return texts.map((sentence) => {
    const from = border();
    before += countCodePoints(sentence);
    return { text: sentence, start: from, end: border() };
  });
}

export interface SubtitleStyle {
  head(sampleRate: number): string;
  cue(cue: Cue, sampleRate: number): string;
  readonly tail: string;
}

/** SubRip, as VLC and ffmpeg read it. */
const srt: SubtitleStyle = {
  head: () => '',
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, ',')}\n${cue.text}\n\n`,
  tail: '',
};

/** The format is WebVTT of the W3C. */
const vtt: SubtitleStyle = {
  head: () => 'WEBVTT\n\n',
  cue: (cue, rate) =>
    `${cue.number}\n${times(cue, rate, '.')}\n${speakerOf(cue)}${escapeMarkup(cue.text)}\n\n`,
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
function speakerOf({ voice }: Cue): string {
  return voice === undefined ? '' : `<v ${escapeMarkup(voice)}>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function cueData({ file, line, voice, chapter, sentences, ...cue }: Cue, sampleRate: number) {
  const seconds = ({ start, end }: TimedText) => ({ start: start / sampleRate, end: end / sampleRate });
  const frames = { startFrame: cue.start, endFrame: cue.end };
  const estimated = sentences.length > 1;
  return {
    ...{
      number: cue.number,
      ...seconds(cue),
      ...frames,
      file,
      line,
      voice,
      chapter,
      text: cue.text,
      estimated,
    },
    ...(estimated && {
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
