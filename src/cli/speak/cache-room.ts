import type { SpeechJob } from '../../speech/job.ts';
import type { Context } from '../context.ts';

const DEFAULT_RATE = 22_050;
const BYTES_PER_SAMPLE = 2;
/** A cache uses this share of its limit at most; the rest is room for an eviction. */
const SHARE_IN_USE = 15 / 16;
const GIB = 2 ** 30;

type Room = Pick<SpeechJob, 'cacheBytes' | 'voice'>;

/** @param seconds of sound */
export function warnOfRoom(
  { cacheBytes, voice }: Room,
  seconds: number,
  { notices }: Pick<Context, 'notices'>,
): void {
  if (cacheBytes === undefined) return;
  const rate = voice.shape.sampleRate ?? DEFAULT_RATE;
  const bytes = seconds * rate * BYTES_PER_SAMPLE;
  if (bytes <= cacheBytes * SHARE_IN_USE) return;
  const enough = Math.ceil((2 * bytes) / SHARE_IN_USE / GIB) / 2;
  notices.warn(
    `about ${inGiB(bytes)} of audio do not fit into the cache of ${inGiB(cacheBytes)}: after an early end, a part is paid for again; cacheSize: ${enough}GB in your own config holds it`,
  );
}

function inGiB(bytes: number): string {
  const size = bytes / GIB;
  return size < 0.1 ? `${Math.ceil(bytes / 2 ** 20)} MiB` : `${size.toFixed(1)} GiB`;
}
