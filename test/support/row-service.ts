import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';
import { type ByteServer, type Script, serveBytes } from './byte-server.ts';
import { answer, complete } from './http-bytes.ts';

/** `requests` has only those for sound. */
export interface RowService extends ByteServer {
  /** How many times each text was answered with its sound. */
  readonly spoken: Map<string, number>;
}

export interface RowServiceOptions {
  /** Returns what happens to a request instead of its answer, or `undefined` to answer it. */
  readonly fault?: (text: string, times: number) => Script | undefined;
  /** Milliseconds before each answer. */
  readonly delay?: number;
  /** The speakers that `GET /speakers` lists; without them it answers 404. */
  readonly speakers?: readonly number[];
  /** Called after each answer with sound. */
  readonly onSpoken?: (count: number) => void;
}

/** Starts a service whose sound identifies the text, from which its length and its samples are derived. */
export async function serveRows({
  fault,
  delay = 0,
  speakers,
  onSpoken,
}: RowServiceOptions = {}): Promise<RowService> {
  const spoken = new Map<string, number>();
  const asked = new Map<string, number>();
  let count = 0;
  const requests: ByteServer['requests'] = [];
  const list = speakers && JSON.stringify({ speakers: speakers.map((speaker_no) => ({ speaker_no })) });
  const server = await serveBytes(async (wire, request, number) => {
    if (request.method === 'GET') return answer(list ? 200 : 404, list)(wire, request, number);
    requests.push(request);
    const { text } = request.json as { text: string };
    const times = (asked.get(text) ?? 0) + 1;
    asked.set(text, times);
    if (delay > 0) await sleep(delay);
    const broken = fault?.(text, times);
    if (broken) return broken(wire, request, number);
    await complete(wavOf(text))(wire, request, number);
    spoken.set(text, (spoken.get(text) ?? 0) + 1);
    count += 1;
    onSpoken?.(count);
  });
  return { ...server, requests, spoken };
}

/** The sound of a text. */
export function wavOf(text: string): Uint8Array {
  const digest = createHash('sha256').update(text).digest();
  return plainWav(sound(2 * (100 + (digest.readUInt16LE() % 200))));
}

/** One fault of each kind that a retry overcomes, to be chosen by the text. */
export const passingFaults: readonly Script[] = [
  answer(503, '', { 'Retry-After': 0 }),
  answer(429, '', { 'Retry-After': 0 }),
  answer(500, 'oops'),
  (wire) => wire.reset(),
  (wire) => wire.end(),
  async (wire) => {
    await wire.write('HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: 5000\r\n\r\nRIFF');
    wire.end();
  },
];
