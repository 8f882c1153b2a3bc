import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineSet, EngineSound, Speaker, Utterance } from '../engines/engine.ts';
import { styleOf } from '../engines/style.ts';
import type { Host } from '../kit/host.ts';
import { aborted, yieldToEventLoop } from '../kit/wait.ts';
import type { PcmFormat } from '../sound/pcm.ts';
import { wavHeader } from '../sound/wav.ts';
import { countCodePoints } from '../text/unicode.ts';
import { type CallbackPolicy, type Callbacks, callbackTarget } from './callbacks.ts';
import type { Effects, FaultControl, HeaderFault } from './faults.ts';
import {
  DEFAULT_RETRY_AFTER,
  type Exchange,
  forClient,
  type Limits,
  type Log,
  Refusal,
  readJson,
  type Sound,
  sendJson,
  storeSound,
  type Traffic,
  wellFormedStart,
} from './http.ts';
import type { Metrics } from './metrics.ts';
import openapi from './tts-openapi.json' with { type: 'json' };

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
  /** It is missing without `--fault`. */
  readonly faultControl: FaultControl | undefined;
  readonly callbackPolicy: CallbackPolicy;
  readonly callbacks: Callbacks;
  readonly traffic: Traffic;
  readonly metrics: Metrics | undefined;
}

/** The body of `POST /tts`. openapi.json describes it. */
export interface SpeechRequest {
  readonly text: string;
  readonly speaker_no: number;
  readonly config?: {
    readonly use_streaming_response?: boolean;
    readonly sample_rate?: number;
    readonly instructions?: string;
  };
  readonly callback_url?: string;
}

/** Says what is wrong with a value: the end of a sentence that begins with the field. */
type Check = (value: unknown) => string | undefined;

interface Fields {
  readonly [name: string]: Check | Fields;
}

const { required, properties } = openapi.components.schemas.SpeechRequest;
const { minimum, maximum } = properties.config.properties.sample_rate;

const FIELDS: Fields = {
  text: textLike(properties.text.pattern, 'must not be blank'),
  speaker_no: (value) =>
    typeof value === 'number' && Math.trunc(value) === value ? undefined : 'must be of the type integer',
  config: {
    use_streaming_response: ofType('boolean'),
    sample_rate: between(minimum, maximum),
    instructions: ofType('string'),
  },
  callback_url: textLike(
    properties.callback_url.pattern,
    'must be an http or https URL without spaces, user and password, or empty',
  ),
};

/** @throws Refusal 422 that names the field */
export function checkRequest(body: unknown): SpeechRequest {
  const unknown = unknownField(body, FIELDS);
  if (unknown !== undefined) {
    const field = wellFormedStart(unknown);
    throw new Refusal(422, 'unknown_field', `${field} is not a field of the request`, { field });
  }
  const field = isObject(body) ? required.find((name) => !Object.hasOwn(body, name)) : undefined;
  if (field !== undefined) throw new Refusal(422, 'missing_field', `${field} is missing`, { field });
  checkFields(body, FIELDS);
  return body as SpeechRequest;
}

function unknownField(value: unknown, fields: Fields, path = ''): string | undefined {
  if (!isObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (known === undefined) return path + name;
    const field = typeof known === 'function' ? undefined : unknownField(inner, known, `${path}${name}.`);
    if (field !== undefined) return field;
  }
  return undefined;
}

function checkFields(value: unknown, fields: Fields, path?: string): void {
  if (!isObject(value)) throw invalid(path, 'must be of the type object');
  for (const [name, check] of Object.entries(fields)) {
    if (!Object.hasOwn(value, name)) continue;
    const field = path === undefined ? name : `${path}.${name}`;
    if (typeof check !== 'function') checkFields(value[name], check, field);
    else {
      const wrong = check(value[name]);
      if (wrong !== undefined) throw invalid(field, wrong);
    }
  }
}

function invalid(field: string | undefined, wrong: string): Refusal {
  return new Refusal(422, 'invalid_field', `${field ?? 'The body'} ${wrong}`, { field });
}

function ofType(type: 'boolean' | 'number' | 'string'): Check {
  return (value) => (typeof value === type ? undefined : `must be of the type ${type}`);
}

function textLike(pattern: string, wrong: string): Check {
  const expression = new RegExp(pattern, 'u');
  return (value) => ofType('string')(value) ?? (expression.test(String(value)) ? undefined : wrong);
}

function between(least: number, most: number): Check {
  return (value) => {
    if (typeof value !== 'number') return ofType('number')(value);
    if (value < least) return `must be ${least} or more`;
    return value > most ? `must be ${most} or less` : undefined;
  };
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

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

const WAV = 'audio/wav';

export interface Manner {
  readonly streamed: boolean;
  readonly effects: Effects;
  onSound?(): void;
}

/** How samples become the bytes of an answer. */
export interface Form {
  readonly mediaType: string;
  encoded(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** @throws Refusal before the answer begins; later errors break the connection */
async function sendSpeech(exchange: Exchange, sound: Sound, manner: Manner): Promise<void> {
  const { format } = sound;
  const { effects } = manner;
  const pcm = effects.wavHeader === 'per-chunk' ? withHeaderEach(sound.pcm, format) : sound.pcm;
  // Only a whole sound can be halved by `truncate`.
  if (manner.streamed && !effects.truncate) {
    const header = leadingHeader(format, undefined, effects.wavHeader);
    const encoded = (samples: AsyncIterable<Uint8Array>) => withHeader(header, samples);
    await sendLive(exchange, { ...sound, pcm }, { mediaType: WAV, encoded }, manner);
  } else await sendWhole(exchange, { ...sound, pcm }, manner);
}

/**
 * A text that the engine may refuse waits for its first samples.
 * @throws Refusal before the answer begins; later errors break the connection
 */
export async function sendLive(
  exchange: Exchange,
  { pcm, speakable }: Pick<Sound, 'pcm' | 'speakable'>,
  { mediaType, encoded }: Form,
  { effects, onSound }: Omit<Manner, 'streamed'>,
): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const first = pieces.next();
    first.catch(() => {}); // not every case awaits it
    await (speakable ? Promise.race([first, yieldToEventLoop()]) : first);
    exchange.signal.throwIfAborted();
    writeHead(exchange, effects.contentType ?? mediaType);
    exchange.response.flushHeaders();
    await send(exchange, encoded(resumed(first, pieces, onSound)), effects);
  } finally {
    await pieces.return?.();
  }
}

async function sendWhole(exchange: Exchange, { format, pcm }: Sound, manner: Manner): Promise<void> {
  const { streamed, effects, onSound } = manner;
  const stored = await storeSound(pcm);
  try {
    exchange.signal.throwIfAborted();
    const header = leadingHeader(format, stored.bytes, effects.wavHeader);
    const bytes = effects.truncate ? Math.floor(stored.bytes / 4) * 2 : stored.bytes;
    writeHead(exchange, effects.contentType ?? WAV, streamed ? undefined : header.length + bytes);
    await send(exchange, limited(header, stored.read(), bytes, onSound), effects);
  } finally {
    await stored.dispose();
  }
}

function writeHead({ response }: Exchange, mediaType: string, length?: number): void {
  response.writeHead(200, {
    'Content-Type': mediaType,
    ...(length !== undefined && { 'Content-Length': length }),
  });
}

async function send(exchange: Exchange, body: AsyncIterable<Uint8Array>, effects: Effects): Promise<void> {
  const { dropAfter, bandwidth, slice } = effects;
  const isPaced = bandwidth !== undefined || slice !== undefined;
  const pieces = isPaced ? (await import('./faults.ts')).paced(body, effects, exchange.signal) : body;
  const sent = dropAfter === undefined ? pieces : dropped(exchange, pieces, { dropAfter, ...effects });
  await pipeline(sent, exchange.response);
}

async function* withHeader(header: Uint8Array, pcm: AsyncIterable<Uint8Array>) {
  if (header.length > 0) yield header;
  yield* pcm;
}

async function* resumed(
  first: Promise<IteratorResult<Uint8Array>>,
  rest: AsyncIterator<Uint8Array>,
  onSound?: () => void,
) {
  if (!(await first).done) onSound?.();
  for (let next = await first; !next.done; next = await rest.next()) yield next.value;
}

async function* limited(
  header: Uint8Array,
  pcm: AsyncIterable<Uint8Array>,
  bytes: number,
  onSound?: () => void,
) {
  if (header.length > 0) yield header;
  if (bytes > 0) onSound?.();
  let left = bytes;
  for await (const piece of pcm) {
    if (left === 0) return;
    yield piece.subarray(0, left);
    left -= Math.min(left, piece.length);
  }
}

/** Milliseconds. Bytes and a reset that come together look like an orderly end. */
const RESET_AFTER = 50;

async function* dropped(
  exchange: Exchange,
  body: AsyncIterable<Uint8Array>,
  { dropAfter, ending }: Effects & { readonly dropAfter: number },
) {
  let left = dropAfter;
  for await (const piece of body) {
    if (left > 0) yield piece.subarray(0, left);
    left -= piece.length;
    if (left > 0) continue;
    if (ending === 'reset') await sleep(RESET_AFTER, undefined, { signal: exchange.signal });
    await yieldToEventLoop(); // newer versions of Node hold written bytes until then
    await endConnection(exchange, ending);
    return;
  }
}

async function endConnection(
  { response, signal }: Exchange,
  ending: Effects['ending'] = 'close',
): Promise<void> {
  if (ending === 'reset') response.socket?.resetAndDestroy();
  else response.socket?.destroySoon();
  await aborted(signal);
}

/** The header of 44 bytes has its two sizes here. */
const SIZE_OFFSETS = [4, 40] as const;

function leadingHeader(format: PcmFormat, bytes: number | undefined, fault?: HeaderFault): Uint8Array {
  if (fault === 'none' || fault === 'per-chunk') return new Uint8Array(0);
  const header = wavHeader(format, bytes);
  if (fault === undefined) return header;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  for (const offset of SIZE_OFFSETS) view.setUint32(offset, fault === 'max' ? 0xffff_ffff : 0, true);
  return header;
}

/** Services that join finished files answer like this. */
async function* withHeaderEach(pcm: AsyncIterable<Uint8Array>, format: PcmFormat) {
  for await (const piece of pcm) {
    yield wavHeader(format, piece.length);
    yield piece;
  }
}

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
async function orderOf(request: SpeechRequest, engine: EngineSet, maxText: number): Promise<SpeechOrder> {
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
    const { style, ignored } = styleOf();
    return { utterance: { text, speaker, sampleRate, style, instructions, stream }, ignored };
  }
  if (sampleRate !== undefined) requireKind(speaker, 'neo.one', 'sample_rate');
  if (instructions !== undefined) requireKind(speaker, 'Mermish', 'instructions');
  const { style, ignored } = styleOf(instructions);
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

export async function speak(exchange: Exchange, context: ServiceContext): Promise<void> {
  const { request, response, details, id } = exchange;
  const { engine } = context;
  const body = checkRequest(await readJson(request, response, context.limits.body));
  Object.assign(details, { speaker: body.speaker_no, characters: countCodePoints(body.text) });
  const order = await orderOf(body, engine, context.maxText);
  const target = await callbackTarget(body.callback_url, request, context.callbackPolicy);
  const effects = context.faultControl?.effectsOn(exchange, body.text, body.speaker_no) ?? {};
  await applyFaults(effects, exchange, context);
  if (order.ignored.length > 0) response.setHeader('X-Instructions-Ignored', ignoredHeader(order.ignored));
  if (target !== undefined) {
    const utterance = { ...order.utterance, isPatient: true }; // bounded by `Limits.callbacks`
    context.callbacks.accept(id, target, (signal) => spokenSound(context, utterance, signal));
    sendJson(exchange, 202, { request_id: id, status: 'accepted' });
    return;
  }
  const streamed = body.config?.use_streaming_response === true;
  try {
    await sendSpeech(exchange, await spokenSound(context, order.utterance, exchange.signal), {
      streamed,
      effects,
      onSound: () => context.metrics?.addFirstByte((performance.now() - exchange.begun) / 1000),
    });
  } catch (error) {
    throw withPatience(forClient(error, id, context), engine);
  }
}

/** The rate of a far service is what it sends, and not what it was asked for. */
async function spokenSound(
  context: ServiceContext,
  utterance: Utterance,
  signal: AbortSignal,
): Promise<Sound> {
  const { engine } = context;
  const { sampleRate } = utterance;
  if (engine.isFar || sampleRate === undefined) return ownSoundOf(context, utterance, signal);
  return soundAt(sampleRate, utterance, context, () => engine.speak(utterance, signal));
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

function soundAt(
  sampleRate: number,
  { text, speaker }: Utterance,
  { engine, metrics }: ServiceContext,
  speak: () => Promise<EngineSound>,
): Sound {
  const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
  const count = (frames: number) => metrics?.addAudio(frames / sampleRate);
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

/** @throws Refusal for a status that was asked for; the reason of an abort */
export async function applyFaults(
  effects: Effects,
  exchange: Exchange,
  { traffic }: ServiceContext,
): Promise<void> {
  const { signal } = exchange;
  if (effects.delay !== undefined) await sleep(effects.delay, undefined, { signal });
  if (effects.hang) {
    await aborted(AbortSignal.any([signal, traffic.closing]));
    exchange.cancel();
    signal.throwIfAborted();
  }
  if (effects.ending !== undefined && effects.dropAfter === undefined) {
    await endConnection(exchange, effects.ending);
    signal.throwIfAborted();
  }
  if (effects.status !== undefined) {
    const { status, retryAfter } = effects;
    throw new Refusal(status, 'fault', `The status ${status} was asked for with --fault`, { retryAfter });
  }
}
