import { ExitCode, TtsError } from '../error.ts';
import { blockedByProxy } from './proxy-failure.ts';
import { SilenceError } from './silence.ts';

/** What Node makes of OpenSSL's findings about a certificate; those without a name of their own are `UNSPECIFIED`. */
const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_|CRL_|UNSPECIFIED$)/;
/** Codes of Node itself (`ERR_INVALID_…`) and of undici are defects, here or there; any other is the system's. */
const OF_THE_SYSTEM = /^(?!ERR_|UND_ERR_)[A-Z][A-Z0-9_]+$|^ERR_(SOCKET|STREAM)_/;
const TIMEOUT = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

interface Explanation {
  readonly what: string;
  readonly hint: string;
}

/** What is said of a connection that did not come to an answer, by Node's error code. `undefined`: none of the known. */
function explain(cause: unknown, host: string): Explanation | undefined {
  const code = codeOf(cause);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA')
    return {
      what: `there is no host ${host}`,
      hint: 'check the name in the base URL, and whether this machine is online',
    };
  if (code.startsWith('EAI_'))
    return {
      what: `the name ${host} cannot be looked up (${code})`,
      hint: 'check the name in the base URL, and the name server of this machine',
    };
  if (code === 'ECONNREFUSED')
    return {
      what: `nothing listens at ${host}`,
      hint: 'check the port in the base URL, and whether the service is running',
    };
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return {
      what: `${host} closed the connection without an answer`,
      hint: 'try again; a proxy or a firewall may be in between',
    };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      what: `the certificate at ${host} is that of another host (${code})`,
      hint: 'check the name in the base URL: it has to be one that the certificate names',
    };
  if (CERTIFICATE.test(code))
    return {
      what: `the certificate of ${host} cannot be trusted (${code === 'UNSPECIFIED' ? messageOf(cause) : code})`,
      hint: 'for a private CA: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
    };
  if (/^ERR_(OS)?SSL/.test(code) || code === 'EPROTO')
    return {
      what: `${host} does not speak TLS as expected (${code})`,
      hint: 'check the base URL: does the service speak http:// rather than https://?',
    };
  if (OF_THE_SYSTEM.test(code))
    return { what: `no connection to ${host} (${code})`, hint: 'check the base URL and the network' };
  return undefined;
}

/** The error for a request that got no answer. */
export function noAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  const code = codeOf(cause);
  if (cause instanceof SilenceError || TIMEOUT.has(code)) return silence(url.host, timeoutMs, cause);
  const misunderstood = notHttp(code, messageOf(cause), url.host);
  if (misunderstood)
    return new TtsError(misunderstood.what, {
      exitCode: ExitCode.service,
      hint: misunderstood.hint,
      cause,
      retry: {},
    });
  const blocked = blockedByProxy(cause, url.host);
  if (blocked) return blocked;
  const proxyHost = otherHost(cause, url);
  const known = explain(cause, proxyHost === undefined ? url.host : `the proxy ${proxyHost}`);
  if (!known) throw cause;
  const hint = proxyHost === undefined ? known.hint : 'check --proxy, HTTPS_PROXY, HTTP_PROXY and NO_PROXY';
  const retry = CERTIFICATE.test(code) ? undefined : {};
  return new TtsError(known.what, { exitCode: ExitCode.connection, hint, cause, retry });
}

/** What is said of an answer that is none in HTTP. `undefined`: it is one, as far as it goes. */
function notHttp(code: string, message: string, host: string): Explanation | undefined {
  const elsewhere = 'check the base URL: its port may belong to something else, or speak https://';
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return { what: `${host} does not answer in HTTP`, hint: elsewhere };
  // undici's parser is sure of what no server may send, such as 101 to whoever did not ask for it.
  if (code === 'ERR_ASSERTION') return { what: `${host} does not answer as HTTP demands`, hint: elsewhere };
  if (message === 'bad upgrade')
    return { what: `${host} wants to go on in another protocol (status 101)`, hint: elsewhere };
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return {
      what: `the answer of ${host} contradicts itself about its length`,
      hint: 'try again; if it goes on, the service or something in between is broken',
    };
  return undefined;
}

/** Where a connection was attempted, if that was not the service: then it was the proxy. */
function otherHost(cause: unknown, url: URL): string | undefined {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  const { hostname, address, host, port } = first as Partial<Record<string, string>>;
  if (hostname !== undefined && hostname !== url.hostname) return hostname;
  const expected = url.port || (url.protocol === 'https:' ? '443' : '80');
  return port === undefined || String(port) === expected ? undefined : `${address ?? host}:${port}`;
}

/** The error for an answer that broke off. */
export function brokenAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  if (cause instanceof SilenceError) return silence(url.host, timeoutMs, cause);
  if (codeOf(cause) === '') throw cause;
  return new TtsError(`the answer of ${url.host} broke off before its end`, {
    exitCode: ExitCode.service,
    hint: 'try again; if it goes on, the service or something in between ends connections too early',
    cause,
    retry: {},
  });
}

function silence(host: string, timeoutMs: number, cause: unknown): TtsError {
  return new TtsError(`no byte from ${host} for ${timeoutMs / 1000} s`, {
    exitCode: ExitCode.timeout,
    hint: 'try again, or wait longer with --timeout',
    cause,
    retry: {},
  });
}

/** undici's parser errors have codes that begin with `HPE_`, but those that llhttp explains itself have none. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (error.name === 'HTTPParserError' ? 'HPE_' : '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
