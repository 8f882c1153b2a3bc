import { ExitCode, TtsError } from '../kit/error.ts';
import type { Settings } from '../options/load.ts';
import type { Speaker } from '../sound/voice.ts';
import type { Segment } from '../text/segment.ts';
import { excerpt } from '../text/unicode.ts';
import type { Voices } from './voices.ts';

/** How a run continued in another voice. */
export interface FellBack {
  /** The voice as the user names it. */
  readonly voice: string;
  readonly error: TtsError;
  /** The first segment that the other voice speaks. */
  readonly from: Segment;
  /** The segment whose sound broke off: the rest of it is not heard. */
  readonly broken: Segment | undefined;
}

interface Planning {
  /** The voice of the run. */
  readonly speaker: Speaker;
  readonly voices: Pick<Voices, 'cast'>;
  readonly makesFile: () => Promise<boolean>;
}

/**
 * @returns `undefined` if no other voice may take over: a file keeps one voice, unless `--keep-going` is set
 * @throws TtsError (usage) for an unknown voice
 */
export async function planFallback(
  { fallback, keepGoing, callbackUrl, split }: Settings,
  { speaker, voices, makesFile }: Planning,
): Promise<Fallback | undefined> {
  if (!fallback) return undefined;
  const other = await voices.cast(fallback, { mayAskService: false });
  const isUseless = other === speaker || callbackUrl !== undefined || split !== undefined;
  if (isUseless || (!keepGoing.value && (await makesFile()))) return undefined;
  return new Fallback(other, String(fallback.value));
}

/** Seconds without sound after which a fallback takes over, unless `--patience` is set. */
const USUAL_PATIENCE = 5;

export function planPatience({ patience }: Settings, hasFallback: boolean): Patience | undefined {
  const seconds = patience?.value ?? (hasFallback ? USUAL_PATIENCE : undefined);
  return seconds === undefined ? undefined : new Patience(seconds, hasFallback);
}

/** A voice that takes over when another one fails, until the end of the run. It never starts inside a segment. */
export class Fallback {
  readonly speaker: Speaker;
  readonly #name: string;
  #from = Number.POSITIVE_INFINITY;
  #error: TtsError | undefined;
  #broken: Segment | undefined;
  /** Set when the voice is first heard. */
  outcome: FellBack | undefined;

  /** @param name of the voice, as the user wrote it */
  constructor(speaker: Speaker, name: string) {
    this.speaker = speaker;
    this.#name = name;
  }

  speaks({ index }: Pick<Segment, 'index'>): boolean {
    return index >= this.#from;
  }

  /**
   * @param isBroken true if a part of the segment was heard: the fallback then starts with the next one
   * @returns false if the fallback does not help
   */
  takesOver(error: unknown, failed: Segment, isBroken: boolean): boolean {
    if (!isOutage(error) || this.speaks(failed)) return false;
    const from = isBroken ? failed.index + 1 : failed.index;
    if (isBroken) this.#broken = failed;
    if (from <= this.#from) this.#error = error;
    this.#from = Math.min(this.#from, from);
    return true;
  }

  /**
   * Call this when the sound of a segment begins.
   * @returns how the run continued, when the fallback is heard for the first time
   */
  begun(segment: Segment): FellBack | undefined {
    if (this.outcome || !this.#error || !this.speaks(segment)) return undefined;
    this.outcome = { voice: this.#name, error: this.#error, from: segment, broken: this.#broken };
    return this.outcome;
  }
}

/** True if the service or engine is at fault, so that any other text would fail, too. */
function isOutage(error: unknown): error is TtsError {
  if (!(error instanceof TtsError) || error.concernsThisTextOnly) return false;
  const { retry, isOutage, exitCode } = error;
  return retry !== undefined || isOutage || OUTAGES.has(exitCode);
}

const OUTAGES: ReadonlySet<ExitCode> = new Set([ExitCode.quota, ExitCode.timeout, ExitCode.connection]);

/** @returns one line on the change of the voice */
export function fellBackInWords({ voice, error, from, broken }: FellBack): string {
  const rest = broken ? `the rest of "${excerpt(broken.text)}" is missing, and ` : '';
  return `${error.message}; ${rest}${voice} speaks from "${excerpt(from.text)}" on`;
}

/** The longest time that a part may have no sound when it is its turn, over all tries. */
export class Patience {
  readonly milliseconds: number;
  readonly #hasFallback: boolean;
  /** The error that led to the last retry. */
  #reason: TtsError | undefined;

  constructor(seconds: number, hasFallback: boolean) {
    this.milliseconds = seconds * 1000;
    this.#hasFallback = hasFallback;
  }

  /** Notes the error that led to a retry. */
  noteRetry(error: TtsError): void {
    this.#reason = error;
  }

  /** Returns the error of a part whose sound is late. */
  late(): TtsError {
    const over = `no sound came within ${this.milliseconds / 1000} s`;
    const { message, exitCode = ExitCode.timeout } = this.#reason ?? {};
    return new TtsError(message === undefined ? over : `${over}: ${message}`, {
      exitCode,
      hint: `wait longer with --patience${this.#hasFallback ? '' : ', or have another voice speak on with --fallback VOICE'}`,
      isOutage: true,
    });
  }
}
