import { codeOf, ExitCode, TtsError } from '../error.ts';
import { EndlessHeadError, HEAD_LIMITS, IdleError } from '../idle.ts';
import { LostConnectionError } from './response-stream.ts';
import { isTransient } from './retry.ts';

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
