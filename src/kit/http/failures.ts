import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, decoded, ExitCode, messageIn, retryAfter, TtsError } from '../error.ts';
import { isTransient, LONGEST_REQUESTED_WAIT } from '../retry.ts';
import { EndlessHeadError, HEAD_LIMITS, IdleError } from '../wait.ts';
import { printable } from '../words.ts';
import { type Answer, LostConnectionError } from './stream.ts';

const TIMEOUT = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

export function noAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  if (cause instanceof ProxyError) return unreachableProxy(cause, timeoutMs);
  if (isLate(cause)) return idleFailure(url.host, timeoutMs, cause);
  const blocked = blockedByProxy(cause, url.host);
  if (blocked) return blocked;
  const misunderstood = notHttp(failureCode(cause), messageOf(cause), url.host);
  if (misunderstood) {
    const { what, hint } = misunderstood;
    return new TtsError(what, { exitCode: ExitCode.service, hint, cause, retry: {} });
  }
  const isLost = cause instanceof LostConnectionError;
  const failed = noConnection(isLost ? cause.cause : cause, { host: url.host, isProxy: false }, isLost);
  if (!failed) throw cause;
  return failed;
}

function unreachableProxy({ host, cause }: ProxyError, timeoutMs: number): TtsError {
  if (isLate(cause)) return idleFailure(`the proxy ${host}`, timeoutMs, cause);
  const failed = noConnection(cause, { host, isProxy: true });
  if (!failed) throw cause;
  return failed;
}

function isLate(cause: unknown): boolean {
  return cause instanceof IdleError || TIMEOUT.has(failureCode(cause));
}

function notHttp(code: string, message: string, host: string) {
  const elsewhere = 'check the base URL: its port may belong to something else, or speak https://';
  const contradicts = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || /Content-Length/.test(message);
  if (!contradicts && (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW'))
    return { what: `${host} does not answer in HTTP`, hint: elsewhere };
  // undici asserts against some answers, such as a status 101 that was not asked for.
  if (code === 'ERR_ASSERTION') return { what: `${host} sent an invalid HTTP answer`, hint: elsewhere };
  if (message === 'bad upgrade')
    return { what: `${host} wants to go on in another protocol (status 101)`, hint: elsewhere };
  if (contradicts)
    return {
      what: `the answer of ${host} contradicts itself about its length`,
      hint: 'try again; if this keeps happening, the service or a proxy in between is broken',
    };
  return undefined;
}

export function brokenAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  if (cause instanceof IdleError) return idleFailure(url.host, timeoutMs, cause);
  if (failureCode(cause) === '') throw cause;
  return new TtsError(`the answer of ${url.host} broke off before its end`, {
    exitCode: ExitCode.service,
    hint: 'try again; if this keeps happening, the service or a proxy in between ends connections too early',
    cause,
    retry: {},
  });
}

function idleFailure(host: string, timeoutMs: number, cause: unknown): TtsError {
  const seconds = timeoutMs / 1000;
  const isEndless = cause instanceof EndlessHeadError;
  const what = isEndless
    ? `no answer from ${host} within ${HEAD_LIMITS * seconds} s`
    : `no byte from ${host} for ${seconds} s`;
  return new TtsError(what, {
    exitCode: ExitCode.timeout,
    hint: 'try again, or wait longer with --timeout',
    cause,
    retry: {},
  });
}

/** Node's codes for a certificate. Other reasons of OpenSSL are `UNSPECIFIED`. */
const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_|CRL_|UNSPECIFIED$)/;
/** Other codes (`ERR_INVALID_…`) are defects. */
const OF_THE_SYSTEM = /^(?!ERR_|UND_ERR_)[A-Z][A-Z0-9_]+$|^ERR_(SOCKET|STREAM)_/;

interface Peer {
  readonly host: string;
  readonly isProxy: boolean;
}

interface Case {
  readonly code: RegExp;
  /** @param who the peer, as in `the proxy proxy.example.com` */
  readonly what: (who: string, failure: Peer & { readonly code: string; readonly message: string }) => string;
  readonly hint: string;
  readonly fitsProxy?: boolean;
  readonly isLasting?: boolean;
}

const cases: readonly Case[] = [
  {
    code: /^(ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/,
    what: (_, { host, isProxy }) => `there is no ${isProxy ? 'proxy' : 'host'} ${host}`,
    hint: 'check the name in the base URL, and whether this machine is online',
  },
  {
    code: /^EAI_/,
    what: (who, { code, isProxy }) => `the name ${isProxy ? 'of ' : ''}${who} cannot be looked up (${code})`,
    hint: 'check the name in the base URL, and the name server of this machine',
  },
  {
    code: /^ECONNREFUSED$/,
    what: (who) => `nothing listens at ${who}`,
    hint: 'check the port in the base URL, and whether the service is running',
  },
  {
    code: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    what: (who) => `${who} closed the connection without an answer`,
    hint: 'try again; a proxy or a firewall may be in between',
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    what: (who, { code }) => `the certificate at ${who} belongs to another host (${code})`,
    hint: 'check the name in the base URL: it has to be one that the certificate names',
    isLasting: true,
  },
  {
    code: CERTIFICATE,
    what: (who, { code, message }) =>
      `the certificate of ${who} cannot be trusted (${code === 'UNSPECIFIED' ? message : code})`,
    hint: 'for a private CA: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
    fitsProxy: true,
    isLasting: true,
  },
  {
    code: /^(ERR_(OS)?SSL|EPROTO$)/,
    what: (who, { code }) => `${who} does not speak TLS as expected (${code})`,
    hint: 'check the base URL: does the service speak http:// rather than https://?',
  },
  {
    code: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    what: (who, { code }) => `there is no route to ${who} (${code})`,
    hint: 'check the network; for this machine itself, whether its loopback device is up (ip link set lo up)',
    fitsProxy: true,
  },
  {
    code: /^E[MN]FILE$/,
    what: (who, { code }) => `no connection to ${who}: too many files are open (${code})`,
    hint: 'allow more (ulimit -n), or lower --concurrency',
    fitsProxy: true,
  },
  {
    code: /^ENOMEM$/,
    what: (who) => `no connection to ${who}: there is not enough memory`,
    hint: 'allow more (ulimit -v), or end other programs',
    fitsProxy: true,
    isLasting: true,
  },
  {
    code: OF_THE_SYSTEM,
    what: (who, { code }) => `no connection to ${who} (${code})`,
    hint: 'check the base URL and the network',
  },
];

/**
 * Words the failure of a connection.
 * @param isLost true for a reused connection: the next try needs no wait
 * @returns `undefined` for other causes
 */
function noConnection(cause: unknown, { host, isProxy }: Peer, isLost = false): TtsError | undefined {
  const code = failureCode(cause);
  const found = cases.find((each) => each.code.test(code));
  if (!found) return undefined;
  const who = isProxy ? `the proxy ${host}` : host;
  return new TtsError(found.what(who, { host, isProxy, code, message: messageOf(cause) }), {
    exitCode: ExitCode.connection,
    hint: isProxy && !found.fitsProxy ? 'check --proxy, HTTPS_PROXY, HTTP_PROXY and NO_PROXY' : found.hint,
    cause,
    retry: found.isLasting ? undefined : isLost ? { after: 0 } : {},
  });
}

/** The code of an error. Errors of the parser, and of WebAssembly without memory, get one here. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error instanceof RangeError && error.message.includes('Out of memory')) return 'ENOMEM';
  return codeOf(error) || (error.name === 'HTTPParserError' ? 'HPE_' : '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

export class ProxyError extends Error {
  readonly host: string;

  constructor(host: string, cause: unknown) {
    super('the proxy cannot be reached', { cause });
    this.host = host;
  }
}

export class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answers with status ${status}`);
    this.status = status;
  }
}

/** The message completes a sentence about the proxy, as `closed the connection` does. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}

const PASSWORD =
  'give a user name and password that the proxy accepts, as in http://user:password@proxy:port';

/** @returns `undefined` for other causes */
function blockedByProxy(cause: unknown, host: string): TtsError | undefined {
  const { connection: exitCode } = ExitCode;
  if (cause instanceof ProxyRefusal) {
    const { status } = cause;
    return new TtsError(`the proxy refuses to connect to ${host} (status ${status})`, {
      exitCode,
      hint: status === 407 ? PASSWORD : 'ask the operator of the proxy',
      cause,
      ...(isTransient(status) && { retry: {} }),
    });
  }
  if (cause instanceof TunnelError)
    return new TtsError(`the proxy ${cause.message} when it was asked for ${host}`, {
      exitCode,
      hint: 'check --proxy, HTTPS_PROXY and HTTP_PROXY, or ask the operator of the proxy',
      cause,
      retry: {},
    });
  return undefined;
}

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

/** An answer without a body (RFC 9110, section 15.3.5). */
export const NO_CONTENT = 204;

/** The answer to a range request, which is never sent (RFC 9110, section 15.3.7). */
export const PARTIAL_CONTENT = 206;

/** Statuses for an unknown speaker or a bad text. */
const UNWANTED = new Set([400, 404, 422]);

/** Such messages also come with other statuses than 413. */
const TOO_LONG =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Bytes of an error body that are read. */
const READ_BYTES = 16_384;
/** Milliseconds. */
const READ_MS = 2000;

export interface ServiceName {
  readonly url: URL;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
}

/** @param status the status that the answer stands for */
export async function refusal(
  answer: Answer,
  to: ServiceName,
  status: number = answer.status,
): Promise<TtsError> {
  const { headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, READ_BYTES, READ_MS);
  const message = messageIn(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  const after = retryAfter(headers);
  return new TtsError(`${meaning(status, to)} (status ${answer.status}${message && `: ${message}`})`, {
    exitCode: exitCodeOf(status),
    concernsThisTextOnly: UNWANTED.has(status),
    isOutage: status >= 500,
    hint: (isTransient(status) && hintToWait(after)) || hintFor({ status, headers, message }, to),
    ...(isTransient(status) && { retry: { after, busy: status === 429 || status === 503, status } }),
  });
}

export function hintToWait(seconds = 0): string | undefined {
  if (seconds <= LONGEST_REQUESTED_WAIT) return undefined;
  const hours = Math.ceil(seconds / 3600);
  return `the service asks to wait ${hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`}`;
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return ExitCode.key;
  return status === 402 || status === 429 ? ExitCode.quota : ExitCode.service;
}

function meaning(status: number, { url }: ServiceName): string {
  const name = url.host;
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
  readonly message: string;
}

function hintFor({ status, headers, message }: Refused, { url, keyOrigin }: ServiceName): string {
  if (status === 401 || status === 403) return `the key came from ${keyOrigin}`;
  if (status === 402)
    return 'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit';
  if (status === 429) return 'wait, or look at the limits of the account';
  if (status === 404 && url.pathname.endsWith('/tts/tts'))
    return 'the base URL ends in /tts already, and /tts is added to it: leave it out there';
  if (status === 404) return `check the base URL: /tts is added to it${hintToEngine(url, message)}`;
  if (status === 407) return 'the proxy wants a user and a password: http://user:password@proxy:port';
  if (status >= 300 && status < 400) return hintToMove(headers.location, url);
  if (status === 413 || (UNWANTED.has(status) && TOO_LONG.test(message)))
    return 'send less at once: --max-chars sets how long one request may be';
  if (isTransient(status)) return hintToRetry(message);
  return message ? 'the text in brackets is what the service said' : 'check the base URL and the settings';
}

function hintToRetry(message: string): string {
  const isOfEngine = /\(engine_\w+\)$/.test(message);
  return isOfEngine ? 'tts doctor --engine ENGINE checks the engine' : 'try again later';
}

/** A message of FastAPI, or a version in the path, suggests OpenAI's interface. */
function hintToEngine({ origin, pathname }: URL, message: string): string {
  const base = pathname.replace(/\/tts$/, '');
  if (!base.endsWith('/v1') && message !== 'Not Found') return '';
  return `; a server with OpenAI's /audio/speech is an engine: --engine ${origin}${base.endsWith('/v1') ? base : `${base}/v1`}`;
}

function hintToMove(location: string | undefined, from: URL): string {
  if (location === undefined || !URL.canParse(location, from.href))
    return 'check the base URL: the answer names no other address';
  const { origin, pathname, protocol } = new URL(location, from);
  if (!/^https?:$/.test(protocol))
    return 'check the base URL: the redirect does not lead to an http(s) address';
  if (origin === from.origin && pathname === from.pathname)
    return 'the redirect points back to the same address: the service, or a proxy in between, is misconfigured';
  // Path and query may hold the key.
  const isBase = /^\/(?:tts\/?)?$/.test(pathname);
  return isBase
    ? `if you trust it, name it as the base URL: ${printable(origin)}`
    : `if you trust it, look for the base URL below ${printable(origin)}`;
}
