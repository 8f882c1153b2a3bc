import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

/** A key that nobody guesses: 192 random bits, safe in URLs and shells. */
export function randomKey(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Makes the check that every request for speech has to pass; a null key lets everybody in.
 * Hashes are compared, so that the time taken tells neither the length nor the beginning of the key.
 */
export function createKeyCheck(apiKey: string | null): (request: IncomingMessage) => void {
  if (apiKey === null) return () => {};
  const wanted = sha256(Buffer.from(apiKey));
  return ({ headers }) => {
    const given = headers['x-api-key'];
    if (given === undefined) {
      throw new Refusal(401, 'missing_api_key', 'The header X-API-KEY with the API key is missing');
    }
    // Node reads header bytes as Latin-1, while clients send a key as UTF-8.
    if (!timingSafeEqual(sha256(Buffer.from(String(given), 'latin1')), wanted)) {
      throw new Refusal(401, 'invalid_api_key', 'The API key in X-API-KEY is not valid');
    }
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
