/** Reads the message and the requested wait from HTTP answers. */
import { printable } from '../words.ts';

interface BodyInfo {
  readonly isCut?: boolean;
  readonly contentType?: string | undefined;
}

/**
 * Returns the message of `{"error":{"code","message"}}`, `{"error":"…"}`, `{"message":"…"}`, `{"detail":"…"}`, FastAPI's
 * `{"detail":[{"loc","msg"}]}`, plain text or HTML, in one line; '' if there is none. A cut body gets "…" at its end,
 * since its last word may be half of a key.
 */
export function messageIn(body: Uint8Array, { isCut = false, contentType }: BodyInfo = {}): string {
  if (!isText(body)) return '';
  const message = decoded(body, contentType).trim();
  const text = isCut && message !== '' ? `${message}…` : message;
  return printable(fromJson(text) ?? (looksLikeHtml(text) ? fromHtml(text) : text));
}

/** Decodes text in the charset of the content type, or in UTF-8. */
export function decoded(bytes: Uint8Array, contentType = ''): string {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** True for bytes without the control characters of binary data. */
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

/** Fields that hold a message, in most services, in Deepgram, in Murf and PlayHT, in MiniMax, and in Apigee. */
const MESSAGE_FIELDS = [
  'message',
  'msg',
  'detail',
  'err_msg',
  'error_message',
  'status_msg',
  'base_resp',
  'faultstring',
  'fault',
];
const CODE_FIELDS = ['code', 'err_code', 'error_code', 'error_id'];

function sentence(data: unknown): string {
  if (typeof data === 'string') return data;
  if (Array.isArray(data)) return data.map(sentence).filter(Boolean).join('; ');
  if (typeof data !== 'object' || data === null) return '';
  const { error, errors, title, description, loc, field, ...others } = data as Record<string, unknown>;
  const fields = fieldErrors(errors) || fieldErrors(data);
  const own = [...MESSAGE_FIELDS.map((name) => others[name]), error].map(sentence).find(Boolean);
  const text =
    [own, fields].filter(Boolean).join(' ') ||
    ([errors, description, title].map(sentence).find(Boolean) ?? '');
  if (Array.isArray(loc) && loc.length > 0) return `${loc.join('.')}: ${text}`;
  const about = [...CODE_FIELDS.map((name) => others[name]), field].filter(
    (part) => typeof part === 'string' && part !== '' && !text.includes(part),
  );
  if (text === '') return about.join(' ');
  return about.length > 0 ? `${text} (${about.join(', ')})` : text;
}

/** The errors of ASP.NET, Laravel, Rails and Django, which map field names to lists of texts. */
function fieldErrors(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '';
  const entries = Object.entries(data);
  if (!entries.every(([, texts]) => Array.isArray(texts) && texts.every((each) => typeof each === 'string')))
    return '';
  const said = entries.map(([field, texts]: [string, string[]]) => {
    const text = texts.join(' ');
    return text.toLowerCase().includes(field.toLowerCase()) ? text : `${field}: ${text}`;
  });
  return said.join(' ');
}

/** Base64 or hex that is longer than a key or a checksum. */
const ENCODED = /"(?:data:audio\/[\w.+;=-]{1,80},)?[\w+/=-]{200}/;

/** True for JSON, or a stream of JSON events, with sound encoded as text. */
export function holdsEncodedSound(body: Uint8Array): boolean {
  if (!isText(body)) return false;
  const text = decoded(body);
  return /^\s*(?:[{["]|data:|event:)/.test(text) && ENCODED.test(text);
}

function looksLikeHtml(text: string): boolean {
  return /^<(!doctype|!--|\?xml|[a-z][a-z\d]*[\s/>])/i.test(text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

function fromHtml(html: string): string {
  const title = /<title[^<>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  const text = html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<(script|style|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(
      /&(?:#(\d{1,7}|x[\da-f]{1,6})|(nbsp|lt|gt|quot|apos|amp));/gi,
      (_, number?: string, name = '') =>
        number === undefined
          ? (ENTITIES[name.toLowerCase()] ?? '')
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

/** Seconds; shorter waits are raised to this. */
const SHORTEST_REQUESTED_WAIT = 0.05;

/** The largest delta-seconds (RFC 9111, section 1.2.2). */
const LARGEST_SECONDS = 2 ** 31;

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Reads how long a service asks to wait, from `Retry-After`, or for 429 also from the reset of its rate limit.
 * @returns seconds, at least 0.05
 */
export function askedWait(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  now = Date.now(),
): number | undefined {
  return retryAfter(headers, now) ?? (status === 429 ? limitReset(headers, now) : undefined);
}

/**
 * Reads from the body of an error how long to wait: `"retryDelay": "36s"` of Google, `"retry_after": 60` of Cloudflare.
 * @returns seconds, at least 0.05
 */
export function waitIn(body: Uint8Array): number | undefined {
  const [, seconds] =
    /"retry_?(?:delay|after)"\s{0,9}:\s{0,9}"?(\d{1,9}(?:\.\d{1,9})?)s?"?\s{0,9}[,}]/i.exec(decoded(body)) ??
    [];
  return seconds === undefined ? undefined : bounded(Number(seconds));
}

const NUMBER = /^\d+(?:\.\d+)?$/;

/**
 * Reads a number or a date (RFC 9110, section 10.2.3), or the milliseconds of OpenAI's and Azure's services. A date is taken
 * relative to the date of the answer, since the clocks of two machines may differ.
 * @param now milliseconds since 1970, for an answer without a date
 * @returns seconds, at least 0.05
 */
export function retryAfter(headers: Headers, now = Date.now()): number | undefined {
  const milliseconds = (headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'])?.trim() ?? '';
  if (NUMBER.test(milliseconds)) return bounded(Number(milliseconds) / 1000);
  const text = headers['retry-after']?.trim() ?? '';
  if (NUMBER.test(text)) return bounded(Number(text));
  // All date formats are in GMT, but the asctime format does not say so.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(/\d$/.test(text) ? `${text} GMT` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded((date - sentAt(headers, now)) / 1000);
}

/** When the answer was sent, in milliseconds since 1970. */
function sentAt({ date = '' }: Headers, now: number): number {
  return Date.parse(date) || now;
}

/** `RateLimit-Reset`, `X-RateLimit-Reset`, `X-RateLimit-Reset-Requests`, `Anthropic-RateLimit-Tokens-Reset` and others. */
const RESET = /^(?:[a-z]+-)?rate-?limit-(?:[a-z-]*-)?reset(?:-[a-z-]*)?$/;

/** The wait until all used-up limits are reset. A limit without a `remaining` header counts as used up. */
function limitReset(headers: Headers, now: number): number | undefined {
  const names = Object.keys(headers).filter(
    (name) => RESET.test(name) && Number(headers[name.replace('reset', 'remaining')] ?? 0) === 0,
  );
  // The IETF draft: `limit=100, remaining=0, reset=5`, and in later versions `"default";r=0;t=5`.
  const [, draft] = /(?:^|[\s,;])(?:reset|t)=(\d+)/.exec(headers.ratelimit ?? '') ?? [];
  const waits = [...names.map((name) => headers[name]), draft].flatMap((text) => {
    const seconds = text === undefined ? undefined : secondsUntil(text.trim(), sentAt(headers, now));
    return seconds === undefined ? [] : [bounded(seconds)];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Numbers from these on are times since 1970, in seconds or milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e11;

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** @param text seconds, a time since 1970, a date, or `6m0s` as Go writes it */
function secondsUntil(text: string, now: number): number | undefined {
  if (NUMBER.test(text)) {
    const number = Number(text);
    if (number >= EPOCH_MILLISECONDS) return (number - now) / 1000;
    return number >= EPOCH_SECONDS ? number - now / 1000 : number;
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text))
    return [...text.matchAll(/([\d.]+)(ms|[smhd])/g)].reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 0),
      0,
    );
  const date = /^(?:[A-Z][a-z]{2}|\d{4}-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : (date - now) / 1000;
}

function bounded(seconds: number): number {
  return Math.min(LARGEST_SECONDS, Math.max(SHORTEST_REQUESTED_WAIT, seconds));
}
