import { printable } from './words.ts';

/** The exit statuses, which docs/exit-status.md promises. */
export const ExitCode = {
  ok: 0,
  defect: 1,
  usage: 2,
  key: 3,
  quota: 4,
  timeout: 5,
  connection: 6,
  service: 7,
  output: 8,
  partial: 9,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

interface Retry {
  /** Seconds that the service asked for. */
  readonly after?: number | undefined;
  /** True if fewer requests at once may help. */
  readonly busy?: boolean;
  readonly status?: number;
}

/** The place where a text broke off. */
export interface Stop {
  /** The number of segments before this place. */
  readonly done: number;
  readonly total?: number | undefined;
  /** The line of the input, counted from 1. */
  readonly line?: number | undefined;
}

export interface TtsErrorOptions {
  readonly exitCode: ExitCode;
  /** The hint is missing if the user ended the run, or if the message says what is expected and there is no more to say. */
  readonly hint?: string | undefined;
  readonly details?: readonly string[] | undefined;
  readonly cause?: unknown;
  /** It is set if another try may succeed. */
  readonly retry?: Retry | undefined;
  /** True if the service refuses this text and may accept others. */
  readonly concernsThisTextOnly?: boolean | undefined;
  /** True if the other side is at fault and another try does not help. */
  readonly isOutage?: boolean | undefined;
  readonly stop?: Stop | undefined;
}

/** An error with a cause outside this program. Anything else that is thrown is a defect. */
export class TtsError extends Error {
  override readonly name = 'TtsError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: readonly string[] | undefined;
  readonly retry: TtsErrorOptions['retry'];
  readonly concernsThisTextOnly: boolean;
  readonly isOutage: boolean;
  readonly stop: Stop | undefined;

  /** @param message one line without a full stop */
  constructor(message: string, options: TtsErrorOptions) {
    const { exitCode, hint, details, cause, retry, stop } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.hint = hint;
    this.details = details;
    this.retry = retry;
    this.concernsThisTextOnly = options.concernsThisTextOnly ?? false;
    this.isOutage = options.isOutage ?? false;
    this.stop = stop;
  }

  reworded(message: string, options: Partial<TtsErrorOptions> = {}): TtsError {
    return new TtsError(message, { ...this, ...options, cause: this.cause ?? this });
  }
}

/** The end of a run that `tts stop` or the next run has silenced. */
export class Silenced extends TtsError {
  constructor() {
    super('silenced by tts stop, or by the next run', { exitCode: ExitCode.terminated });
  }
}

/** Makes the error for a wrong option, text, value or config file. */
export function usageError(message: string, hint: string, cause?: unknown): TtsError {
  return new TtsError(message, { exitCode: ExitCode.usage, hint, cause });
}

/**
 * An error of another context of `node:vm` is not an instance of our `Error`.
 * @returns the code of a system's error, such as `ENOENT`; empty without one
 */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

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
