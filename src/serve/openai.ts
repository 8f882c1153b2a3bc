import { EngineError, type EngineSet, OWN_RATE, type Speaker, shortName } from '../engines/engine.ts';
import { styleOf } from '../engines/style.ts';
import { converted } from '../sound/convert.ts';
import type { EncodingName, Programs } from '../sound/encode/encoding.ts';
import { encodingOf, streamingOf } from '../sound/encode/encodings.ts';
import { type PcmFormat, sameFormat, silence, untagged } from '../sound/pcm.ts';
import { atSpeed } from '../sound/tempo.ts';
import { countCodePoints } from '../text/unicode.ts';
import { voiceForLanguage } from '../voices/language.ts';
import { type ErrorForm, type Exchange, Refusal, readJson, sendJson, wellFormedStart } from './http.ts';
import { forClient, type Sound } from './sound.ts';
import {
  ignoredHeader,
  numberedSpeaker,
  ownSoundOf,
  type ServiceContext,
  sendLive,
  withRetryAfter,
} from './speak.ts';

/** The body of an error in OpenAI's interface. Its libraries read these fields. */
interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** The types are those of https://platform.openai.com/docs/guides/error-codes. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function body({ status, message, field, code }: Refusal): OpenAiError {
  return { error: { message, type: typeOf(status), param: field ?? null, code } };
}

export const openAiErrors: ErrorForm = { challenge: 'Bearer', body };

/** Each event is one line of JSON (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
function event(data: object): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

/** Nobody counts tokens here. */
const USAGE = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** @param sound the bytes of an encoding; the events hold them in base64 */
async function* asEvents(sound: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of sound) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('base64');
    yield event({ type: 'speech.audio.delta', audio });
  }
  yield event({ type: 'speech.audio.done', usage: USAGE });
}

interface Row {
  readonly encoding: EncodingName;
  readonly mediaType: string;
  /** Hz. The interface promises it for bare samples; other formats keep the rate of the voice. */
  readonly sampleRate?: number;
}

/** The values of `response_format`, with the encodings that serve them. */
const FORMATS = {
  mp3: { encoding: 'mp3', mediaType: 'audio/mpeg' },
  wav: { encoding: 'wav', mediaType: 'audio/wav' },
  pcm: { encoding: 's16le', mediaType: 'audio/pcm', sampleRate: 24_000 },
  flac: { encoding: 'flac', mediaType: 'audio/flac' },
  opus: { encoding: 'opus', mediaType: 'audio/ogg' },
  aac: { encoding: 'aac', mediaType: 'audio/aac' },
} as const satisfies Record<string, Row>;

type ResponseFormat = keyof typeof FORMATS;

const RESPONSE_FORMATS = Object.keys(FORMATS) as ResponseFormat[];

/** @returns the format of the samples that go into the encoding */
function formatFor({ sampleRate }: Row, format: PcmFormat): PcmFormat {
  return sampleRate === undefined ? format : { ...format, sampleRate };
}

/** Any word is taken for a model. Clients show these to choose from. */
const MODELS = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];

/** Kokoro-FastAPI and Open WebUI read a voice as its `id` with its `name`. */
export function listVoices(exchange: Exchange, { engine, hide }: ServiceContext): void {
  const voices = engine.speakers.map(({ no, name, language }) => ({
    id: hide(name),
    name: hide(name),
    language,
    speaker_no: no,
  }));
  sendJson(exchange, 200, { voices });
}

export function listModels(exchange: Exchange): void {
  const data = MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'tts-pipe' }));
  sendJson(exchange, 200, { object: 'list', data });
}

/** The body of `POST /v1/audio/speech`. Other fields than these are left alone: clients send what their own servers know. */
interface AudioRequest {
  readonly input: string;
  /** A name, a number, a language or `engine:name`. The default voice speaks where it is empty. */
  readonly voice: string;
  readonly format: ResponseFormat;
  /** A factor of the pace, from 0.25 to 4. */
  readonly speed: number;
  /** A blank one is none. */
  readonly instructions: string | undefined;
  /** True for a client that chooses the form of a stream. */
  readonly stream: true | undefined;
  /** True sends events with sound in base64. */
  readonly asEvents: boolean;
}

const SPEEDS = { least: 0.25, most: 4 };

type Body = Readonly<Record<string, unknown>>;

/** @throws Refusal 400 that names the field */
function checkAudioRequest(body: unknown): AudioRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'invalid_json', 'The body must be a JSON object');
  const fields = body as Body;
  const input = text(fields, 'input');
  if (input === undefined) throw new Refusal(400, 'missing_field', 'input is missing', { field: 'input' });
  if (!/\S/u.test(input)) throw invalid('input', 'must not be blank');
  const streamFormat = choice(fields, 'stream_format', ['audio', 'sse']);
  return {
    input,
    voice: voiceIn(fields),
    format: choice(fields, 'response_format', RESPONSE_FORMATS) ?? 'mp3',
    speed: speedIn(fields),
    instructions: text(fields, 'instructions')?.trim() ? text(fields, 'instructions') : undefined,
    stream: streamFormat === undefined ? undefined : true,
    asEvents: streamFormat === 'sse',
  };
}

function invalid(field: string, what: string): Refusal {
  return new Refusal(400, 'invalid_value', `${field} ${what}`, { field });
}

/** Clients write null for a field that they leave out. */
function text(body: Body, field: string): string | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw invalid(field, 'must be a string');
  return value;
}

function choice<const T extends string>(body: Body, field: string, allowed: readonly T[]): T | undefined {
  const value = text(body, field);
  const found = allowed.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw invalid(field, `must be one of ${allowed.join(', ')}, and is ${wellFormedStart(value)}`);
}

/** OpenAI's own voices may also come as `{"id": "…"}`. */
function voiceIn({ voice }: Body): string {
  const value = typeof voice === 'object' && voice !== null ? (voice as Body).id : voice;
  if (typeof value === 'number') return String(value);
  return text({ voice: value }, 'voice') ?? '';
}

function speedIn({ speed }: Body): number {
  const { least, most } = SPEEDS;
  const value = speed ?? 1;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid('speed', `must be a number from ${least} to ${most}`);
}

const SECONDS = 0.1;

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: OWN_RATE, channels: 1, bitsPerSample: 16 };

/**
 * Clients try a key with a single full stop, and send pieces of a chat that are an emoji or three dots. OpenAI answers them
 * with sound: a text without a letter and a digit that the voice cannot read is a short silence.
 */
async function soundOrSilence(text: string, speaking: Promise<Sound>): Promise<Sound> {
  if (/[\p{L}\p{N}]/u.test(text)) return speaking;
  const nothing = { format: FORMAT, speakable: true, pcm: silentPieces(FORMAT) };
  const sound = await speaking.catch((error: unknown) => instead(nothing, error));
  return { ...sound, pcm: orSilence(sound) };
}

async function* orSilence({ format, pcm }: Sound): AsyncGenerator<Uint8Array> {
  try {
    yield* pcm;
  } catch (error) {
    yield* instead(silentPieces(format), error);
  }
}

async function* silentPieces(format: PcmFormat): AsyncGenerator<Uint8Array> {
  yield* silence(format, SECONDS);
}

/** @throws what is not the refusal of a text */
function instead<T>(replacement: T, error: unknown): T {
  if (error instanceof EngineError && error.kind === 'unsupported text') return replacement;
  throw error;
}

/** Clients that were made for OpenAI send these names without being asked. */
const OPENAI_VOICES: ReadonlySet<string> = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
);

/**
 * Finds a voice by its name, also as `engine:name`, by its number, by the name of its engine (an installed voice may have
 * several speakers), or by its language. One of OpenAI's names stands for the default voice where no voice of the service
 * has it: the first one that an engine brings, else the first of all.
 * @throws Refusal 400 for an unknown voice
 */
function voiceOf(asked: string, engine: EngineSet): Speaker {
  const name = asked.trim();
  const all = engine.speakers;
  const isBrought = ({ engine }: Speaker) => engine !== undefined;
  const groups = [all.filter(isBrought), all.filter((speaker) => !isBrought(speaker))];
  const speakers = groups.flat();
  const found = named(name, speakers, engine) ?? voiceForLanguage(name, groups);
  if (found) return found;
  const [first] = speakers;
  if (first && (name === '' || OPENAI_VOICES.has(name.toLowerCase()))) return first;
  const shown = wellFormedStart(name);
  throw new Refusal(
    400,
    'unknown_voice',
    `There is no voice ${shown}; GET /v1/audio/voices lists the voices of this service`,
    { field: 'voice' },
  );
}

function named(name: string, speakers: readonly Speaker[], engine: EngineSet): Speaker | undefined {
  const lower = name.toLowerCase();
  const namesOf = ({ name, engine }: Speaker) =>
    engine === undefined ? [name] : [name, `${engine}:${name}`];
  return (
    speakers.find((speaker) => namesOf(speaker).includes(name)) ??
    speakers.find((speaker) => namesOf(speaker).some((each) => each.toLowerCase() === lower)) ??
    (/^-?\d+$/.test(name) ? numberedSpeaker(Number(name), engine) : undefined) ??
    speakers.find(({ engine }) => engine?.toLowerCase() === lower) ??
    speakers.find((speaker) => speaker.engine !== undefined && shortName(speaker.name) === lower)
  );
}

/** Answers `POST /v1/audio/speech` with sound that leaves while it is made. */
export async function speakForOpenAi(exchange: Exchange, context: ServiceContext): Promise<void> {
  const { request, response, details, id } = exchange;
  const { engine, limits, metrics } = context;
  const asked = checkAudioRequest(await readJson(request, response, limits.body));
  const speaker = voiceOf(asked.voice, engine);
  assertShort(asked, context.maxText);
  Object.assign(details, { speaker: speaker.no, characters: countCodePoints(asked.input) });
  const { instructions, stream } = asked;
  const { style, ignored } = styleOf(engine.isFar ? undefined : instructions);
  response.setHeader('X-Voice', encodeURIComponent(context.hide(speaker.name)));
  if (ignored.length > 0) response.setHeader('X-Instructions-Ignored', ignoredHeader(ignored));
  const release = takeEncoder(asked);
  try {
    const form = await formOf(asked, context.programs);
    const utterance = { text: asked.input, speaker, style, instructions, stream };
    const sound = await soundOrSilence(utterance.text, ownSoundOf(context, utterance, exchange.signal));
    await sendLive(exchange, sound, form(sound), () =>
      metrics.addFirstByte((performance.now() - exchange.begun) / 1000),
    );
  } catch (error) {
    throw withRetryAfter(forClient(error, id, context), engine);
  } finally {
    release();
  }
}

/** An encoder is a thread or a process: a flood of requests may not start more of them. */
const MOST_ENCODERS = 32;
const UNENCODED: readonly ResponseFormat[] = ['wav', 'pcm'];

let encoders = 0;

/** @throws Refusal 503 while too many encoders are at work */
function takeEncoder({ format }: AudioRequest): () => void {
  if (UNENCODED.includes(format)) return () => {};
  if (encoders >= MOST_ENCODERS) throw new Refusal(503, 'busy', 'Too many sounds are encoded already');
  encoders += 1;
  return () => {
    encoders -= 1;
  };
}

function assertShort({ input }: AudioRequest, maxText: number): void {
  if (countCodePoints(input) <= maxText) return;
  throw new Refusal(400, 'string_too_long', `input is longer than ${maxText} characters`, { field: 'input' });
}

/** @throws Refusal 400 for a format that this machine cannot write */
async function formOf(
  { format: name, asEvents: isEvents, speed }: AudioRequest,
  programs: Programs | undefined,
) {
  const row = FORMATS[name];
  const encoding = streamingOf(
    encodingOf('', { encode: row.encoding, ...(programs && { programs }) }),
    'the answer',
  );
  await encoding.assertReady().catch((error: Error) => {
    throw new Refusal(400, 'unsupported_format', error.message, { field: 'response_format' });
  });
  return ({ format }: Sound) => ({
    mediaType: isEvents ? 'text/event-stream' : row.mediaType,
    async *encoded(pcm: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      const to = formatFor(row, format);
      const speech = atSpeed({ format, bytes: undefined, pcm }, speed);
      const track = untagged(sameFormat(format, to) ? speech : converted(speech, to));
      const bytes = encoding.stream(track, () => {});
      yield* isEvents ? asEvents(bytes) : bytes;
    },
  });
}
