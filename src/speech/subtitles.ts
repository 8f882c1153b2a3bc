import { realpathSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { passing } from '../async.ts';
import { frameBytes, type PcmFormat } from '../audio/pcm.ts';
import { usageError } from '../error.ts';
import { PartFile } from '../files/atomic-file.ts';
import type { Writer } from '../files/part-name.ts';
import { behindLinks, pathOf } from '../files/paths.ts';
import { type FileOptions, unwritable } from '../files/writable.ts';
import type { Host } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { checkFile, lookAt } from '../sink/open.ts';
import type { Segment } from '../text/segment.ts';
import { folded, placed, type Style, styleOf } from './cues.ts';
import { pauseFrames } from './deliver.ts';
import type { Part } from './look-ahead.ts';

/** What would have them written elsewhere. */
export const ELSEWHERE = 'name another file with --subtitles';

/** Characters that are written at once. */
const BATCH = 1 << 16;

export interface SubtitlesOptions {
  readonly file: PartFile;
  /** As the user named it. */
  readonly name: string;
  readonly style: Style;
  /** Seconds of silence between two paragraphs. */
  readonly paragraphPause: number;
}

interface Heard {
  readonly segment: Segment;
  readonly format: PcmFormat;
  /** The frame at which its sound begins. */
  readonly start: number;
}

/**
 * Writes down when each segment is heard, from the frames that go by. The file appears only when all of the sound is
 * complete.
 */
export class Subtitles {
  readonly #options: SubtitlesOptions;
  #current: Heard | undefined;
  #frames = 0;
  #number = 0;
  #batch = '';

  constructor(options: SubtitlesOptions) {
    this.#options = options;
  }

  /** The part with its frames counted. Parts are watched one after the other, each before it is read. */
  watch(part: Part): Part {
    const { segment, speech } = part;
    if (!speech) return part;
    const { format } = speech;
    if (this.#current) this.#end(this.#current);
    else this.#write(this.#options.style.head(format.sampleRate));
    this.#frames += pauseFrames(segment, format, this.#options.paragraphPause);
    this.#current = { segment, format, start: this.#frames };
    const count = (piece: Uint8Array) => {
      this.#frames += piece.length / frameBytes(format);
    };
    return { segment, speech: { ...speech, pcm: passing(speech.pcm, { each: count }) } };
  }

  /**
   * All of the sound has gone by.
   * @throws TtsError (output) where the file cannot be written: as long as the sound is not published either
   */
  async complete(): Promise<void> {
    if (this.#current) this.#end(this.#current);
    this.#write(this.#options.style.tail);
    this.#flush();
    await this.#options.file.settle();
  }

  /** After {@link complete}, when the sound is where it belongs. */
  async publish(signal: AbortSignal): Promise<void> {
    await this.#options.file.publish(signal);
  }

  /** Leaves no trace. Without effect on what is published. */
  discard(): void {
    this.#options.file.discard();
  }

  #end({ segment, format, start }: Heard): void {
    const { text, file, line } = segment;
    const timed = { text: folded(text), start, end: this.#frames };
    this.#number += 1;
    const cue = { ...timed, number: this.#number, file, line, sentences: placed({ ...timed, text }) };
    this.#write(this.#options.style.cue(cue, format.sampleRate));
  }

  #write(text: string): void {
    this.#batch += text;
    if (this.#batch.length >= BATCH) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#batch);
    this.#batch = '';
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#options.file.fd, bytes, done);
    } catch (error) {
      throw unwritable(this.#options.name, error, ELSEWHERE);
    }
  }
}

type Asked = Pick<Settings, 'subtitles' | 'output' | 'callbackUrl' | 'clobber' | 'paragraphPause'>;

/**
 * The subtitles that `--subtitles` asks for, if it does.
 * @throws TtsError (usage, output) when they cannot be written
 */
export function openSubtitles(asked: Asked, host: Pick<Host, 'cwd'> & Writer): Subtitles | undefined {
  const found = lookFor(asked, host);
  if (!found) return undefined;
  const { style, options } = found;
  const { name } = options;
  return new Subtitles({
    file: new PartFile(options),
    name,
    style,
    paragraphPause: asked.paragraphPause.value,
  });
}

/**
 * Nothing is made.
 * @throws TtsError (usage, output) where opening them would
 */
export function checkSubtitles(asked: Asked, host: Pick<Host, 'cwd'> & Writer): void {
  const found = lookFor(asked, host);
  if (found) checkFile(found.options);
}

interface Found {
  readonly style: Style;
  readonly options: FileOptions;
}

function lookFor(
  { subtitles, output, callbackUrl, clobber }: Asked,
  host: Pick<Host, 'cwd'> & Writer,
): Found | undefined {
  if (!subtitles) return undefined;
  const name = subtitles.value;
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
    if (output && placeOf(pathOf(host.cwd, output.value)) === placeOf(path))
      throw usageError(
        `--output and --subtitles are the same file: ${name}`,
        'name two: the sound is one, its text another',
      );
    const old = lookAt(path, name);
    if (old && !old.isFile())
      throw usageError(
        `--subtitles: ${name} is no regular file`,
        'they appear when they are whole: name a file',
      );
    const options = { name, path, old, clobber: clobber.value, writer: host, elsewhere: ELSEWHERE };
    return { style, options };
  } catch (error) {
    throw unwritable(name, error, ELSEWHERE);
  }
}

/** Where a file of this name is made, whatever links lead there. */
function placeOf(path: string): string {
  try {
    const file = behindLinks(path);
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    // Whoever opens it tells why it cannot be.
    return path;
  }
}
