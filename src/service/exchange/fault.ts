/** What goes wrong with an answer, on purpose. */
export interface Effects {
  /** Answer with this status instead of audio. */
  readonly status?: number;
  /** Seconds, sent with the status. */
  readonly retryAfter?: number;
  /** Milliseconds to wait before anything else. */
  readonly delay?: number;
  /** Bytes of the body after which the connection is closed. */
  readonly dropAfter?: number;
  /** The HTTP message ends as it should, but behind half of the samples that the WAV header promises. */
  readonly truncate?: boolean;
  readonly wavHeader?: HeaderFault;
  readonly contentType?: string;
  /** Never answer. */
  readonly hang?: boolean;
}

/**
 * `zero` and `max` stand in both size fields (`max` is 0xFFFFFFFF); `per-chunk` puts a header in front of every
 * piece of sound; `none` leaves bare PCM.
 */
export const headerFaults = ['zero', 'max', 'per-chunk', 'none'] as const;
export type HeaderFault = (typeof headerFaults)[number];

/** Effects, and the requests that they happen to. */
export interface Fault {
  /** As it was written, for people. */
  readonly spec: string;
  readonly effects: Effects;
  /** Only for texts that hold this. */
  readonly match?: string;
  /** Share of the requests, 0 to 1. */
  readonly rate?: number;
  /** Only for so many requests. */
  readonly times?: number;
}

/**
 * Says for each text what goes wrong. Of several faults that meet one request, the first has the say, those that take
 * the place of the audio before those that spoil it; only those that had a say are counted.
 * @param random numbers from 0 to 1 (exclusive)
 */
export function createFaults(faults: readonly Fault[], random = Math.random): (text: string) => Effects {
  const left = new Map(faults.map((fault) => [fault, fault.times ?? Number.POSITIVE_INFINITY]));
  const meets = (fault: Fault, text: string) =>
    (left.get(fault) ?? 0) > 0 && text.includes(fault.match ?? '') && random() < (fault.rate ?? 1);
  const ordered = faults.toSorted(
    (a, b) => Number(replacesAudio(b.effects)) - Number(replacesAudio(a.effects)),
  );
  return (text) => {
    let sum: Effects = {};
    for (const fault of ordered.filter((one) => meets(one, text))) {
      const added = addedTo(sum, fault.effects);
      if (Object.keys(added).length > 0) left.set(fault, (left.get(fault) ?? 0) - 1);
      sum = { ...sum, ...added };
    }
    return sum;
  };
}

function replacesAudio({ status, hang }: Effects): boolean {
  return status !== undefined || hang === true;
}

/** What of further effects still shows: where there is no audio any more, an answer can be late, but not spoilt. */
function addedTo(sum: Effects, further: Effects): Effects {
  const shows = (name: string) => !(name in sum) && (name === 'delay' || !replacesAudio(sum));
  return Object.fromEntries(Object.entries(further).filter(([name]) => shows(name)));
}
