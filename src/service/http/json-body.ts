import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './refusal.ts';

/**
 * @param limit bytes
 * @throws Refusal 415 for another media type, 413 past the limit, 400 for anything but unambiguous JSON in UTF-8
 */
export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number) {
  checkHeaders(request, limit);
  if (request.headers.expect !== undefined) response.writeContinue();
  return parse(await readBytes(request, limit));
}

export function hasUnreadBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return !request.complete && (encoding !== undefined || Number(length ?? 0) > 0);
}

function checkHeaders({ headers, headersDistinct }: IncomingMessage, limit: number): void {
  for (const type of headersDistinct['content-type'] ?? ['']) checkType(type.toLowerCase());
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'The body must come without Content-Encoding');
  }
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

function checkType(value: string): void {
  const [type = '', ...parameters] = value.split(';');
  if (type.trim() !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json');
  }
  const charset = parameters.join(';').match(/\bcharset\s*=\s*"?([^\s";]*)/)?.[1] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw new Refusal(415, 'unsupported_media_type', 'The charset of the body must be UTF-8');
  }
}

/** It does not use `for await`: an early end of it would destroy the connection of the refusal. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length <= limit) return;
      request.off('data', take);
      reject(tooLarge(limit));
    };
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(pieces)));
    request.once('error', reject);
  });
}

function parse(bytes: Buffer): unknown {
  const text = decode(bytes);
  const value = parseJson(text);
  const key = repeatedKey(text);
  if (key === undefined) return value;
  const field = wellFormedStart(key);
  throw new Refusal(400, 'repeated_key', `The key ${field} stands twice in one object`, { field });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, 'invalid_utf8', 'The body is not valid UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not valid JSON');
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'body_too_large', `The body is larger than ${limit} bytes`);
}

const TOKEN = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/**
 * Readers of JSON differ in which of two values counts.
 * @param json is valid JSON
 */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, string = '', colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const key: string = JSON.parse(string);
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

/**
 * No half of a surrogate pair is left in it.
 * @param length what an error quotes at most, unless said otherwise
 */
export function wellFormedStart(text: string, length = 80): string {
  return text.slice(0, length).replace(/\p{Surrogate}/gu, '\ufffd');
}
