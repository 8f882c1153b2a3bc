import { printable } from '../words.ts';

interface Circumstances {
  readonly isCut?: boolean;
  readonly contentType?: string | undefined;
}

/**
 * One sentence of `{"error":{"code","message"}}`, `{"error":"…"}`, `{"message":"…"}`, `{"detail":"…"}`, FastAPI's
 * `{"detail":[{"loc","msg"}]}`, plain text or HTML; empty for none. A cut body ends in "…": its last word may be half of a
 * key.
 */
export function messageIn(body: Uint8Array, { isCut = false, contentType }: Circumstances = {}): string {
  if (!isText(body)) return '';
  const message = decoded(body, contentType).trim();
  const text = isCut && message !== '' ? `${message}…` : message;
  return printable(fromJson(text) ?? (looksLikeHtml(text) ? fromHtml(text) : text));
}

export function decoded(bytes: Uint8Array, contentType = ''): string {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

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

/** Seconds. */
const SHORTEST_REQUESTED_WAIT = 0.05;

/** The largest number of seconds (RFC 9111, section 1.2.2). */
const LARGEST_SECONDS = 2 ** 31;

interface Headers {
  readonly 'retry-after'?: string | undefined;
  readonly date?: string | undefined;
}

/**
 * Reads a number or a date (RFC 9110, section 10.2.3). The date of the answer counts: the clocks of two machines may differ.
 * @param now milliseconds since 1970, for an answer without a date
 * @returns seconds, at least 0.05
 */
export function retryAfter(headers: Headers, now = Date.now()): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text));
  // All forms of a date are in GMT, and one of them does not say so.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(/\d$/.test(text) ? `${text} GMT` : text) : Number.NaN;
  const sent = Date.parse(headers.date ?? '') || now;
  return Number.isNaN(date) ? undefined : bounded((date - sent) / 1000);
}

function bounded(seconds: number): number {
  return Math.min(LARGEST_SECONDS, Math.max(SHORTEST_REQUESTED_WAIT, seconds));
}
