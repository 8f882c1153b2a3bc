/** `POST /tts`: the interface of the service that `tts` itself speaks. */
import { pipeline } from 'node:stream/promises';
import type { EngineSet, Speaker, Utterance } from '../engines/engine.ts';
import { styleOf } from '../engines/style.ts';
import { wavHeader } from '../sound/encode/wav.ts';
import { countCodePoints } from '../text/unicode.ts';
import { type Exchange, Refusal, readJson, sendJson, wellFormedStart } from './http.ts';
import { forClient, headed, type Sound, storeWav } from './sound.ts';
import {
  type Form,
  ignoredHeader,
  numberedSpeaker,
  ownSoundOf,
  type ServiceContext,
  sendLive,
  soundAt,
  withRetryAfter,
} from './speak.ts';
import openapi from './tts-openapi.json' with { type: 'json' };

const WAV = 'audio/wav';

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

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
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

/** Answers `POST /tts`, or accepts a callback. */
export async function speakForTts(exchange: Exchange, context: ServiceContext): Promise<void> {
  const { request, response, details, id, signal } = exchange;
  const { engine, callbacks, metrics } = context;
  const body = checkRequest(await readJson(request, response, context.limits.body));
  Object.assign(details, { speaker: body.speaker_no, characters: countCodePoints(body.text) });
  const { utterance, ignored } = await orderOf(body, engine, context.maxText);
  const target = callbacks.targetOf(body.callback_url, request);
  if (ignored.length > 0) response.setHeader('X-Instructions-Ignored', ignoredHeader(ignored));
  if (target !== undefined) {
    // `Limits.callbacks` bounds those that wait.
    callbacks.accept(id, target, (end) => spokenSound(context, { ...utterance, isPatient: true }, end));
    return sendJson(exchange, 202, { request_id: id, status: 'accepted' });
  }
  const onSound = () => metrics.addFirstByte((performance.now() - exchange.begun) / 1000);
  try {
    const sound = await spokenSound(context, utterance, signal);
    if (body.config?.use_streaming_response) await sendLive(exchange, sound, streamedWav(sound), onSound);
    else await sendWhole(exchange, sound, onSound);
  } catch (error) {
    throw withRetryAfter(forClient(error, id, context), engine);
  }
}

/** Nobody knows the sizes that its header should have. */
function streamedWav({ format }: Sound): Form {
  const header = wavHeader(format, undefined);
  return { mediaType: WAV, encoded: (pcm) => headed(header, pcm) };
}

/** @throws Refusal before the answer begins; later errors break the connection */
async function sendWhole({ response, signal }: Exchange, sound: Sound, onSound: () => void): Promise<void> {
  const { bytes, read, dispose } = await storeWav(sound);
  try {
    signal.throwIfAborted();
    response.writeHead(200, { 'Content-Type': WAV, 'Content-Length': bytes });
    onSound();
    await pipeline(read(), response);
  } finally {
    await dispose();
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
