import { decode } from './decode.ts';
import { type InputOptions, lookAt, openFile, readInput } from './input.ts';
import { InputLines } from './input-lines.ts';
import { liveSegments } from './live.ts';
import { type Segment, type SegmentOptions, segments } from './segment.ts';

/**
 * The segments of an input. What lies in files is checked to its end before the first segment leaves; what comes
 * through a pipe leaves as it comes, unless it is wanted whole.
 * @throws TtsError (usage) for what cannot be read or is no text
 */
export async function* readSegments(
  input: InputOptions,
  options: SegmentOptions,
  signal: AbortSignal,
): AsyncGenerator<Segment> {
  const { live } = await check(input, signal);
  const lines = new InputLines();
  const text = lines.counting(readInput({ ...input, prepare: lines.hearing(input.prepare) }, signal));
  const isLive = live && options.pace !== 'whole';
  const found = isLive ? liveSegments(text, options, signal) : segments(text, options);
  for await (const segment of found) {
    const { file, line } = lines.whereIs(segment);
    yield { ...segment, line, ...(input.files.length > 1 && { file }) };
  }
}

async function check({ files, cwd }: InputOptions, signal: AbortSignal): Promise<{ live: boolean }> {
  const regular = files.filter((name) => name !== '-' && lookAt(name, cwd).isFile());
  for (const name of regular) for await (const _ of decode(openFile(name, cwd, signal), name));
  return { live: regular.length < files.length };
}
