import type { EngineSet, Speaker, Utterance } from '../../engine/contract.ts';
import { styleOf } from '../../engine/style.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { wellFormedStart } from '../http/json-body.ts';
import { DEFAULT_RETRY_AFTER, Refusal } from '../http/refusal.ts';
import type { SpeechRequest } from './request-check.ts';

interface SpeechOrder {
  readonly utterance: Utterance;
  readonly ignored: readonly string[];
}

/** Hz. The interface promises it. */
const DEFAULT_SAMPLE_RATE = 22_050;

/**
 * @param maxText the longest text, in code points
 * @throws Refusal 413 for a longer text; 422 for an unknown speaker, or an option that its kind does not have
 */
export async function orderOf(
  request: SpeechRequest,
  engine: EngineSet,
  maxText: number,
): Promise<SpeechOrder> {
  const { text, config = {} } = request;
  if (countCodePoints(text) > maxText) {
    throw new Refusal(413, 'text_too_long', `The text is longer than ${maxText} characters`, {
      field: 'text',
    });
  }
  const speaker = numberedSpeaker(request.speaker_no, engine);
  if (speaker === undefined) {
    const there = engine.speakers.length > 0 ? `; there are ${ranges(engine.speakers)}` : '';
    const message = `There is no speaker ${request.speaker_no}${there}`;
    throw new Refusal(422, 'unknown_speaker', message, { field: 'speaker_no' });
  }
  const { instructions, sample_rate: sampleRate, use_streaming_response: stream } = config;
  // A far service knows itself what its speakers can do.
  if (engine.isFar) {
    const { style, ignored } = await styleOf();
    return { utterance: { text, speaker, sampleRate, style, instructions, stream }, ignored };
  }
  if (sampleRate !== undefined) requireKind(speaker, 'neo.one', 'sample_rate');
  if (instructions !== undefined) requireKind(speaker, 'Mermish', 'instructions');
  const { style, ignored } = await styleOf(instructions);
  const rate = Math.round(sampleRate ?? DEFAULT_SAMPLE_RATE);
  const isWhole = stream !== true;
  return { utterance: { text, speaker, sampleRate: rate, style, instructions, isWhole }, ignored };
}

export function numberedSpeaker(no: number, engine: EngineSet): Speaker | undefined {
  return engine.numbered ? engine.numbered(no) : engine.speakers.find((speaker) => speaker.no === no);
}

function requireKind({ no, kind }: Speaker, needed: 'neo.one' | 'Mermish', option: string): void {
  if (kind === needed) return;
  throw new Refusal(
    422,
    'unsupported_option',
    `${option} is supported by speakers of the kind ${needed} only; speaker ${no} is of the kind ${kind}`,
    { field: `config.${option}` },
  );
}

/** @returns numbers in words: `1 to 5, 11 to 15` */
function ranges(speakers: readonly Speaker[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const no of speakers.map((speaker) => speaker.no).sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.last === no - 1) run.last = no;
    else runs.push({ first: no, last: no });
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`)).join(', ');
}

const IN_A_SECOND = 10;

/** Seconds. */
const LONGEST_WAIT = 60;

/** `Retry-After` covers the time of the queue. */
export function withPatience(
  error: unknown,
  { workers, queued }: Pick<EngineSet, 'workers' | 'queued'>,
): unknown {
  if (!(error instanceof Refusal) || error.status !== 503) return error;
  const { status, code, message, field, retryAfter = DEFAULT_RETRY_AFTER } = error;
  const waiting = Math.min(LONGEST_WAIT, queued / (Math.max(1, workers) * IN_A_SECOND));
  return new Refusal(status, code, message, { field, retryAfter: Math.max(retryAfter, Math.ceil(waiting)) });
}

/** Clients accept 8 KiB of headers. */
const LONGEST = 2_000;
const LONGEST_PHRASE = 100;

/** The phrases are percent-encoded. */
export function ignoredHeader(ignored: readonly string[]): string {
  let header = '';
  for (const phrase of ignored) {
    const encoded = encodeURIComponent(wellFormedStart(phrase, LONGEST_PHRASE));
    const longer = header === '' ? encoded : `${header}, ${encoded}`;
    if (longer.length > LONGEST) break;
    header = longer;
  }
  return header;
}
