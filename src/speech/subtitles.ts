import { writeSync } from 'node:fs';
import { frameBytes, type PcmFormat } from '../audio/pcm.ts';
import { usageError } from '../error.ts';
import { AtomicFile } from '../files/atomic-file.ts';
import type { Writer } from '../files/part-name.ts';
import { pathOf } from '../files/paths.ts';
import { type FileOptions, unwritable } from '../files/writable.ts';
import type { Host } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { checkFile, lookAt } from '../sink/open.ts';
import type { Segment } from '../text/segment.ts';
import { roleIn } from './cast/cast.ts';
import { type SubtitleStyle, styleOf, timedCues } from './cues.ts';
import type { Listener } from './deliver.ts';
import type { Part } from './look-ahead.ts';

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

  onPart({ segment, speech }: Part, pauseFrames: number): void {
    if (!speech) return;
    const { format } = speech;
    if (this.#current) this.#end(this.#current);
    else this.#write(this.#style.head(format.sampleRate));
    this.#frames += pauseFrames;
    this.#current = { segment, format, start: this.#frames };
  }

  onPiece(bytes: number): void {
    if (this.#current) this.#frames += bytes / frameBytes(this.#current.format);
  }

  /** @throws TtsError (output) */
  async complete(): Promise<void> {
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
    const voice = roleIn(segment)?.name;
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
