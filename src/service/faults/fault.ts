import { setTimeout as sleep } from 'node:timers/promises';
import { yieldToEventLoop } from '../../async.ts';

export interface Effects {
  /** This status is sent in place of audio. */
  readonly status?: number;
  /** Seconds. The header `Retry-After` has them. */
  readonly retryAfter?: number;
  /** Milliseconds. The answer waits for them. */
  readonly delay?: number;
  /** Bytes. The connection ends after them. */
  readonly dropAfter?: number;
  /** True ends the answer after half of the promised samples. */
  readonly truncate?: boolean;
  readonly wavHeader?: HeaderFault;
  readonly contentType?: string;
  readonly hang?: boolean;
  /** The connection ends like this after `dropAfter` bytes, or in place of an answer. */
  readonly ending?: 'reset' | 'close';
  /** Bytes per second. */
  readonly bandwidth?: number;
  /** Bytes. No write is longer. */
  readonly slice?: number;
}

/** `zero` and `max` (0xFFFFFFFF) spoil both size fields; `per-chunk` repeats the header; `none` is bare PCM. */
export const headerFaults = ['zero', 'max', 'per-chunk', 'none'] as const;
export type HeaderFault = (typeof headerFaults)[number];

export const LISTED_REQUESTS = 1000;

export interface Fault {
  /** The fault, as the user wrote it. */
  readonly spec: string;
  readonly effects: Effects;
  readonly match?: string;
  readonly speaker?: number;
  readonly after?: number;
  readonly every?: number;
  /** The share of the requests that meet it, from 0 to 1. */
  readonly rate?: number;
  readonly times?: number;
}

export interface FaultOutcome {
  readonly effects: Effects;
  readonly specs: readonly string[];
}

/**
 * Faults in place of audio come first. An effect that is set is not replaced.
 * @param random gives a number from 0 to below 1
 */
export function createFaults(
  faults: readonly Fault[],
  random = Math.random,
): (text: string, speaker?: number) => FaultOutcome {
  const remaining = new Map(faults.map((fault) => [fault, fault.times ?? Number.POSITIVE_INFINITY]));
  const seen = new Map<Fault, number>();
  const meets = (fault: Fault, text: string, speaker: number | undefined) => {
    const { match = '', after = 0, every = 1, rate = 1 } = fault;
    if (!text.includes(match) || (fault.speaker !== undefined && fault.speaker !== speaker)) return false;
    const number = (seen.get(fault) ?? 0) + 1;
    seen.set(fault, number);
    const isDue = number > after && (number - after) % every === 0;
    return isDue && (remaining.get(fault) ?? 0) > 0 && random() < rate;
  };
  const ordered = faults.toSorted(
    (a, b) => Number(replacesAudio(b.effects)) - Number(replacesAudio(a.effects)),
  );
  return (text, speaker) => {
    let effects: Effects = {};
    const specs: string[] = [];
    for (const fault of ordered.filter((one) => meets(one, text, speaker))) {
      const added = addedTo(effects, fault.effects);
      if (Object.keys(added).length === 0) continue;
      remaining.set(fault, (remaining.get(fault) ?? 0) - 1);
      specs.push(fault.spec);
      effects = { ...effects, ...added };
    }
    return { effects, specs };
  };
}

function replacesAudio({ status, hang, ending, dropAfter }: Effects): boolean {
  return status !== undefined || hang === true || (ending !== undefined && dropAfter === undefined);
}

function addedTo(sum: Effects, further: Effects): Effects {
  const isDropped = sum.dropAfter !== undefined;
  const shows = (name: string) =>
    !(name in sum) && (name === 'delay' || !replacesAudio(sum)) && !(name === 'ending' && isDropped);
  return Object.fromEntries(Object.entries(further).filter(([name]) => shows(name)));
}

const WRITES_PER_SECOND = 20;

/** Milliseconds. A longer pause of the engine does not make later bytes faster. */
const CATCH_UP = 100;

/** Milliseconds. Node's timers wait no longer. */
const LONGEST_SLEEP = 2 ** 31 - 1;

export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { bandwidth = Number.POSITIVE_INFINITY, slice = Math.ceil(bandwidth / WRITES_PER_SECOND) }: Effects,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let due = performance.now();
  for await (const piece of body) {
    for (let at = 0; at < piece.length; at += slice) {
      const wait = Math.min(due - performance.now(), LONGEST_SLEEP);
      // A turn of the event loop keeps two writes apart.
      await (wait >= 1 ? sleep(wait, undefined, { signal }) : yieldToEventLoop());
      const part = piece.subarray(at, at + slice);
      due = Math.max(due, performance.now() - CATCH_UP) + (1000 * part.length) / bandwidth;
      yield part;
    }
  }
}
