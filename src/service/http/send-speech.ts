import { pipeline } from 'node:stream/promises';
import type { PcmFormat } from '../../audio/pcm.ts';
import { aborted } from './aborted.ts';
import type { Exchange } from './exchange.ts';
import type { Effects } from './fault.ts';
import { record } from './recording.ts';
import { leadingHeader, withHeaderEach } from './wav-layout.ts';

/** What an engine makes of a text. */
export interface Sound {
  readonly format: PcmFormat;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/** How a client wants it, and what goes wrong on the way. */
export interface Manner {
  readonly streamed: boolean;
  readonly effects: Effects;
}

/** @throws Refusal of the engine, as long as nothing was sent; whatever fails later breaks the connection */
export async function sendSpeech(exchange: Exchange, sound: Sound, manner: Manner): Promise<void> {
  const { format } = sound;
  const pcm = manner.effects.wavHeader === 'per-chunk' ? withHeaderEach(sound.pcm, format) : sound.pcm;
  // Only who knows the whole can promise it and then stop in the middle.
  if (manner.streamed && !manner.effects.truncate) await sendLive(exchange, { format, pcm }, manner.effects);
  else await sendWhole(exchange, { format, pcm }, manner);
}

/** Header and first samples go out together: what an engine refuses, it refuses before its first samples. */
async function sendLive(exchange: Exchange, { format, pcm }: Sound, effects: Effects): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    exchange.signal.throwIfAborted();
    writeHead(exchange, effects);
    const header = leadingHeader(format, undefined, effects.wavHeader);
    await send(exchange, joined(header, first, pieces), effects);
  } finally {
    await pieces.return?.();
  }
}

async function sendWhole(exchange: Exchange, { format, pcm }: Sound, manner: Manner): Promise<void> {
  const { streamed, effects } = manner;
  const recording = await record(pcm);
  try {
    exchange.signal.throwIfAborted();
    const header = leadingHeader(format, recording.bytes, effects.wavHeader);
    const bytes = effects.truncate ? Math.floor(recording.bytes / 4) * 2 : recording.bytes;
    writeHead(exchange, effects, streamed ? undefined : header.length + bytes);
    await send(exchange, limited(header, recording.read(), bytes), effects);
  } finally {
    await recording.dispose();
  }
}

function writeHead({ response }: Exchange, { contentType = 'audio/wav' }: Effects, length?: number): void {
  response.writeHead(200, {
    'Content-Type': contentType,
    ...(length !== undefined && { 'Content-Length': length }),
  });
}

async function send(exchange: Exchange, body: AsyncIterable<Uint8Array>, effects: Effects): Promise<void> {
  const { dropAfter } = effects;
  await pipeline(dropAfter === undefined ? body : dropped(exchange, body, dropAfter), exchange.response);
}

async function* joined(
  header: Uint8Array,
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
) {
  yield first.done ? header : Buffer.concat([header, first.value]);
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* limited(header: Uint8Array, pcm: AsyncIterable<Uint8Array>, bytes: number) {
  if (header.length > 0) yield header;
  let left = bytes;
  for await (const piece of pcm) {
    if (left === 0) return;
    yield piece.subarray(0, left);
    left -= Math.min(left, piece.length);
  }
}

/** Closes the connection behind so many bytes, which still arrive. */
async function* dropped({ response, signal }: Exchange, body: AsyncIterable<Uint8Array>, bytes: number) {
  let left = bytes;
  for await (const piece of body) {
    if (left > 0) yield piece.subarray(0, left);
    left -= piece.length;
    if (left > 0) continue;
    response.socket?.destroySoon();
    await aborted(signal);
    return;
  }
}
