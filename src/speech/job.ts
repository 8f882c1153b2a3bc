import type { Host } from '../host.ts';
import type { Espeak } from '../service/engine/espeak/voices.ts';
import type { Flags, Settings } from '../settings/resolve.ts';
import type { Prepare } from '../text/input.ts';
import type { Segment, SegmentOptions } from '../text/segment.ts';
import { readSegments } from '../text/source.ts';
import type { NamedService } from './service-choice.ts';

/** What was asked for on the command line. */
export interface Order {
  readonly flags: Flags;
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** Set where the text is not to be spoken as it stands. */
  readonly prepare?: Prepare | undefined;
}

/** What is to be spoken, how, and by whom. */
export interface Task {
  readonly order: Order;
  readonly settings: Settings;
  /** `undefined` for the built-in one. */
  readonly service: NamedService | undefined;
  /** What the built-in one needs for the speakers from 101 on. */
  readonly espeak?: Espeak | undefined;
  readonly speaker: number;
}

/** The text of an order, in segments. */
export function readText(
  { words, files, prepare }: Order,
  options: SegmentOptions,
  { cwd, stdin }: Pick<Host, 'cwd' | 'stdin'>,
  signal: AbortSignal,
): AsyncIterable<Segment> {
  return readSegments({ words, files, prepare, cwd, stdin: () => stdin.stream }, options, signal);
}

/** Whether segments are kept. What the built-in service says costs nothing, and what goes elsewhere is not here to keep. */
export function isKept({ service, settings }: Pick<Task, 'service' | 'settings'>): boolean {
  return service !== undefined && settings.cache.value && !settings.callbackUrl;
}

/**
 * How a text is cut: one that goes to a callback is sent whole, one with subtitles sentence by sentence, and one that is
 * heard at once begins with its first sentence.
 * @param isLive somebody may hear it while it is made
 */
export function segmentOptions(
  { callbackUrl, maxChars, subtitles }: Pick<Settings, 'callbackUrl' | 'maxChars' | 'subtitles'>,
  isLive: boolean,
): SegmentOptions {
  if (callbackUrl) return { maxChars: Number.MAX_SAFE_INTEGER, pace: 'whole' };
  const bySentence = subtitles && maxChars.origin.place !== 'option';
  return { maxChars: maxChars.value, pace: bySentence ? 'sentence' : isLive ? 'ramp' : 'full' };
}
