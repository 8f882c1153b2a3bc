import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { aborted } from '../../async.ts';
import type { PcmFormat } from '../../audio/pcm.ts';
import { wavHeader } from '../../audio/wav-header.ts';
import type { Exchange } from './exchange.ts';
import type { Effects, HeaderFault } from './fault.ts';
import { record } from './recording.ts';

/** What an engine makes of a text. */
export interface Sound {
  readonly format: PcmFormat;
  /** Nothing can be refused any more once the engine has taken it on. */
  readonly speakable: boolean;
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
  // The `truncate` fault promises the full size and stops halfway: for that the whole must be known first.
  if (manner.streamed && !manner.effects.truncate)
    await sendLive(exchange, { ...sound, pcm }, manner.effects);
  else await sendWhole(exchange, { ...sound, pcm }, manner);
}

/**
 * The header goes out as soon as nothing can be refused any more, which the first samples may be long behind: others
 * speak too. A full queue refuses at once; a text that may have nothing in it to speak is refused before its first samples.
 */
async function sendLive(
  exchange: Exchange,
  { format, pcm, speakable }: Sound,
  effects: Effects,
): Promise<void> {
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const first = pieces.next();
    first.catch(() => {}); // where it is not asked for any more
    await (speakable ? Promise.race([first, turn()]) : first);
    exchange.signal.throwIfAborted();
    writeHead(exchange, effects);
    exchange.response.flushHeaders();
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
  first: Promise<IteratorResult<Uint8Array>>,
  rest: AsyncIterator<Uint8Array>,
) {
  if (header.length > 0) yield header;
  for (let next = await first; !next.done; next = await rest.next()) yield next.value;
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
    await turn(); // until then, newer Nodes keep what is written to themselves
    response.socket?.destroySoon();
    await aborted(signal);
    return;
  }
}

/** Where the sizes of the RIFF and of the data chunk stand in a header of 44 bytes. */
const SIZE_OFFSETS = [4, 40] as const;

/** The bytes in front of the samples. */
export function leadingHeader(format: PcmFormat, bytes: number | undefined, fault?: HeaderFault): Uint8Array {
  if (fault === 'none' || fault === 'per-chunk') return new Uint8Array(0);
  const header = wavHeader(format, bytes);
  if (fault === undefined) return header;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  for (const offset of SIZE_OFFSETS) view.setUint32(offset, fault === 'max' ? 0xffff_ffff : 0, true);
  return header;
}

/** Puts a header of its own in front of each piece, as services do that join ready-made files. */
async function* withHeaderEach(pcm: AsyncIterable<Uint8Array>, format: PcmFormat) {
  for await (const piece of pcm) {
    yield wavHeader(format, piece.length);
    yield piece;
  }
}
