import { setTimeout as sleep } from 'node:timers/promises';
import { aborted } from '../../async.ts';
import type { PcmFormat } from '../../audio/pcm.ts';
import type { EngineSound, Utterance } from '../../engine/contract.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { callbackTarget } from '../callbacks/policy.ts';
import type { Effects } from '../faults/fault.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import { forClient, sendJson } from '../http/refuse.ts';
import type { Sound } from '../http/stored-sound.ts';
import type { ServiceContext } from './context.ts';
import { checkRequest, surelySpeakable } from './request-check.ts';
import { endConnection, sendSpeech } from './send-speech.ts';
import { ignoredHeader, orderOf, withPatience } from './utterance.ts';

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
