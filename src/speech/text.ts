import { setImmediate as turn } from 'node:timers/promises';
import { type TtsError, usageError } from '../error.ts';
import { decode } from '../reading/decode.ts';
import {
  abortable,
  fileInStdin,
  type InputOptions,
  lookAt,
  openFile,
  type Prepare,
  readInput,
  readWhole,
} from '../reading/source.ts';
import { countLineBreaks } from '../text/lines.ts';
import { liveSegments } from '../text/live.ts';
import { type Segment, type SegmentOptions, segments } from '../text/segmenter.ts';

/** Between turns of the event loop. */
const BETWEEN_TURNS = 256;

/** UTF-16 units; 75 hours of speech. */
const LONGEST_WHOLE = 4 * 1024 * 1024;

/**
 * Files are checked to their end before the first segment leaves.
 * @throws TtsError (usage)
 */
export async function* readSegments(
  input: InputOptions,
  options: SegmentOptions,
  signal: AbortSignal,
): AsyncGenerator<Segment> {
  const { live } = await check(input, signal);
  const lines = new InputLines();
  const prepare = lines.follow(input.prepare, live && options.pace === 'ramp');
  const text = lines.count(readInput({ ...input, prepare }, signal));
  const found = segmentsOf(text, { ...options, live }, signal);
  for await (const segment of found) {
    const { file, line } = lines.sourceOf(segment);
    yield { ...segment, line, ...(input.files.length > 1 && { file }) };
    if (segment.index % BETWEEN_TURNS === BETWEEN_TURNS - 1) await turn();
  }
}

function segmentsOf(
  text: AsyncIterable<string>,
  { live, ...options }: SegmentOptions & { readonly live: boolean },
  signal: AbortSignal,
): AsyncIterable<Segment> {
  if (options.pace === 'whole') return segments(whole(text), options);
  return live ? liveSegments(text, options, signal) : segments(text, options);
}

async function* whole(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield await readWhole(text, LONGEST_WHOLE, () =>
    usageError(
      `the text is longer than ${LONGEST_WHOLE} characters, but --callback-url needs it in one request`,
      'speak it in parts, or without --callback-url: then it is cut into many requests',
    ),
  );
}

async function check({ files, cwd, stdin }: InputOptions, signal: AbortSignal): Promise<{ live: boolean }> {
  const regular = files.filter((name) => name !== '-' && lookAt(name, cwd).isFile());
  for (const name of regular) for await (const _ of decode(openFile(name, cwd, signal), name));
  const redirected = files.includes('-') ? fileInStdin(stdin()) : undefined;
  if (redirected) for await (const _ of decode(abortable(redirected, signal), 'stdin'));
  return { live: regular.length < files.length };
}

interface Source {
  readonly name: string;
  /** In the joined text. */
  readonly before: number;
  readonly isAsWritten: boolean;
}

class InputLines {
  readonly #sources: Source[] = [];
  #breaks = 0;

  /** The line breaks before each source are counted. */
  follow(prepare: Prepare | undefined, isLive: boolean): Prepare {
    return (name, text) => {
      const prepared = prepare ? prepare(name, text, isLive) : text;
      this.#sources.push({ name, before: this.#breaks, isAsWritten: prepared === text });
      return prepared;
    };
  }

  async *count(text: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of text) {
      this.#breaks += countLineBreaks(piece);
      yield piece;
    }
  }

  sourceOf({ line = 1 }: Segment): Pick<Segment, 'file' | 'line'> {
    const source = this.#sources.findLast(({ before }) => before < line);
    return { file: source?.name, line: source?.isAsWritten ? line - source.before : undefined };
  }
}

export function blankText(): TtsError {
  return usageError(
    'nothing to say: the text is blank',
    'give words, a file with -f, or text through a pipe',
  );
}
