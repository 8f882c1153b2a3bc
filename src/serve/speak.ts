/** What both faces of `tts serve` do between a checked request and the last byte of its answer. */
import { pipeline } from 'node:stream/promises';
import type { EngineSet, EngineSound, Speaker, Utterance } from '../engines/engine.ts';
import type { Host } from '../kit/host.ts';
import { yieldToEventLoop } from '../kit/wait.ts';
import type { PcmFormat } from '../sound/pcm.ts';
import type { Callbacks } from './callbacks.ts';
import {
  DEFAULT_RETRY_AFTER,
  type Exchange,
  type Limits,
  type Log,
  Refusal,
  wellFormedStart,
} from './http.ts';
import type { Metrics } from './metrics.ts';
import type { Sound } from './sound.ts';

/** What a face of the service gets from it. */
export interface ServiceContext {
  readonly engine: EngineSet;
  readonly log: Log | undefined;
  /** An engine may quote a key in the name of a voice. */
  hide(text: string): string;
  /** Code points. */
  readonly maxText: number;
  readonly limits: Limits;
  /** Encoders are looked for here. Without it, none is found. */
  readonly programs: Pick<Host, 'env' | 'platform'> | undefined;
  readonly callbacks: Callbacks;
  readonly metrics: Metrics;
}

export function numberedSpeaker(no: number, engine: EngineSet): Speaker | undefined {
  return engine.numbered ? engine.numbered(no) : engine.speakers.find((speaker) => speaker.no === no);
}

/** How samples become the bytes of an answer. */
export interface Form {
  readonly mediaType: string;
  encoded(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/**
 * Answers with sound while it is made. A text that the engine may refuse waits for its first samples.
 * @param onSound is called when the first samples are there
 * @throws Refusal before the answer begins; later errors break the connection
 */
export async function sendLive(
  { response, signal }: Exchange,
  { pcm, speakable }: Pick<Sound, 'pcm' | 'speakable'>,
  { mediaType, encoded }: Form,
  onSound: () => void,
): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const first = pieces.next();
    first.catch(() => {}); // not every case awaits it
    await (speakable ? Promise.race([first, yieldToEventLoop()]) : first);
    signal.throwIfAborted();
    response.writeHead(200, { 'Content-Type': mediaType }).flushHeaders();
    await pipeline(encoded(resumed(first, pieces, onSound)), response);
  } finally {
    await pieces.return?.();
  }
}

async function* resumed(
  first: Promise<IteratorResult<Uint8Array>>,
  others: AsyncIterator<Uint8Array>,
  onSound: () => void,
): AsyncGenerator<Uint8Array> {
  if (!(await first).done) onSound();
  for (let next = await first; !next.done; next = await others.next()) yield next.value;
}

/** Speaks at the rate that the voice has, which the first answer of an engine may tell. */
export async function ownSoundOf(
  context: ServiceContext,
  utterance: Utterance,
  signal: AbortSignal,
): Promise<Sound> {
  const spoken = await context.engine.speak(utterance, signal);
  return soundAt(spoken.sampleRate, utterance, context, async () => spoken);
}

export function soundAt(
  sampleRate: number,
  { text, speaker }: Utterance,
  { engine, metrics }: ServiceContext,
  speak: () => Promise<EngineSound>,
): Sound {
  const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
  const count = (frames: number) => metrics.addAudio(frames / sampleRate);
  const speakable = !engine.isFar && surelySpeakable(text, speaker.language);
  return { format, speakable, pcm: bytesOf(speak, count) };
}

async function* bytesOf(
  speak: () => Promise<EngineSound>,
  count: (frames: number) => void,
): AsyncGenerator<Uint8Array> {
  const { samples } = await speak();
  for await (const { buffer, byteOffset, byteLength, length } of samples) {
    if (length === 0) continue;
    count(length);
    yield new Uint8Array(buffer, byteOffset, byteLength);
  }
}

/** All voices read these: espeak-ng spells foreign letters, but not foreign digits. */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** A voice does not speak the letters of a control sequence. */
const SEQUENCES = ['\u001b', '\u009b'];

const UNKNOWN = 'und';

/**
 * @param language the language of the voice
 * @returns false if only the engine knows
 */
export function surelySpeakable(text: string, language: string): boolean {
  if (language === UNKNOWN) return false;
  if (SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

const IN_A_SECOND = 10;

/** Seconds. */
const LONGEST_WAIT = 60;

/** `Retry-After` covers the time of the queue. */
export function withRetryAfter(
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
