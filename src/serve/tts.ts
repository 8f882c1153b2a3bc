/** The API that `tts` itself uses as a client: `POST /tts`, and the list of its speakers. */
import * as v from 'valibot';
import { type Exchange, type HttpApi, HttpError, json, type Reply, type Route } from '../kit/http/route.ts';
import { text, type ValueOf } from '../kit/schema.ts';
import { rowOf } from '../options/rows.ts';
import { bodySchema, valuesIn } from '../options/values.ts';
import { wavHeader } from '../sound/encode/wav.ts';
import type { Fields, Voice } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import { FIELD_NAMES, FIELDS } from '../voices/sources.ts';
import { ABOUT_CALLBACKS } from './callbacks.ts';
import { ABOUT_WORDS, asksForWords, CAPTIONED_ANSWERS } from './captioned.ts';
import { withHeader } from './sound.ts';
import { ABOUT_IGNORED, isRelayed, type LiveEncoder, nameOf, type ServiceContext, speak } from './speak.ts';

const BODY = bodySchema('tts', { text: text() });

const ACCEPTED = v.object({ request_id: v.string(), status: v.literal('accepted') });

const SPEAKERS = v.object({
  speakers: v.array(
    v.object({
      speaker_no: v.pipe(v.number(), v.integer()),
      name: v.string(),
      kind: v.pipe(
        v.nullable(v.string()),
        v.description('`neo.one` takes `sample_rate`, `Mermish` takes `instructions`; null: not known'),
      ),
      language: v.pipe(v.string(), v.description('BCP 47, or the name that espeak-ng has for it')),
      gender: v.optional(v.picklist(['woman', 'man', 'neutral'])),
      sample_rate: v.pipe(
        v.nullable(v.number()),
        v.description(
          'The own rate of the voice in Hz; null until an engine whose answers tell it has spoken',
        ),
      ),
    }),
  ),
});

const ERROR = v.object({
  error: v.object({
    code: v.pipe(v.string(), v.description('A word for programs, in snake_case')),
    message: v.pipe(v.string(), v.description('A sentence for people')),
    field: v.pipe(v.optional(v.string()), v.description('The field at fault, as in `config.sample_rate`')),
  }),
});

function errorBody({ code, message, field }: HttpError): ValueOf<typeof ERROR> {
  return { error: { code, message, ...(field !== undefined && { field }) } };
}

const speech: Route<ServiceContext, ValueOf<typeof BODY>> = {
  method: 'POST',
  path: '/tts',
  about: {
    operationId: 'textToSpeech',
    summary: 'Convert text to speech',
    description: 'Answers with a complete audio file, or with a stream of one.',
    answers: {
      200: {
        description:
          '16-bit mono audio. A complete file comes with `Content-Length` and exact sizes in its header; a stream is chunked, and both sizes in its header are 0xFFFFFFFF. With `words`, it is JSON with the audio in base64; a stream has an object for each sentence, one on a line.',
        headers: ABOUT_IGNORED,
        content: { 'audio/wav': undefined, ...CAPTIONED_ANSWERS },
      },
      202: {
        description: 'Accepted: the audio will be sent to `callback_url`.',
        headers: ABOUT_IGNORED,
        content: { 'application/json': ACCEPTED },
      },
    },
    more: { ...ABOUT_WORDS, callbacks: ABOUT_CALLBACKS },
  },
  body: BODY,
  handle: speakForTts,
};

const speakers: Route<ServiceContext> = {
  method: 'GET',
  path: '/speakers',
  about: {
    operationId: 'listSpeakers',
    summary: 'List the speakers',
    answers: {
      200: {
        description: 'Every speaker that `speaker_no` can name.',
        content: { 'application/json': SPEAKERS },
      },
    },
  },
  handle: (_, { voices, hide }) => json({ speakers: voices.all.map((each) => listed(each, hide)) }),
};

export const ttsApi: HttpApi<ServiceContext> = {
  name: 'tts',
  prefix: '/',
  routes: [speech, speakers],
  takesBearer: false,
  invalid: { status: 422, code: 'invalid_field' },
  errors: ERROR,
  error: errorBody,
};

/** Hz, as the interface of `POST /tts` promises. */
const DEFAULT_SAMPLE_RATE = 22_050;

/** @throws HttpError 413 for a longer text; 422 for an unknown speaker, or an option that its kind does not have */
async function speakForTts(
  exchange: Exchange<ValueOf<typeof BODY>>,
  context: ServiceContext,
): Promise<Reply> {
  const { body, headers } = exchange;
  const { voices, maxText, callbacks } = context;
  const { speaker: no, callbackUrl, ...fields } = valuesIn('tts', body);
  if (countCodePoints(body.text) > maxText)
    throw new HttpError(413, 'text_too_long', `The text is longer than ${maxText} characters`, {
      field: 'text',
    });
  const voice = no === undefined ? undefined : voices.numbered(no);
  if (!voice) {
    const there = voices.all.length > 0 ? `; there are ${ranges(voices.all)}` : '';
    throw new HttpError(422, 'unknown_speaker', `There is no speaker ${no}${there}`, { field: 'speaker_no' });
  }
  // A remote service checks the options of its speakers, and chooses its own sample rate.
  if (!isRelayed(voice)) assertSupported(voice, fields);
  const hasWords = asksForWords(exchange, ttsApi.invalid);
  if (hasWords && callbackUrl !== undefined)
    throw new HttpError(
      422,
      'unsupported_option',
      'words are sent in the answer only, not to a callback_url',
      {
        field: 'callback_url',
      },
    );
  const { sampleRate } = fields;
  const rate = isRelayed(voice) ? sampleRate : Math.round(sampleRate ?? DEFAULT_SAMPLE_RATE);
  const request = {
    text: body.text,
    voice,
    fields: { ...fields, sampleRate: rate },
    callback: callbacks.targetOf(callbackUrl, headers),
    live: fields.stream ? streamedWav : undefined,
  };
  if (!hasWords) return speak(request, exchange, context);
  const { captioned } = await import('./captions.ts');
  const how = { live: streamedWav, inLines: fields.stream === true, hasWords };
  return captioned(request, how, exchange, context);
}

/** Streams a WAV whose header has placeholders for the unknown sizes. */
const streamedWav: LiveEncoder = (format) => ({
  mediaType: 'audio/wav',
  encoded: (pcm) => withHeader(wavHeader(format, undefined), pcm),
});

/** @throws HttpError 422 for an option that the voice does not support */
function assertSupported(voice: Voice, fields: Fields): void {
  for (const field of FIELD_NAMES) {
    if (fields[field] === undefined || voice.supports?.includes(field)) continue;
    const path = rowOf(field).wire?.tts?.path ?? field;
    throw new HttpError(
      422,
      'unsupported_option',
      `${path.replace(/^.*\./, '')} is supported by speakers of the kind ${FIELDS[field].kind} only; speaker ${voice.no} is of the kind ${kindOf(voice)}`,
      { field: path },
    );
  }
}

/** @returns the numbers of the voices as ranges: `1 to 5, 11 to 15` */
function ranges(voices: readonly Voice[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const no of voices.map((voice) => voice.no).sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.last === no - 1) run.last = no;
    else runs.push({ first: no, last: no });
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`)).join(', ');
}

/** Voices of engines have no kind of their own, and count as the usual kind, whose options they support. */
function kindOf(voice: Voice): string | null {
  return voice.kind ?? (isRelayed(voice) ? null : FIELDS.sampleRate.kind);
}

type Listed = ValueOf<typeof SPEAKERS>['speakers'][number];

function listed(voice: Voice, hide: ServiceContext['hide']): Listed {
  const { no, language = 'und', gender, sampleRate } = voice;
  return {
    speaker_no: no,
    name: hide(nameOf(voice)),
    kind: kindOf(voice),
    language,
    ...(gender && { gender }),
    sample_rate: sampleRate ?? null,
  };
}
