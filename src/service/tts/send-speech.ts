import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { aborted, yieldToEventLoop } from '../../async.ts';
import type { PcmFormat } from '../../audio/pcm.ts';
import { wavHeader } from '../../audio/wav-header.ts';
import type { Effects, HeaderFault } from '../faults/fault.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Sound, storeSound } from '../http/stored-sound.ts';

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
export async function sendSpeech(exchange: Exchange, sound: Sound, manner: Manner): Promise<void> {
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
  const pieces = isPaced ? (await import('../faults/fault.ts')).paced(body, effects, exchange.signal) : body;
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

export async function endConnection(
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
