/** Turns a parsed request for speech into a response. Shared by all APIs of the service. */
import type { OutgoingHttpHeaders } from 'node:http';
import { type EngineError, type EngineFault, queueFull, shortName } from '../engines/engine.ts';
import type { Host, ProgramHost } from '../kit/host.ts';
import { type Exchange, HttpError, json, quotable, type Reply } from '../kit/http/route.ts';
import { aborted } from '../kit/wait.ts';
import { counted, type PcmFormat, type Speech, secondsOf } from '../sound/pcm.ts';
import type { Fields, Utterance, Voice } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import { languageInName, voiceForLanguage } from '../voices/language.ts';
import { followed } from '../voices/local.ts';
import type { Reference } from '../voices/timed-words.ts';
import type { Callbacks } from './callbacks.ts';
import type { TextReading } from './clean.ts';
import type { Metrics } from './metrics.ts';
import type { Log } from './service.ts';
import {
  awaitStart,
  BLANK,
  failureOf,
  isSurelySpeakable,
  type Sound,
  soundOrSilence,
  storeWav,
} from './sound.ts';

/** The voices that the service offers, with their queue. */
export interface ServedVoices {
  /** The default voice comes first. */
  readonly all: readonly Voice[];
  /** Requests that can be spoken at once. */
  readonly workers: number;
  /** Requests that wait for their turn. */
  readonly queued: number;
  /** Returns the voice with this number; a remote service may have voices that {@link all} does not list. */
  numbered(no: number): Voice | undefined;
  /**
   * @returns 16-bit mono samples, in pieces that are not empty
   * @throws EngineError, TtsError here and while the sound is read; the caller must read all of it, or abort
   */
  speak(utterance: QueuedUtterance, signal: AbortSignal): Promise<Speech>;
  close(): Promise<void>;
}

export interface QueuedUtterance extends Pick<Utterance, 'text' | 'voice' | 'fields'> {
  /** True if the request may join a full queue. */
  readonly ignoresQueueLimit?: boolean;
}

/** True for a voice of a remote service, which interprets all options itself and may refuse any text. */
export function isRelayed({ source }: Voice): boolean {
  return source.kind === 'service';
}

/** Everything that the routes of the service share. */
export interface ServiceContext {
  readonly voices: ServedVoices;
  readonly log: Log;
  /** `undefined`: texts are spoken unchanged. */
  readonly reading: TextReading | undefined;
  /** Removes secrets: an engine may put a key into the name of a voice. */
  hide(text: string): string;
  /** The longest text, in code points. */
  readonly maxText: number;
  /** Where to find encoders of some formats, and espeak-ng, which times words. */
  readonly programs: ProgramHost & Partial<Pick<Host, 'runtime'>>;
  readonly callbacks: Callbacks;
  readonly metrics: Metrics;
  /** Opens the reference voices, which time words by comparison; all requests share them, one sentence at a time. */
  openReference(): Promise<Reference>;
  /** Requests for speech in progress. */
  readonly speaking: Set<object>;
  /** The prefix of all paths, such as `/api`. */
  readonly basePath: string;
}

/** A request for speech, whichever API it came through. */
export interface SpeechRequest {
  readonly text: string;
  readonly voice: Voice;
  /** Speech options; those that the client did not set are `undefined`. */
  readonly fields: Fields;
  /** Encodes streamed sound; without it, the response is a complete WAV. */
  readonly live?: LiveEncoder | undefined;
  /** The URL that gets the sound instead of the response. */
  readonly callback?: URL | undefined;
  /** True if a text without words that the voice cannot read becomes a short silence. */
  readonly silentIfUnreadable?: boolean;
}

/** How to send words with the sound. */
export interface Captioning {
  readonly live: LiveEncoder;
  /** True for a streamed response: a JSON object for each sentence, one per line. */
  readonly inLines: boolean;
  readonly hasWords: boolean;
  /** The factor by which {@link live} speeds up the sound; word times are divided by it. */
  readonly speed?: number;
}

/** Encodes samples as the body of a response. */
export type LiveEncoder = (format: PcmFormat) => {
  readonly mediaType: string;
  encoded(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
};

/**
 * Registers a request in progress, for the log and the health check.
 * @returns headers for its response
 */
export function register(
  { text, voice, fields }: SpeechRequest,
  exchange: Exchange,
  { speaking }: Pick<ServiceContext, 'speaking'>,
): OutgoingHttpHeaders {
  Object.assign(exchange.details, { speaker: voice.no, characters: countCodePoints(text) });
  speaking.add(exchange);
  void aborted(exchange.signal).then(() => speaking.delete(exchange));
  // A remote service interprets the instructions itself.
  const { ignored } = followed(isRelayed(voice) ? undefined : fields.instructions, voice.source.kind);
  return ignored.length > 0 ? { 'X-Instructions-Ignored': ignoredHeader(ignored) } : {};
}

/** Answers a request. @throws EngineError, TtsError, HttpError before the response begins; its body throws later errors */
export async function speak(
  request: SpeechRequest,
  exchange: Exchange,
  context: ServiceContext,
): Promise<Reply> {
  const { voice, fields, live, callback, silentIfUnreadable = false } = request;
  const { callbacks, metrics, reading } = context;
  const { id, signal } = exchange;
  const headers = register(request, exchange, context);
  const text = (await reading?.cleaned(request.text, signal)) ?? request.text;
  // A remote service gets the client's option; local voices must know whether the sound is sent while it is made.
  const stream = isRelayed(voice) ? fields.stream : live !== undefined && !callback;
  const utterance = { text, voice, fields: { ...fields, stream } };
  if (callback) {
    // Callbacks have a limit of their own, so that a full queue need not refuse them.
    callbacks.accept(id, callback, (until) =>
      soundOf({ ...utterance, ignoresQueueLimit: true }, context, until),
    );
    return json({ request_id: id, status: 'accepted' }, { status: 202, headers });
  }

  const making = soundOf(utterance, context, signal);
  const sound = await (silentIfUnreadable ? soundOrSilence(text, making) : making);
  const onSound = () => metrics.addFirstByte((performance.now() - exchange.begun) / 1000);
  if (live) {
    const { mediaType, encoded } = live(sound.format);
    return {
      headers: { ...headers, 'Content-Type': mediaType },
      body: encoded(await awaitStart(sound, onSound)),
    };
  }
  const { bytes, read, dispose } = await storeWav(sound);
  void aborted(signal).then(dispose);
  onSound();
  return { headers: { ...headers, 'Content-Type': 'audio/wav', 'Content-Length': bytes }, body: read() };
}

/** Speaks a text through the queue of its voice. @throws EngineError, TtsError here, and while the sound is read */
export async function soundOf(
  utterance: QueuedUtterance,
  { voices, metrics }: ServiceContext,
  signal: AbortSignal,
): Promise<Sound> {
  if (!/\S/.test(utterance.text)) throw BLANK;
  const { format, pcm } = await voices.speak(utterance, signal);
  const onPiece = (bytes: number) => metrics.addAudio(secondsOf(format, bytes));
  const isSure = !isRelayed(utterance.voice) && isSurelySpeakable(utterance.text, utterance.voice.language);
  return { format, isSure, pcm: counted(pcm, onPiece) };
}

/** OpenAPI description of the header. */
export const ABOUT_IGNORED = {
  'X-Instructions-Ignored':
    'The parts of `instructions` without effect, percent-encoded, separated by a comma and a space. Absent where all is done.',
};

/** Characters; well below the 8 KiB of headers that clients accept. */
const LONGEST_HEADER = 2_000;
const LONGEST_PHRASE = 100;

/** Joins the ignored phrases, percent-encoded, up to the limits above. */
export function ignoredHeader(ignored: readonly string[]): string {
  let header = '';
  for (const phrase of ignored) {
    const encoded = encodeURIComponent(phrase.slice(0, LONGEST_PHRASE).toWellFormed());
    const longer = header === '' ? encoded : `${header}, ${encoded}`;
    if (longer.length > LONGEST_HEADER) break;
    header = longer;
  }
  return header;
}

const ANSWERS: Readonly<Record<EngineFault, readonly [status: number, code: string]>> = {
  'unsupported text': [422, 'unsupported_text'],
  busy: [503, 'busy'],
  broken: [500, 'engine_failed'],
  failed: [502, 'engine_failed'],
  late: [504, 'engine_late'],
  unreachable: [502, 'engine_unreachable'],
  refused: [502, 'engine_failed'],
  rejected: [422, 'refused_by_service'],
  'no storage': [507, 'storage_failed'],
};

/** @returns the error that a client may see; withheld details go to the log */
export function errorOf(
  error: unknown,
  id: string,
  { voices, log }: Pick<ServiceContext, 'voices' | 'log'>,
): HttpError {
  if (error instanceof HttpError) return withRetryAfter(error, voices);
  const failure = failureOf(error);
  if (!failure) {
    log({ event: 'defect', id, error });
    return new HttpError(500, 'internal_error', 'The service failed on this request');
  }
  const shown = engineAnswer(failure);
  if (shown.message !== failure.message) log({ event: 'engine', id, reason: failure.message });
  return withRetryAfter(shown, voices);
}

/** Withholds messages that may quote a key or name a folder. A busy engine keeps its own HTTP status. */
function engineAnswer({ kind, message, retryAfter, status: own }: EngineError): HttpError {
  const [status, code] = ANSWERS[kind];
  if (kind === 'unsupported text') return new HttpError(status, code, message, { field: 'text' });
  // It may refuse the voice or any other field.
  if (kind === 'rejected') return new HttpError(status, code, message);
  if (kind === 'busy') return new HttpError(own ?? status, code, queueFull().message, { retryAfter });
  return new HttpError(status, code, 'The voice failed; the log of the service says why', { retryAfter });
}

/** Utterances that one worker starts per second, as an estimate for `Retry-After`. */
const STARTS_PER_SECOND = 10;

/** The largest estimate of `Retry-After` for a queue, in seconds. */
const MAX_QUEUE_SECONDS = 60;

/** Sets the `Retry-After` of a 503 to at least the estimated wait in the queue. */
function withRetryAfter(
  error: HttpError,
  { workers, queued }: Pick<ServedVoices, 'workers' | 'queued'>,
): HttpError {
  const { status, code, message, field, retryAfter = 0 } = error;
  if (status !== 503) return error;
  const waiting = Math.min(MAX_QUEUE_SECONDS, Math.ceil(queued / (Math.max(1, workers) * STARTS_PER_SECOND)));
  return new HttpError(status, code, message, { field, retryAfter: Math.max(1, retryAfter, waiting) });
}

/**
 * Finds a voice by name or `engine:name`, by number, by the name of its engine (an installed voice may have several
 * speakers), by its short name, or by language. Voices of the user's engines take precedence.
 */
export function voiceNamed(asked: string, voices: ServedVoices): Voice | undefined {
  const groups = groupsOf(voices);
  const all = groups.flat();
  const lower = asked.toLowerCase();
  return (
    all.find((voice) => ownNames(voice).includes(asked)) ??
    all.find((voice) => ownNames(voice).some((each) => each.toLowerCase() === lower)) ??
    (/^-?\d+$/.test(asked) ? voices.numbered(Number(asked)) : undefined) ??
    all.find((voice) => isFromUserEngine(voice) && voice.source.name.toLowerCase() === lower) ??
    all.find((voice) => isFromUserEngine(voice) && shortName(nameOf(voice)) === lower) ??
    voiceForLanguage(asked, groups)
  );
}

/**
 * Finds a voice of the same language, whatever its region, for a name that begins with both (`pt-BR-FranciscaNeural`), and
 * logs the choice.
 */
export function voiceNear(
  name: string,
  id: string,
  { voices, log, hide }: Pick<ServiceContext, 'voices' | 'log' | 'hide'>,
): Voice | undefined {
  const asked = languageInName(name);
  const near = asked === undefined ? undefined : voiceForLanguage(asked, groupsOf(voices));
  if (near) {
    const { language = 'und' } = near;
    log({ event: 'voice', id, asked: quotable(name), voice: hide(nameOf(near)), language });
  }
  return near;
}

/** Returns the name, or the number if a remote service gives its voice no name. */
export function nameOf({ name, no }: Voice): string {
  return name ?? String(no);
}

function ownNames(voice: Voice): readonly string[] {
  const name = nameOf(voice);
  return isFromUserEngine(voice) ? [name, `${voice.source.name}:${name}`] : [name];
}

/** @returns each voice with a unique name by which {@link voiceNamed} finds it */
export function namesOf(voices: ServedVoices): readonly (readonly [name: string, voice: Voice])[] {
  const seen = new Set<string>();
  return groupsOf(voices)
    .flat()
    .map((voice) => {
      const free = ownNames(voice).find((each) => !seen.has(each.toLowerCase())) ?? String(voice.no);
      seen.add(free.toLowerCase());
      return [free, voice] as const;
    });
}

/** Returns the first voice of the user's engines, or else the first of all. */
export function defaultVoice(voices: ServedVoices): Voice | undefined {
  return groupsOf(voices).flat()[0];
}

/** True for a voice of one of the user's engines, and for an installed voice. */
function isFromUserEngine({ source }: Voice): boolean {
  return source.kind === 'engine';
}

function groupsOf({ all }: ServedVoices): [ofUserEngines: Voice[], others: Voice[]] {
  return [all.filter(isFromUserEngine), all.filter((voice) => !isFromUserEngine(voice))];
}
