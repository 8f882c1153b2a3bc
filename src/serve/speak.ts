/** A request for speech, from what a face has read of it to the answer. All faces speak through it. */
import type { OutgoingHttpHeaders } from 'node:http';
import { type EngineError, type EngineFault, queueFull, shortName } from '../engines/engine.ts';
import { styleOf } from '../engines/style.ts';
import type { Host } from '../kit/host.ts';
import { type Exchange, HttpError, json, quotable, type Reply } from '../kit/http/route.ts';
import { aborted } from '../kit/wait.ts';
import { counted, type PcmFormat, type Speech, secondsOf } from '../sound/pcm.ts';
import type { Fields, Voice } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import { languageInName, voiceForLanguage } from '../voices/language.ts';
import type { Callbacks } from './callbacks.ts';
import type { TextReading } from './clean.ts';
import type { Metrics } from './metrics.ts';
import type { Log } from './service.ts';
import { BLANK, begun, failureOf, isSurelySpeakable, type Sound, soundOrSilence, storeWav } from './sound.ts';

/** All that the service asks of what speaks. */
export interface ServedVoices {
  /** The default one comes first. */
  readonly all: readonly Voice[];
  /** Requests that are spoken at once. */
  readonly workers: number;
  /** Requests that wait for that. */
  readonly queued: number;
  /** A far service may have more voices than are listed. */
  numbered(no: number): Voice | undefined;
  /**
   * @returns sound of 16-bit mono samples, in pieces that are not empty
   * @throws EngineError, TtsError here and while the sound is read; the caller reads it, or aborts
   */
  speak(order: Order, signal: AbortSignal): Promise<Speech>;
  close(): Promise<void>;
}

export interface Order {
  readonly text: string;
  readonly voice: Voice;
  readonly fields: Fields;
  /** A full queue does not refuse it. */
  readonly isPatient?: boolean;
}

/** True for a voice of a far service, which reads all options itself and may refuse any text. */
export function isRelayed({ source }: Voice): boolean {
  return source.kind === 'service';
}

/** What a route of the service gets. */
export interface ServiceContext {
  readonly voices: ServedVoices;
  readonly log: Log;
  /** Without it, texts are spoken as they come. */
  readonly reading?: TextReading | undefined;
  /** An engine may quote a key in the name of a voice. */
  hide(text: string): string;
  /** Code points. */
  readonly maxText: number;
  /** Encoders are looked for here. Without it, none is found. */
  readonly programs: Pick<Host, 'env' | 'platform'> | undefined;
  readonly callbacks: Callbacks;
  readonly metrics: Metrics;
  /** Answers with the sound and the times of its words, as {@link speak} does without them. */
  captioned(request: SpeechRequest, how: Captioning, exchange: Exchange): Promise<Reply>;
  /** Requests for speech that are under way. */
  readonly speaking: Set<object>;
  readonly basePath: string;
}

/** What a client asks for, whichever face it asks. */
export interface SpeechRequest {
  readonly text: string;
  readonly voice: Voice;
  /** Only those that the client set. */
  readonly fields: Fields;
  /** How the sound leaves while it is made. Without it, a whole WAV leaves. */
  readonly live?: LiveEncoder | undefined;
  /** Where the sound goes instead of into the answer. */
  readonly callback?: URL | undefined;
  /** A text without words that the voice cannot read is a short silence. */
  readonly silentIfUnreadable?: boolean;
}

/** How words leave with the sound. */
export interface Captioning {
  readonly live: LiveEncoder;
  /** True for an answer that leaves while it is made: an object for each sentence, one on a line. */
  readonly inLines: boolean;
  readonly hasWords: boolean;
  /** {@link live} makes the sound so many times as fast. */
  readonly speed?: number;
}

/** How samples become the bytes of an answer. */
export type LiveEncoder = (format: PcmFormat) => {
  readonly mediaType: string;
  encoded(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
};

/**
 * Notes a request that begins, for the log and the health of the service.
 * @returns headers of its answer
 */
export function noted(
  { text, voice, fields }: SpeechRequest,
  exchange: Exchange,
  { speaking }: Pick<ServiceContext, 'speaking'>,
): OutgoingHttpHeaders {
  Object.assign(exchange.details, { speaker: voice.no, characters: countCodePoints(text) });
  speaking.add(exchange);
  void aborted(exchange.signal).then(() => speaking.delete(exchange));
  // A far service reads the instructions itself.
  const { ignored } = styleOf(isRelayed(voice) ? undefined : fields.instructions);
  return ignored.length > 0 ? { 'X-Instructions-Ignored': ignoredHeader(ignored) } : {};
}

/** @throws EngineError, TtsError, HttpError before the answer begins; later errors come out of its body */
export async function speak(
  request: SpeechRequest,
  exchange: Exchange,
  context: ServiceContext,
): Promise<Reply> {
  const { voice, fields, live, callback, silentIfUnreadable = false } = request;
  const { callbacks, metrics, reading } = context;
  const { id, signal } = exchange;
  const headers = noted(request, exchange, context);
  const text = (await reading?.cleaned(request.text, signal)) ?? request.text;
  // To a far service goes what the client said; voices of this machine need to know who waits for all of the sound.
  const stream = isRelayed(voice) ? fields.stream : live !== undefined && !callback;
  const order = { text, voice, fields: { ...fields, stream } };
  if (callback) {
    // The limit of callbacks bounds those that wait.
    callbacks.accept(id, callback, (until) => soundOf({ ...order, isPatient: true }, context, until));
    return json({ request_id: id, status: 'accepted' }, { status: 202, headers });
  }

  const making = soundOf(order, context, signal);
  const sound = await (silentIfUnreadable ? soundOrSilence(text, making) : making);
  const onSound = () => metrics.addFirstByte((performance.now() - exchange.begun) / 1000);
  if (live) {
    const { mediaType, encoded } = live(sound.format);
    return { headers: { ...headers, 'Content-Type': mediaType }, body: encoded(await begun(sound, onSound)) };
  }
  const { bytes, read, dispose } = await storeWav(sound);
  void aborted(signal).then(dispose);
  onSound();
  return { headers: { ...headers, 'Content-Type': 'audio/wav', 'Content-Length': bytes }, body: read() };
}

/** The sound of a text in the queue of its voice. @throws EngineError, TtsError here, and while it is read */
export async function soundOf(
  order: Order,
  { voices, metrics }: ServiceContext,
  signal: AbortSignal,
): Promise<Sound> {
  if (!/\S/.test(order.text)) throw BLANK;
  const { format, pcm } = await voices.speak(order, signal);
  const onPiece = (bytes: number) => metrics.addAudio(secondsOf(format, bytes));
  const isSure = !isRelayed(order.voice) && isSurelySpeakable(order.text, order.voice.language);
  return { format, isSure, pcm: counted(pcm, onPiece) };
}

/** What a description says of the header. */
export const IGNORED = {
  'X-Instructions-Ignored':
    'The parts of `instructions` without effect, percent-encoded, separated by a comma and a space. Absent where all is done.',
};

/** Clients accept 8 KiB of headers. */
const LONGEST_HEADER = 2_000;
const LONGEST_PHRASE = 100;

/** The phrases are percent-encoded. */
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
  'no storage': [507, 'storage_failed'],
};

/** @returns what a client may know of an error; the log gets the rest */
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
  const told = ofEngine(failure);
  if (told.message !== failure.message) log({ event: 'engine', id, reason: failure.message });
  return withRetryAfter(told, voices);
}

/** Words of an engine may quote its key, and those of a full folder name it. A busy engine keeps its own status. */
function ofEngine({ kind, message, retryAfter, status: own }: EngineError): HttpError {
  const [status, code] = ANSWERS[kind];
  if (kind === 'unsupported text') return new HttpError(status, code, message, { field: 'text' });
  if (kind === 'busy') return new HttpError(own ?? status, code, queueFull().message, { retryAfter });
  return new HttpError(status, code, 'The voice failed; the log of the service says why', { retryAfter });
}

/** Utterances that one worker begins in a second. */
const IN_A_SECOND = 10;

/** Seconds. */
const LONGEST_WAIT = 60;

/** The time of `Retry-After` covers the queue. */
function withRetryAfter(
  error: HttpError,
  { workers, queued }: Pick<ServedVoices, 'workers' | 'queued'>,
): HttpError {
  const { status, code, message, field, retryAfter = 0 } = error;
  if (status !== 503) return error;
  const waiting = Math.min(LONGEST_WAIT, Math.ceil(queued / (Math.max(1, workers) * IN_A_SECOND)));
  return new HttpError(status, code, message, { field, retryAfter: Math.max(1, retryAfter, waiting) });
}

/**
 * Finds a voice by its name, also as `engine:name`, by its number, by the name of its engine (an installed voice may have
 * several speakers), or by its language. Voices that an engine brings come first.
 */
export function voiceNamed(asked: string, voices: ServedVoices): Voice | undefined {
  const groups = inGroups(voices);
  const all = groups.flat();
  const lower = asked.toLowerCase();
  return (
    all.find((voice) => ownNames(voice).includes(asked)) ??
    all.find((voice) => ownNames(voice).some((each) => each.toLowerCase() === lower)) ??
    (/^-?\d+$/.test(asked) ? voices.numbered(Number(asked)) : undefined) ??
    all.find((voice) => isBrought(voice) && voice.source.name.toLowerCase() === lower) ??
    all.find((voice) => isBrought(voice) && shortName(nameOf(voice)) === lower) ??
    voiceForLanguage(asked, groups)
  );
}

/**
 * A voice of the language, whatever its region, for the name of a voice that begins with both (`pt-BR-FranciscaNeural`). The log
 * tells it.
 */
export function voiceNear(
  name: string,
  id: string,
  { voices, log, hide }: Pick<ServiceContext, 'voices' | 'log' | 'hide'>,
): Voice | undefined {
  const asked = languageInName(name);
  const near = asked === undefined ? undefined : voiceForLanguage(asked, inGroups(voices));
  if (near) {
    const { language = 'und' } = near;
    log({ event: 'voice', id, asked: quotable(name), voice: hide(nameOf(near)), language });
  }
  return near;
}

/** A far service may know a voice by its number only. */
export function nameOf({ name, no }: Voice): string {
  return name ?? String(no);
}

function ownNames(voice: Voice): readonly string[] {
  const name = nameOf(voice);
  return isBrought(voice) ? [name, `${voice.source.name}:${name}`] : [name];
}

/** @returns the voices with a name by which {@link voiceNamed} finds each of them */
export function namesOf(voices: ServedVoices): readonly (readonly [name: string, voice: Voice])[] {
  const seen = new Set<string>();
  return inGroups(voices)
    .flat()
    .map((voice) => {
      const free = ownNames(voice).find((each) => !seen.has(each.toLowerCase())) ?? String(voice.no);
      seen.add(free.toLowerCase());
      return [free, voice] as const;
    });
}

/** The first voice that an engine brings, else the first of all. */
export function defaultVoice(voices: ServedVoices): Voice | undefined {
  return inGroups(voices).flat()[0];
}

/** True for a voice of an engine of the user. */
function isBrought({ source }: Voice): boolean {
  return source.kind === 'engine';
}

function inGroups({ all }: ServedVoices): [brought: Voice[], own: Voice[]] {
  return [all.filter(isBrought), all.filter((voice) => !isBrought(voice))];
}
