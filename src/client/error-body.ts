import { setTimeout as sleep } from 'node:timers/promises';
import { decoded } from '../error-answer.ts';

interface Beginning {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * Reads the first bytes. An error of the body ends them, and is dropped.
 * @param forMs milliseconds
 */
export async function firstBytes(
  body: AsyncIterable<Uint8Array>,
  most: number,
  forMs?: number,
): Promise<Beginning> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  const read = async () => {
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.length;
      if (length >= most) return;
    }
    isWhole = true;
  };
  const late = new AbortController();
  const reading = read().catch(() => {});
  await Promise.race([reading, ...(forMs === undefined ? [] : [sleep(forMs, undefined, late)])]);
  late.abort();
  return { bytes: Buffer.concat(pieces).subarray(0, most), isWhole };
}

/** Some services send errors with status 200. */
const CODES: readonly (readonly [code: RegExp, status: number])[] = [
  [/^[\w-]*(?:quota|credit|billing|payment)[\w-]*$/i, 402],
  [/^(?:too[_-]?many|rate|throttl)[\w-]*$/i, 429],
  [/^(?:unauthori[sz]ed|unauthenticated|forbidden|(?:invalid|missing|bad)[_-](?:api[_-]?)?key)[\w-]*$/i, 401],
];

export function statusIn(body: Uint8Array): number | undefined {
  try {
    const codes = wordsIn(JSON.parse(decoded(body)));
    return CODES.find(([code]) => codes.some((word) => code.test(word)))?.[1];
  } catch {
    return undefined;
  }
}

/** Finds the codes, which are strings of one word. */
function wordsIn(data: unknown, depth = 0): string[] {
  if (typeof data === 'string') return /\s/.test(data) ? [] : [data];
  if (typeof data !== 'object' || data === null || depth > 2) return [];
  return Object.values(data).flatMap((value) => wordsIn(value, depth + 1));
}
