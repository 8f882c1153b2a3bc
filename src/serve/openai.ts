/** The OpenAI-compatible API: `POST /v1/audio/speech`, and the lists of voices and models that its clients ask for. */
import * as v from 'valibot';
import { TtsError } from '../kit/error.ts';
import type { ProgramHost } from '../kit/host.ts';
import {
  type Exchange,
  type HttpApi,
  HttpError,
  json,
  quotable,
  type Reply,
  type Route,
} from '../kit/http/route.ts';
import { choice, text, type ValueOf } from '../kit/schema.ts';
import { aborted } from '../kit/wait.ts';
import { bodySchema, valuesIn } from '../options/values.ts';
import { converted } from '../sound/convert.ts';
import type { EncodingName } from '../sound/encode/encoding.ts';
import { encodingOf, streamingOf } from '../sound/encode/encodings.ts';
import { sameFormat, untagged } from '../sound/pcm.ts';
import { atSpeed } from '../sound/tempo.ts';
import { countCodePoints } from '../text/unicode.ts';
import { eachField } from '../voices/sources.ts';
import { ABOUT_WORDS, asksForWords, CAPTIONED, CAPTIONED_ANSWERS } from './captioned.ts';
import {
  ABOUT_IGNORED,
  defaultVoice,
  type LiveEncoder,
  nameOf,
  type ServiceContext,
  speak,
  voiceNamed,
  voiceNear,
} from './speak.ts';

interface ServedFormat {
  readonly encoding: EncodingName;
  readonly mediaType: string;
  /** Hz. OpenAI's interface promises it for bare samples; other formats keep the rate of the voice. */
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
} as const satisfies Record<string, ServedFormat>;

type ResponseFormat = keyof typeof FORMATS;

const OWN_FIELDS = {
  input: text(),
  response_format: v.nullish(choice(...(Object.keys(FORMATS) as ResponseFormat[])), 'mp3'),
};

const BODY = bodySchema('openai', { ...OWN_FIELDS, stream_format: v.nullish(choice('audio', 'sse')) }, true);

/** The fields of Kokoro-FastAPI, all optional. Its request for a download link is ignored. */
const CAPTIONED_BODY = bodySchema(
  'openai',
  {
    ...OWN_FIELDS,
    stream: v.pipe(
      v.nullish(v.boolean('must be true or false'), true),
      v.description('An object for each sentence, one on a line; otherwise a single one'),
    ),
    return_timestamps: v.nullish(v.boolean('must be true or false'), true),
  },
  true,
);

const EVENT = v.variant('type', [
  v.object({
    type: v.literal('speech.audio.delta'),
    audio: v.pipe(v.string(), v.description('A piece of the sound, in base64')),
  }),
  v.object({
    type: v.literal('speech.audio.done'),
    usage: v.object({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() }),
  }),
]);

const VOICES = v.object({
  voices: v.array(
    v.object({
      id: v.pipe(v.string(), v.description('What `voice` takes')),
      name: v.string(),
      language: v.string(),
      speaker_no: v.pipe(v.number(), v.integer()),
    }),
  ),
});

const NAMES = v.object({
  object: v.literal('list'),
  data: v.array(
    v.object({ id: v.string(), object: v.literal('model'), created: v.number(), owned_by: v.string() }),
  ),
});

const ERROR = v.object({
  error: v.object({
    message: v.string(),
    type: v.string(),
    param: v.pipe(v.nullable(v.string()), v.description('The field at fault')),
    code: v.string(),
  }),
});

/** Errors as OpenAI's libraries read them; the types are those of https://platform.openai.com/docs/guides/error-codes. */
function errorBody({ status, message, field, code }: HttpError): ValueOf<typeof ERROR> {
  const known: Readonly<Record<number, string>> = { 401: 'authentication_error', 429: 'rate_limit_error' };
  const type = known[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  // Errors name the field `text`; this API calls it `input`.
  const param = field === 'text' ? 'input' : (field ?? null);
  return { error: { message, type, param, code } };
}

const speech: Route<ServiceContext, ValueOf<typeof BODY>> = {
  method: 'POST',
  path: '/v1/audio/speech',
  about: {
    operationId: 'createSpeech',
    summary: "Convert text to speech, as OpenAI's clients ask for it",
    description:
      "Sound leaves while it is made. Fields that this description does not name are left alone, such as `model`. As `voice` counts a name, a number or a language; the names of OpenAI's own voices stand for the default voice.",
    answers: {
      200: {
        description: 'The sound in `response_format`, or events with it.',
        headers: { 'X-Voice': 'The name of the voice that speaks, percent-encoded.', ...ABOUT_IGNORED },
        content: {
          ...Object.fromEntries(Object.values(FORMATS).map(({ mediaType }) => [mediaType, undefined])),
          'text/event-stream': EVENT,
          ...CAPTIONED_ANSWERS,
        },
      },
    },
    more: ABOUT_WORDS,
  },
  body: BODY,
  handle: speakForOpenAi,
};

/** This path, which is not below `/v1/`, is that of Kokoro-FastAPI. */
const captionedSpeech: Route<ServiceContext, ValueOf<typeof CAPTIONED_BODY>> = {
  method: 'POST',
  path: '/dev/captioned_speech',
  about: {
    operationId: 'createCaptionedSpeech',
    summary: 'Convert text to speech with the time of each word, as clients of Kokoro-FastAPI ask for it',
    description:
      'The fields are those of `POST /v1/audio/speech`, and further ones are left alone. A stream has an object for each sentence, one on a line.',
    answers: {
      200: {
        description: 'The sound in `response_format`, with the times of its words.',
        headers: { 'X-Voice': 'The name of the voice that speaks, percent-encoded.', ...ABOUT_IGNORED },
        content: { 'application/json': CAPTIONED },
      },
    },
  },
  body: CAPTIONED_BODY,
  async handle(exchange, context) {
    const { stream, return_timestamps: hasWords } = exchange.body;
    const reply = await spoken(exchange, context, { captions: { inLines: stream, hasWords } });
    // Clients of Kokoro-FastAPI expect this type for NDJSON, too.
    return { ...reply, headers: { ...reply.headers, 'Content-Type': 'application/json' } };
  },
};

/** Kokoro-FastAPI and Open WebUI expect an `id` and a `name` for each voice. */
const voices: Route<ServiceContext> = {
  method: 'GET',
  path: '/v1/audio/voices',
  about: {
    operationId: 'listVoices',
    summary: "List the voices for clients of OpenAI's interface",
    answers: {
      200: { description: 'Every voice that has a number.', content: { 'application/json': VOICES } },
    },
  },
  handle: (_, { voices, hide }) =>
    json({
      voices: voices.all.map((voice) => ({
        id: hide(nameOf(voice)),
        name: hide(nameOf(voice)),
        language: voice.language ?? 'und',
        speaker_no: voice.no,
      })),
    }),
};

/** Model names that clients offer to their users. Requests may name any model; it has no effect. */
const MODELS = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];

const models: Route<ServiceContext> = {
  method: 'GET',
  path: '/v1/models',
  about: {
    operationId: 'listModels',
    summary: 'List names of models for clients that ask',
    answers: { 200: { description: 'Names that clients know.', content: { 'application/json': NAMES } } },
  },
  handle: () => {
    const data = MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'tts-pipe' }));
    return json({ object: 'list', data });
  },
};

export const openAiApi: HttpApi<ServiceContext> = {
  name: 'openai',
  prefix: '/v1/',
  routes: [speech, captionedSpeech, voices, models],
  takesBearer: true,
  takesMoreSlashes: true,
  invalid: { status: 400, code: 'invalid_value' },
  errors: ERROR,
  error: errorBody,
};

/** Names that clients made for OpenAI send by default. */
const OPENAI_VOICES: ReadonlySet<string> = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
);

/** @throws HttpError */
function speakForOpenAi(exchange: Exchange<ValueOf<typeof BODY>>, context: ServiceContext): Promise<Reply> {
  const { stream_format: streamFormat } = exchange.body;
  const hasWords = asksForWords(exchange, openAiApi.invalid);
  if (hasWords && streamFormat === 'sse')
    throw new HttpError(400, 'invalid_value', 'stream_format sse has no place for words', {
      field: 'stream_format',
    });
  const captions = hasWords ? { inLines: streamFormat === 'audio', hasWords } : undefined;
  return spoken(exchange, context, { streamFormat, captions });
}

interface ResponseForm {
  readonly streamFormat?: 'audio' | 'sse' | null | undefined;
  readonly captions?: { readonly inLines: boolean; readonly hasWords: boolean } | undefined;
}

/** Answers with streamed sound, or with sound and word times. @throws HttpError */
async function spoken(
  exchange: Exchange<Pick<ValueOf<typeof BODY>, 'input' | 'response_format'>>,
  context: ServiceContext,
  { streamFormat, captions }: ResponseForm,
): Promise<Reply> {
  const { input, response_format: format } = exchange.body;
  const { speaker: name = '', speed = 1, ...fields } = valuesIn('openai', exchange.body);
  const voice = voiceOf(name.trim(), exchange, context);
  if (countCodePoints(input) > context.maxText)
    throw new HttpError(400, 'string_too_long', `input is longer than ${context.maxText} characters`, {
      field: 'input',
    });
  reserveEncoder(format, exchange.signal);
  const live = await liveEncoder({ format, speed, asEvents: streamFormat === 'sse' }, context.programs);
  const request = {
    text: input,
    voice,
    fields: {
      ...eachField(() => undefined),
      ...fields,
      // Blank instructions count as none.
      instructions: fields.instructions?.trim() ? fields.instructions : undefined,
      // A client that sets `stream_format` wants a stream.
      stream: streamFormat ? true : undefined,
    },
    live,
    silentIfUnreadable: true,
  };
  const reply = captions
    ? await (await import('./captions.ts')).captioned(
        request,
        { ...captions, live, speed },
        exchange,
        context,
      )
    : await speak(request, exchange, context);
  return {
    ...reply,
    headers: { ...reply.headers, 'X-Voice': encodeURIComponent(context.hide(nameOf(voice)).toWellFormed()) },
  };
}

/**
 * Finds the requested voice. OpenAI's own names stand for the default voice, unless a voice of the service has that name. A
 * name such as `pt-BR-FranciscaNeural` gets another voice of its language, and the log says so.
 */
function voiceOf(name: string, { id }: Exchange, context: ServiceContext) {
  const { voices } = context;
  const isUsual = name === '' || OPENAI_VOICES.has(name.toLowerCase());
  const voice =
    voiceNamed(name, voices) ?? (isUsual ? defaultVoice(voices) : undefined) ?? voiceNear(name, id, context);
  if (voice) return voice;
  throw new HttpError(
    400,
    'unknown_voice',
    `There is no voice ${quotable(name)}; GET /v1/audio/voices lists the voices of this service`,
    { field: 'voice' },
  );
}

/** Encoders that may run at once. Each is a thread or a process, which a flood of requests must not multiply. */
const MAX_ENCODERS = 32;
const UNENCODED: readonly ResponseFormat[] = ['wav', 'pcm'];

let encoders = 0;

/** Reserves an encoder until `signal` aborts. @throws HttpError 503 while too many are running */
function reserveEncoder(format: ResponseFormat, signal: AbortSignal): void {
  if (UNENCODED.includes(format)) return;
  if (encoders >= MAX_ENCODERS) throw new HttpError(503, 'busy', 'Too many sounds are encoded already');
  encoders += 1;
  void aborted(signal).then(() => {
    encoders -= 1;
  });
}

interface EncoderOptions {
  readonly format: ResponseFormat;
  readonly speed: number;
  readonly asEvents: boolean;
}

/** @throws HttpError 400 for a format that this machine cannot write */
async function liveEncoder(
  { format: name, speed, asEvents }: EncoderOptions,
  programs: ProgramHost,
): Promise<LiveEncoder> {
  const { encoding: encode, mediaType, ...row }: ServedFormat = FORMATS[name];
  const encoding = streamingOf(encodingOf('', { encode, programs }), 'the answer');
  await encoding.assertReady().catch((error: unknown) => {
    if (!(error instanceof TtsError)) throw error;
    throw new HttpError(400, 'unsupported_format', error.message, { field: 'response_format' });
  });
  return (format) => ({
    mediaType: asEvents ? 'text/event-stream' : mediaType,
    encoded: (pcm) => {
      const to = { ...format, ...row };
      const speech = atSpeed({ format, bytes: undefined, pcm }, speed);
      const bytes = encoding.stream(
        untagged(sameFormat(format, to) ? speech : converted(speech, to)),
        () => {},
      );
      return asEvents ? events(bytes) : bytes;
    },
  });
}

/** OpenAI's event requires token counts; the service counts none. */
const USAGE = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** Yields server-sent events with the sound in base64. @param sound encoded bytes */
async function* events(sound: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of sound) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('base64');
    yield event({ type: 'speech.audio.delta', audio });
  }
  yield event({ type: 'speech.audio.done', usage: USAGE });
}

/** Returns a server-sent event: one line of JSON (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
function event(data: object): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}
