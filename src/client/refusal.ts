import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode, TtsError } from '../error.ts';
import { printable } from '../printable.ts';
import type { Answer } from './response-stream.ts';
import { isTransient, LONGEST_REQUESTED_WAIT, retryAfter } from './retry.ts';

/** RFC 9110, section 15.3.5. */
export const NO_CONTENT = 204;

/** For range requests (RFC 9110, section 15.3.7), which are never sent. */
export const PARTIAL_CONTENT = 206;

/** For an unknown speaker or a bad text. */
const UNWANTED = new Set([400, 404, 422]);

/** Messages about a long text come with other statuses than 413, too. */
const TOO_LONG =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Of an error body. */
const READ_BYTES = 16_384;
/** Milliseconds for an error body. */
const READ_MS = 2000;

export interface ServiceName {
  readonly url: URL;
  /** For messages; the host by default. */
  readonly name?: string | undefined;
  /** In words. */
  readonly keyOrigin: string;
}

export async function refusal(answer: Answer, to: ServiceName): Promise<TtsError> {
  const { status, headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, READ_BYTES, READ_MS);
  const message = messageIn(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  // The service's clock may differ from this machine's.
  const after = retryAfter(headers['retry-after'], Date.parse(headers.date ?? '') || Date.now());
  return new TtsError(`${meaning(status, to)} (status ${status}${message && `: ${message}`})`, {
    exitCode: exitCodeOf(status),
    isUnwanted: UNWANTED.has(status),
    hint: (isTransient(status) && hintToWait(after)) || hintFor({ status, headers, message }, to),
    ...(isTransient(status) && { retry: { after, busy: status === 429 || status === 503, status } }),
  });
}

function hintToWait(seconds = 0): string | undefined {
  if (seconds <= LONGEST_REQUESTED_WAIT) return undefined;
  const hours = Math.ceil(seconds / 3600);
  return `the service asks to wait ${hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`}`;
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return ExitCode.key;
  return status === 402 || status === 429 ? ExitCode.quota : ExitCode.service;
}

function meaning(status: number, { url, name = url.host }: ServiceName): string {
  if (status === NO_CONTENT) return `${name} sent no audio`;
  if (status === PARTIAL_CONTENT) return `${name} sent only a part of the audio`;
  if (status === 401) return `${name} does not accept the key`;
  if (status === 402) return `${name} requires payment`;
  if (status === 403) return `${name} does not allow this with the key`;
  if (status === 404) return `there is nothing at ${url.href}`;
  if (status === 408) return `${name} waited too long for the request`;
  if (status === 429) return `${name} takes no more requests for now`;
  if (status >= 300 && status < 400) return `${name} points to another address, which is not followed`;
  if (status >= 500) return `${name} failed`;
  return `${name} refuses the request`;
}

interface Refused extends Pick<Answer, 'status' | 'headers'> {
  /** May be empty. */
  readonly message: string;
}

function hintFor({ status, headers, message }: Refused, { url, keyOrigin }: ServiceName): string {
  if (status === 401 || status === 403) return `the key came from ${keyOrigin}`;
  if (status === 402 || status === 429) return 'wait, or look at the limits of the account';
  if (status === 404 && url.pathname.endsWith('/tts/tts'))
    return 'the base URL ends in /tts already, and /tts is added to it: leave it out there';
  if (status === 404) return 'check the base URL: /tts is added to it';
  if (status === 407) return 'the proxy wants a user and a password: http://user:password@proxy:port';
  if (status >= 300 && status < 400) return hintToMove(headers.location, url);
  if (status === 413 || (UNWANTED.has(status) && TOO_LONG.test(message)))
    return 'send less at once: --max-chars sets how long one request may be';
  if (isTransient(status)) return 'try again later';
  return message ? 'the text in brackets is what the service said' : 'check the base URL and the settings';
}

function hintToMove(location: string | undefined, from: URL): string {
  if (location === undefined || !URL.canParse(location, from.href))
    return 'check the base URL: the answer names no other address';
  const { origin, pathname, protocol } = new URL(location, from);
  if (!/^https?:$/.test(protocol))
    return 'check the base URL: the redirect does not lead to an http(s) address';
  if (origin === from.origin && pathname === from.pathname)
    return 'the redirect points back to the same address: the service, or something in between, is misconfigured';
  // Path and query may hold the key.
  const isBase = /^\/(?:tts\/?)?$/.test(pathname);
  return isBase
    ? `if you trust it, name it as the base URL: ${printable(origin)}`
    : `if you trust it, look for the base URL below ${printable(origin)}`;
}

interface Circumstances {
  readonly isCut?: boolean;
  /** Of the header. */
  readonly contentType?: string | undefined;
}

/**
 * The message of an error body as one sentence. Reads `{"error":{"code","message"}}`, `{"error":"…"}`, `{"message":"…"}`,
 * `{"detail":"…"}`, FastAPI's `{"detail":[{"loc","msg"}]}`, plain text and HTML; empty for none. A cut body ends in "…",
 * since its last word may be half of a key.
 */
export function messageIn(body: Uint8Array, { isCut = false, contentType }: Circumstances = {}): string {
  if (!isText(body)) return '';
  const message = decoded(body, contentType).trim();
  const text = isCut && message !== '' ? `${message}…` : message;
  return printable(fromJson(text) ?? (looksLikeHtml(text) ? fromHtml(text) : text));
}

/** As UTF-8, or in the encoding that the service names. */
function decoded(bytes: Uint8Array, contentType = ''): string {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** For encodings that extend ASCII. */
export function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

function fromJson(text: string): string | undefined {
  try {
    return sentence(JSON.parse(text)) || undefined;
  } catch {
    return undefined;
  }
}

function sentence(data: unknown): string {
  if (typeof data === 'string') return data;
  if (Array.isArray(data)) return data.map(sentence).filter(Boolean).join('; ');
  if (typeof data !== 'object' || data === null) return '';
  const { error, errors, message, msg, detail, title, description, code, loc, field } = data as Record<
    string,
    unknown
  >;
  const text = [message, msg, detail, error, errors, description, title].map(sentence).find(Boolean) ?? '';
  if (Array.isArray(loc) && loc.length > 0) return `${loc.join('.')}: ${text}`;
  const about = [code, field].filter(
    (part) => typeof part === 'string' && part !== '' && !text.includes(part),
  );
  if (text === '') return about.join(' ');
  return about.length > 0 ? `${text} (${about.join(', ')})` : text;
}

function looksLikeHtml(text: string): boolean {
  return /^<(!doctype|!--|\?xml|[a-z][a-z\d]*[\s/>])/i.test(text);
}

const SIGNS: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

function fromHtml(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  const text = html
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(
      /&(?:#(\d{1,7}|x[\da-f]{1,6})|(nbsp|lt|gt|quot|apos|amp));/gi,
      (_, number?: string, name = '') =>
        number === undefined
          ? (SIGNS[name.toLowerCase()] ?? '')
          : character(Number(number.replace(/^x/i, '0x'))),
    )
    .replace(/\s+/g, ' ')
    .trim();
  if (!title || text.startsWith(title)) return text || title || '';
  return text ? `${title}: ${text}` : title;
}

function character(number: number): string {
  return number <= 0x10ffff ? String.fromCodePoint(number) : '';
}

interface Beginning {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * Ends at an error of the body without throwing it.
 * @param most bytes
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
