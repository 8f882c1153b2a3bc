/** Turns failed requests and refusals into errors with a hint for the user. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { codeOf, ExitCode, TtsError } from '../error.ts';
import { isBusy, isTransient, LONGEST_REQUESTED_WAIT } from '../retry.ts';
import { IdleError, resolvesWithin } from '../wait.ts';
import { printable } from '../words.ts';
import { askedWait, decoded, messageIn, waitIn } from './answer.ts';
import type { Answer } from './client.ts';

/** A proxy cannot be reached, or cannot connect to the host. */
export class ProxyError extends Error {
  readonly proxy: URL;
  readonly status: number | undefined;

  constructor(proxy: URL, cause: unknown, status?: number) {
    super('no connection through the proxy', { cause });
    this.proxy = proxy;
    this.status = status;
  }
}

/** A way in which a request fails. */
interface Failure {
  /** Error codes that it covers. */
  readonly code: RegExp;
  /** The message. @param who the host, or `the proxy HOST` */
  readonly what: (who: string, code: string, seconds: number) => string;
  readonly hint: string;
  /** The hint for a URL with http://, if it differs. */
  readonly hintForHttp?: string;
  /** The exit code; `ExitCode.connection` by default. */
  readonly exitCode?: ExitCode;
  /** 'at once' if only a kept connection may have been lost, which says nothing about a new one; by default after a wait. */
  readonly retry?: 'at once' | 'never';
  /** True if the hint applies to a proxy as well. */
  readonly fitsProxy?: boolean;
  /** True for failures of TLS: with an http proxy in between, they are the host's own. */
  readonly isTls?: boolean;
}

const UNRESOLVED_CODE = /^(ENOTFOUND|EAI_)/;

const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_\w+_TIMEOUT)$/;

const OTHER_HTTP = 'allow HTTP/1.1 there, or put a proxy such as nginx in front of it';

const HTTP2_ONLY = {
  what: (who: string) => `${who} speaks HTTP/2 alone, and tts speaks HTTP/1.1`,
  hint: OTHER_HTTP,
  retry: 'never',
  fitsProxy: true,
} as const;

/** Failures before an answer. The first match counts; an error without a match is a defect. */
const FAILURES: readonly Failure[] = [
  {
    code: TIMEOUT_CODE,
    what: (who, _, seconds) => `no answer from ${who} within ${seconds} s`,
    hint: 'try again, or wait longer with --timeout',
    exitCode: ExitCode.timeout,
    fitsProxy: true,
  },
  {
    // ALPN finds no protocol that both sides speak (RFC 7301, section 3.2).
    code: /^ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL$/,
    ...HTTP2_ONLY,
    isTls: true,
  },
  { code: /^HPE_HTTP2$/, ...HTTP2_ONLY, exitCode: ExitCode.service },
  {
    code: /^HPE_TLS$/,
    what: (who) => `${who} speaks TLS, and the address does not`,
    hint: 'write https:// instead of http:// in the base URL',
    exitCode: ExitCode.service,
    retry: 'never',
  },
  {
    code: /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)|ERR_ASSERTION$)/,
    what: (who) => `${who} sent an invalid HTTP answer`,
    hint: 'check the base URL: its port may belong to another program, or expect https://',
    exitCode: ExitCode.service,
  },
  {
    code: UNRESOLVED_CODE,
    what: (who, code) => `the name of ${who} cannot be resolved (${code})`,
    hint: 'check the name in the base URL, and whether this machine is online',
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
    hintForHttp:
      'does the service speak https:// rather than http://? Otherwise try again: a proxy or a firewall may be in between',
    retry: 'at once',
  },
  {
    code: /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_|CRL_|UNSPECIFIED$)/,
    what: (who, code) => `the certificate of ${who} cannot be trusted (${code})`,
    hint: 'check the name in the URL; for a private CA: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
    retry: 'never',
    fitsProxy: true,
    isTls: true,
  },
  {
    code: /^(ERR_(OS)?SSL|EPROTO$)/,
    what: (who, code) => `${who} does not speak TLS as expected (${code})`,
    hint: 'check the base URL: does the service speak http:// rather than https://?',
    isTls: true,
  },
  {
    code: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    what: (who, code) => `there is no route to ${who} (${code})`,
    hint: 'check the network; for this machine itself, whether its loopback device is up (ip link set lo up)',
    fitsProxy: true,
  },
  {
    code: /^E[MN]FILE$/,
    what: (who, code) => `no connection to ${who}: too many files are open (${code})`,
    hint: 'allow more (ulimit -n), or lower --concurrency',
    fitsProxy: true,
  },
  {
    code: /^ENOMEM$/,
    what: (who) => `no connection to ${who}: there is not enough memory`,
    hint: 'allow more (ulimit -v), or end other programs',
    retry: 'never',
    fitsProxy: true,
  },
  {
    // Other codes of Node and undici are defects.
    code: /^(?!ERR_|UND_ERR_)[A-Z][A-Z0-9_]+$|^ERR_(SOCKET|STREAM)_/,
    what: (who, code) => `no connection to ${who} (${code})`,
    hint: 'check the base URL and the network',
  },
];

/**
 * Describes a failure before the head of an answer.
 * @throws the cause itself if it is a defect
 */
export function noAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  const failed = cause instanceof ProxyError ? cause : undefined;
  if (failed?.status !== undefined) return refusedByProxy(failed, failed.status, url.host);
  const reason = failed ? failed.cause : cause;
  const code = failureCode(reason);
  const row = FAILURES.find((each) => each.code.test(code));
  if (!row) throw reason;
  const who = peerOf(url, failed?.proxy, row.isTls);
  const isHost = who === url.host;
  const { connection, service } = ExitCode;
  return new TtsError(row.what(who, code === 'UNSPECIFIED' ? messageOf(reason) : code, timeoutMs / 1000), {
    exitCode: row.exitCode === service && !isHost ? connection : (row.exitCode ?? connection),
    hint: hintOf(row, url, isHost),
    cause,
    retry: row.retry === 'never' ? undefined : row.retry === 'at once' ? { after: 0 } : {},
  });
}

function hintOf(
  { hint, hintForHttp = hint, fitsProxy }: Failure,
  { protocol }: URL,
  isHost: boolean,
): string {
  if (!isHost && !fitsProxy) return 'check --proxy, HTTPS_PROXY, HTTP_PROXY and NO_PROXY';
  return protocol === 'http:' ? hintForHttp : hint;
}

/** Names the peer that failed: the host, the proxy, or both if either may be it. */
function peerOf({ host, protocol }: URL, proxy: URL | undefined, isTls = false): string {
  if (!proxy || (isTls && proxy.protocol === 'http:')) return host;
  return `the proxy ${proxy.host}${isTls && protocol === 'https:' ? ` or ${host}` : ''}`;
}

function refusedByProxy(cause: ProxyError, status: number, host: string): TtsError {
  return new TtsError(`the proxy ${cause.proxy.host} refuses to connect to ${host} (status ${status})`, {
    exitCode: ExitCode.connection,
    hint:
      status === 407
        ? 'give a user name and password that the proxy accepts, as in http://user:password@proxy:port'
        : 'ask the operator of the proxy',
    cause,
    ...(isTransient(status) && { retry: {} }),
  });
}

/**
 * Describes a failure within the body of an answer.
 * @throws the cause itself if it is a defect
 */
export function brokenAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  if (TIMEOUT_CODE.test(failureCode(cause)))
    return new TtsError(`no byte from ${url.host} for ${timeoutMs / 1000} s`, {
      exitCode: ExitCode.timeout,
      hint: 'try again, or wait longer with --timeout',
      cause,
      retry: {},
    });
  if (failureCode(cause) === '') throw cause;
  return new TtsError(`the answer of ${url.host} broke off before its end`, {
    exitCode: ExitCode.service,
    hint: 'try again; if this keeps happening, the service or a proxy in between ends connections too early',
    cause,
    retry: {},
  });
}

/** True if an answer, or the next bytes of its body, timed out. */
export function isLate(error: unknown): boolean {
  return error instanceof TtsError && error.exitCode === ExitCode.timeout;
}

/** The code of an error, or one of ours for errors without a distinctive code; '' for no code. */
function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error instanceof IdleError) return 'ETIMEDOUT';
  if (error instanceof RangeError && error.message.includes('Out of memory')) return 'ENOMEM';
  if (error.message === 'bad upgrade') return 'HPE_UPGRADE';
  // Resolving a name opens files and sockets, and fails like this if too many are open.
  if (UNRESOLVED_CODE.test(codeOf(error)) && isOutOfFiles()) return 'EMFILE';
  return otherProtocol(error) ?? (codeOf(error) || (error.name === 'HTTPParserError' ? 'HPE_' : ''));
}

function isOutOfFiles(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return false;
  } catch (error) {
    return codeOf(error) === 'EMFILE';
  }
}

/** Recognizes the bytes of HTTP/2 by a SETTINGS frame (RFC 9113, section 6.5), and those of TLS by an alert (RFC 8446). */
function otherProtocol({ name, ...error }: Error): string | undefined {
  const { data } = error as { readonly data?: unknown };
  if (name !== 'HTTPParserError' || typeof data !== 'string') return undefined;
  if (data.startsWith('\0\0') && data[3] === '\x04') return 'HPE_HTTP2';
  return data.startsWith('\x15\x03') ? 'HPE_TLS' : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

interface BodyStart {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * Reads the first `most` bytes of a body. If it fails, returns those before the error, which is dropped.
 * @param forMs milliseconds after which reading ends
 */
export async function firstBytes(
  body: AsyncIterable<Uint8Array>,
  most: number,
  forMs?: number,
): Promise<BodyStart> {
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
  const reading = read().catch(() => {});
  await (forMs === undefined ? reading : resolvesWithin(forMs, reading));
  return { bytes: Buffer.concat(pieces).subarray(0, most), isWhole };
}

/** The status that an error code means, whatever the status of its answer. The first match counts. */
const CODE_STATUSES: readonly (readonly [code: RegExp, status: number])[] = [
  // Not Alibaba's `Throttling.RateQuota`, which is a limit per minute.
  [
    /^(?!throttl).*(?:quota|credits?(?![a-z])|billing|payment|balance(?![a-z])|funds|daily_?limit|usage[_-]?(?:limit|cap)[_-]?(?:reach|exceed))|^arrear/i,
    402,
  ],
  [/^too[_-]?many|^(?:user[_-]?)?rate|^throttl/i, 429],
  [
    /^(?:unauthori[sz]ed|unauthenticated|forbidden|(?:invalid|missing|bad)[_-]?api[_-]?key|api[_-]?key[_-]?invalid)/i,
    401,
  ],
];

/** @returns the status that the codes in a body mean, if any: some services send errors with status 200 */
export function statusIn(body: Uint8Array): number | undefined {
  const codes = codesIn(body);
  return CODE_STATUSES.find(([code]) => codes.some((word) => code.test(word)))?.[1];
}

/**
 * For statuses that services misuse, those that they may mean: ElevenLabs reports a used-up quota as 401, OpenAI as 429,
 * Google a rate limit as 403 and a wrong key as 400, Amazon a rate limit as 400.
 */
const MISUSED_STATUSES: Readonly<Record<number, readonly number[]>> = {
  400: [401, 402, 429],
  401: [402, 429],
  403: [402, 429],
  422: [402],
  429: [402],
};

/** A message about a used-up quota, for services without codes. Not used with 429, where it may be a quota per minute. */
const SPENT_MESSAGE =
  /\b(?:quota|credits?|balance|usage (?:limit|cap))\b.*\b(?:exceed|exhaust|us(?:ed|e) up|reach|left|remain|insufficient|expired)|\b(?:exceed\w*|exhaust\w*|reached|insufficient|not enough|no|out of)\b.*\b(?:quota|credits?|balance|usage (?:limit|cap))\b/i;

/** @returns the status that an error means, from its codes and message, or else its own */
export function meantStatus(status: number, body: Uint8Array): number {
  const possible = MISUSED_STATUSES[status] ?? [];
  const meant = statusIn(body);
  if (meant !== undefined && possible.includes(meant)) return meant;
  const isSpent = (status === 401 || status === 403) && SPENT_MESSAGE.test(messageIn(body));
  return isSpent ? 402 : status;
}

/** Fields that quote the request, whose words are not codes. */
const QUOTING_FIELDS = new Set(['input', 'text', 'value', 'loc', 'ctx', 'param', 'field']);

/** Collects the possible error codes of a JSON body, which are strings of one word. */
function codesIn(body: Uint8Array): string[] {
  const words = (data: unknown, depth = 0): string[] => {
    if (typeof data === 'string') return /^[\w.-]{1,80}$/.test(data) ? [data] : [];
    if (typeof data !== 'object' || data === null || depth > 4) return [];
    return Object.entries(data).flatMap(([key, value]) =>
      QUOTING_FIELDS.has(key) ? [] : words(value, depth + 1),
    );
  };
  try {
    return words(JSON.parse(decoded(body)));
  } catch {
    return [];
  }
}

/** The status of an answer without a body (RFC 9110, section 15.3.5). */
export const NO_CONTENT = 204;

/** The status of an answer to a range request (RFC 9110, section 15.3.7). None is ever sent, so it is an error. */
export const PARTIAL_CONTENT = 206;

/** How an error status is reported. */
interface Meaning {
  /** A sentence without its subject, which is the host. */
  readonly what: string;
  readonly exitCode?: ExitCode;
  readonly hint?: string;
}

const NEEDS_OTHER_HTTP = {
  what: 'asks for another version of HTTP, and tts speaks HTTP/1.1',
  hint: OTHER_HTTP,
};

const NO_KEY = { exitCode: ExitCode.key };

const STATUSES: Readonly<Record<number, Meaning>> = {
  [NO_CONTENT]: { what: 'sent no audio' },
  [PARTIAL_CONTENT]: { what: 'sent only a part of the audio' },
  401: { what: 'does not accept the key', ...NO_KEY },
  402: {
    what: 'requires payment',
    exitCode: ExitCode.quota,
    hint: 'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit',
  },
  403: { what: 'does not allow this with the key', ...NO_KEY },
  426: NEEDS_OTHER_HTTP,
  429: {
    what: 'takes no more requests for now',
    exitCode: ExitCode.quota,
    hint: 'retry for longer with --retries 9, or look at the limits of the account',
  },
  505: NEEDS_OTHER_HTTP,
};

/** The message for a used-up quota: an account that has paid may have one, too. */
const SPENT_QUOTA = 'requires payment because the quota is used up';

function meaningOf(status: number): Meaning {
  const what =
    status >= 500
      ? 'failed'
      : status >= 300 && status < 400
        ? 'points to another address, which is not followed'
        : 'refuses the request';
  return STATUSES[status] ?? { what };
}

/** Statuses for an unknown speaker or an unacceptable text. */
const BAD_REQUEST_STATUSES = new Set([400, 404, 422]);

/** Messages that a text is too long, which also come with statuses other than 413. */
const TOO_LONG_MESSAGE =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Bytes of an error body that are read. */
const MOST_ERROR_BYTES = 16_384;
/** Milliseconds after which reading it ends. */
const READ_ERROR_MS = 2000;

export interface ServiceName {
  readonly url: URL;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
}

/** Makes an error of a refusal. @param known the status that the answer means, if the caller knows it */
export async function refusal(answer: Answer, to: ServiceName, known?: number): Promise<TtsError> {
  const { headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, MOST_ERROR_BYTES, READ_ERROR_MS);
  const message = messageIn(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  const status = known ?? meantStatus(answer.status, bytes);
  const after = askedWait({ status, headers }) ?? waitIn(bytes);
  const { exitCode = ExitCode.service, ...meaning } = meaningOf(status);
  const what = status === 402 && answer.status !== 402 ? SPENT_QUOTA : meaning.what;
  const said = status === 404 ? nothingAt(to.url, message) : `${to.url.host} ${what}`;
  return new TtsError(`${said} (status ${answer.status}${message && `: ${message}`})`, {
    exitCode,
    concernsThisTextOnly: BAD_REQUEST_STATUSES.has(status),
    isOutage: status >= 500,
    hint: (isTransient(status) && hintToWait(after)) || hintFor({ status, headers, message }, to),
    ...(isTransient(status) && { retry: { after, busy: isBusy(status), status } }),
  });
}

/** A message about a model or a voice, with which a 404 does not concern the address. A path such as `/v1/models` does not count. */
const NAMES_VOICE = /(?<![\w/])(?:model|voice|speaker)s?\b/i;

function nothingAt({ host, href }: URL, message: string): string {
  return NAMES_VOICE.test(message)
    ? `${host} does not have what is asked for`
    : `there is nothing at ${href}`;
}

/** The hint for a wait that is too long for a retry; `undefined` for shorter ones. */
export function hintToWait(seconds = 0): string | undefined {
  if (seconds <= LONGEST_REQUESTED_WAIT) return undefined;
  const hours = Math.ceil(seconds / 3600);
  return `the service asks to wait ${hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`}`;
}

interface Refused extends Pick<Answer, 'status' | 'headers'> {
  readonly message: string;
}

function hintFor({ status, headers, message }: Refused, { url, keyOrigin }: ServiceName): string {
  const { exitCode, hint } = meaningOf(status);
  if (hint !== undefined) return hint;
  if (exitCode === ExitCode.key) return `the key came from ${keyOrigin}`;
  if (status === 404 && !NAMES_VOICE.test(message)) return addressHint(url, message);
  if (status === 400 && url.protocol === 'http:' && /\bHTTPS\b/i.test(message))
    return 'write https:// instead of http:// in the base URL';
  if (status >= 300 && status < 400) return redirectHint(headers.location, url);
  if (status === 413 || (BAD_REQUEST_STATUSES.has(status) && TOO_LONG_MESSAGE.test(message)))
    return 'send less at once: --max-chars sets how long one request may be';
  if (isTransient(status))
    return /\(engine_\w+\)$/.test(message)
      ? 'tts doctor --engine ENGINE checks the engine'
      : 'try again later';
  return message ? 'the text in brackets is what the service said' : 'check the base URL and the settings';
}

/** The hint for a wrong address. FastAPI's "Not Found", or a version in the path, suggests OpenAI's interface. */
function addressHint({ origin, pathname }: URL, message: string): string {
  if (pathname.endsWith('/tts/tts'))
    return 'the base URL ends in /tts already, and /tts is added to it: leave it out there';
  const base = pathname.replace(/\/tts$/, '');
  const isVersion = base.endsWith('/v1');
  const engine = `${origin}${isVersion ? base : `${base}/v1`}`;
  const isOpenAi = isVersion || message === 'Not Found';
  return `check the base URL: /tts is added to it${isOpenAi ? `; a server with OpenAI's /audio/speech is an engine: --engine ${engine}` : ''}`;
}

/** The hint for a redirect. Only its origin is named, since path and query may contain the key. */
function redirectHint(location: string | undefined, from: URL): string {
  const to =
    location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!to || !/^https?:$/.test(to.protocol) || to.href === from.href)
    return 'check the base URL: the redirect names no other http(s) address';
  return `if you trust it, look for the base URL below ${printable(to.origin)}`;
}
