export interface Effects {
  /** In place of audio. */
  readonly status?: number;
  /** Seconds; sent with the status. */
  readonly retryAfter?: number;
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** Bytes of the body. */
  readonly dropAfter?: number;
  /** With half of the promised samples. */
  readonly truncate?: boolean;
  readonly wavHeader?: HeaderFault;
  readonly contentType?: string;
  readonly hang?: boolean;
  /** Behind `dropAfter`, or in place of an answer. */
  readonly ending?: 'reset' | 'close';
  /** Bytes of the body in a second. */
  readonly bandwidth?: number;
  readonly slice?: number;
}

/** `zero` and `max` (0xFFFFFFFF) are in both size fields; `per-chunk` repeats the header; `none` is bare PCM. */
export const headerFaults = ['zero', 'max', 'per-chunk', 'none'] as const;
export type HeaderFault = (typeof headerFaults)[number];

export const LISTED_REQUESTS = 1000;

export interface Fault {
  /** As typed. */
  readonly spec: string;
  readonly effects: Effects;
  readonly match?: string;
  readonly speaker?: number;
  readonly after?: number;
  readonly every?: number;
  /** 0 to 1. */
  readonly rate?: number;
  readonly times?: number;
}

export interface Met {
  readonly effects: Effects;
  readonly specs: readonly string[];
}

/**
 * Faults in place of audio come first; an effect that is set is not replaced.
 * @param random 0 to 1 (exclusive)
 */
export function createFaults(
  faults: readonly Fault[],
  random = Math.random,
): (text: string, speaker?: number) => Met {
  const left = new Map(faults.map((fault) => [fault, fault.times ?? Number.POSITIVE_INFINITY]));
  const seen = new Map<Fault, number>();
  const meets = (fault: Fault, text: string, speaker: number | undefined) => {
    const { match = '', after = 0, every = 1, rate = 1 } = fault;
    if (!text.includes(match) || (fault.speaker !== undefined && fault.speaker !== speaker)) return false;
    const number = (seen.get(fault) ?? 0) + 1;
    seen.set(fault, number);
    const isDue = number > after && (number - after) % every === 0;
    return isDue && (left.get(fault) ?? 0) > 0 && random() < rate;
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
      left.set(fault, (left.get(fault) ?? 0) - 1);
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
