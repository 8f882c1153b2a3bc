import { converted } from '../../audio/convert.ts';
import { sameFormat, untagged } from '../../audio/pcm.ts';
import { atSpeed } from '../../audio/tempo.ts';
import { styleOf } from '../../engine/style.ts';
import type { Programs } from '../../sink/encoding/encoding.ts';
import { encodingOf, streamingOf } from '../../sink/encodings.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import { forClient } from '../http/refuse.ts';
import type { Sound } from '../http/stored-sound.ts';
import type { ServiceContext } from '../tts/context.ts';
import { sendLive } from '../tts/send-speech.ts';
import { applyFaults, ownSoundOf } from '../tts/speech.ts';
import { ignoredHeader, withPatience } from '../tts/utterance.ts';
import { asEvents } from './events.ts';
import { FORMATS, formatFor, type ResponseFormat } from './formats.ts';
import { type AudioRequest, checkAudioRequest } from './request.ts';
import { soundOrSilence } from './silent.ts';
import { voiceOf } from './voice.ts';

/** Answers `POST /v1/audio/speech` with sound that leaves while it is made. */
export async function speakForOpenAi(exchange: Exchange, context: ServiceContext): Promise<void> {
  const { request, response, details, id } = exchange;
  const { engine, limits, metrics } = context;
  const asked = checkAudioRequest(await readJson(request, response, limits.body));
  const speaker = voiceOf(asked.voice, engine);
  assertShort(asked, context.maxText);
  Object.assign(details, { speaker: speaker.no, characters: countCodePoints(asked.input) });
  const { instructions, stream } = asked;
  const { style, ignored } = await styleOf(engine.isFar ? undefined : instructions);
  const effects = context.faultControl?.effectsOn(exchange, asked.input, speaker.no) ?? {};
  await applyFaults(effects, exchange, context);
  response.setHeader('X-Voice', encodeURIComponent(context.hide(speaker.name)));
  if (ignored.length > 0) response.setHeader('X-Instructions-Ignored', ignoredHeader(ignored));
  const release = takeEncoder(asked);
  try {
    const form = await formOf(asked, context.programs);
    const utterance = { text: asked.input, speaker, style, instructions, stream };
    const sound = await soundOrSilence(utterance.text, ownSoundOf(context, utterance, exchange.signal));
    await sendLive(exchange, sound, form(sound), {
      effects,
      onSound: () => metrics?.addFirstByte((performance.now() - exchange.begun) / 1000),
    });
  } catch (error) {
    throw withPatience(forClient(error, id, context), engine);
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
