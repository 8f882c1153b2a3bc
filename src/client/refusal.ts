import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode, TtsError } from '../error.ts';
import { printable } from '../printable.ts';
import type { Answer } from './response-stream.ts';
import { isTransient, LONGEST_REQUESTED_WAIT, retryAfter } from './retry.ts';

/** Has no body (RFC 9110, section 15.3.5). */
export const NO_CONTENT = 204;

/** Answers a request for a range (RFC 9110, section 15.3.7), which is never sent. */
export const PARTIAL_CONTENT = 206;

/** The answers to an unknown speaker, or to a text that cannot be spoken. */
const UNWANTED = new Set([400, 404, 422]);

/** Messages about a text that is too long, which come with other statuses than 413, too. */
const TOO_LONG =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Enough of an error body to find its message. */
const READ_BYTES = 16_384;
/** The body of a refusal is awaited no longer: its status says enough. */
const READ_MS = 2000;

export interface ServiceName {
  readonly url: URL;
  /** For messages; the host, unless set. */
  readonly name?: string | undefined;
  /** Where the key came from, in words. */
  readonly keyOrigin: string;
}

/** The error for an answer without a status of success. */
export async function refusal(answer: Answer, to: ServiceName): Promise<TtsError> {
  const { status, headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, READ_BYTES, READ_MS);
  const message = messageIn(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  // The service's clock, where its answer has a date, may differ from this machine's.
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
  /** The body's message; may be empty. */
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

/** The base URL that leads to where a redirect points. */
function hintToMove(location: string | undefined, from: URL): string {
  if (location === undefined || !URL.canParse(location, from.href))
    return 'check the base URL: the answer names no other address';
  const { origin, pathname, protocol } = new URL(location, from);
  if (!/^https?:$/.test(protocol))
    return 'check the base URL: the redirect does not lead to an http(s) address';
  if (origin === from.origin && pathname === from.pathname)
    return 'the redirect points back to the same address: the service, or something in between, is misconfigured';
  // The path and the query may hold the key, and are not shown.
  const isBase = /^\/(?:tts\/?)?$/.test(pathname);
  return isBase
    ? `if you trust it, name it as the base URL: ${printable(origin)}`
    : `if you trust it, look for the base URL below ${printable(origin)}`;
}

interface Circumstances {
  /** True if only the beginning of the body was read. */
  readonly isCut?: boolean;
  /** The header. */
  readonly contentType?: string | undefined;
}

/**
 * The message in an error body, as one readable sentence: of `{"error":{"code","message"}}`, `{"error":"…"}`,
 * `{"message":"…"}`, `{"detail":"…"}`, FastAPI's `{"detail":[{"loc","msg"}]}`, plain text, or an HTML page. Empty where
 * there is none. A body that was cut ends in "…": its last word, which may be the key, may be half of one.
 */
export function messageIn(body: Uint8Array, { isCut = false, contentType }: Circumstances = {}): string {
  if (!isText(body)) return '';
  const message = decoded(body, contentType).trim();
  const text = isCut && message !== '' ? `${message}…` : message;
  return printable(fromJson(text) ?? (looksLikeHtml(text) ? fromHtml(text) : text));
}

/** Decodes UTF-8, or a known encoding that the service names. */
function decoded(bytes: Uint8Array, contentType = ''): string {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** True if bytes may be text in an encoding that extends ASCII. */
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
  /** True if the body ended in order, with these bytes. */
  readonly isWhole: boolean;
}

/**
 * The first bytes of a body. An error of the body ends them, and is not thrown.
 * @param most bytes
 * @param forMs no bytes are awaited after this time
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
