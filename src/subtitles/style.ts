import { extname } from 'node:path';
import type { Cue, Timed } from './cue.ts';
import { timestamp } from './timestamp.ts';

/** How a kind of subtitles is written, piece by piece. */
export interface Style {
  head(sampleRate: number): string;
  cue(cue: Cue, sampleRate: number): string;
  readonly tail: string;
}

/** SubRip, as VLC and ffmpeg read it. */
const srt: Style = {
  head: () => '',
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, ',')}\n${cue.text}\n\n`,
  tail: '',
};

/** WebVTT (W3C). */
const vtt: Style = {
  head: () => 'WEBVTT\n\n',
  cue: (cue, rate) => `${cue.number}\n${times(cue, rate, '.')}\n${escaped(cue.text)}\n\n`,
  tail: '',
};

/** Seconds, and the frames that they were made from. */
const json: Style = {
  head: (sampleRate) => `{"sampleRate":${sampleRate},"cues":[`,
  cue: (cue, rate) => `${cue.number === 1 ? '' : ','}\n${JSON.stringify(inJson(cue, rate))}`,
  tail: '\n]}\n',
};

const styles = new Map([
  ['.srt', srt],
  ['.vtt', vtt],
  ['.json', json],
]);

/** The style that a file's name asks for by its ending. */
export function styleOf(name: string): Style | undefined {
  return styles.get(extname(name).toLowerCase());
}

function times({ start, end }: Timed, sampleRate: number, point: string): string {
  return `${timestamp(start, sampleRate, point)} --> ${timestamp(end, sampleRate, point)}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function inJson({ file, line, sentences, ...cue }: Cue, sampleRate: number) {
  const seconds = ({ start, end }: Timed) => ({ start: start / sampleRate, end: end / sampleRate });
  const frames = { startFrame: cue.start, endFrame: cue.end };
  const estimated = sentences.length > 1;
  return {
    ...{ number: cue.number, ...seconds(cue), ...frames, file, line, text: cue.text, estimated },
    ...(estimated && {
      sentences: sentences.map((sentence) => ({ ...seconds(sentence), text: sentence.text, estimated })),
    }),
  };
}
