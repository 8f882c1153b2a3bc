import { ExitCode, TtsError } from '../error.ts';
import { codeOf, messageOf, noConnection } from './no-connection.ts';
import { blockedByProxy, ProxyError } from './proxy-failure.ts';
import { SilenceError } from './silence.ts';

const TIMEOUT = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

interface Explanation {
  readonly what: string;
  readonly hint: string;
}

/** The error for a request that got no answer. */
export function noAnswer(cause: unknown, url: URL, timeoutMs: number): TtsError {
  if (cause instanceof TtsError) return cause;
  if (cause instanceof ProxyError) return unreachableProxy(cause, timeoutMs);
  if (isLate(cause)) return silence(url.host, timeoutMs, cause);
  const blocked = blockedByProxy(cause, url.host);
  if (blocked) return blocked;
  const misunderstood = notHttp(codeOf(cause), messageOf(cause), url.host);
  if (misunderstood)
    return new TtsError(misunderstood.what, {
      exitCode: ExitCode.service,
      hint: misunderstood.hint,
      cause,
      retry: {},
    });
  const failed = noConnection(cause, { host: url.host, isProxy: false });
  if (!failed) throw cause;
  return failed;
}

function unreachableProxy({ host, cause }: ProxyError, timeoutMs: number): TtsError {
  if (isLate(cause)) return silence(`the proxy ${host}`, timeoutMs, cause);
  const failed = noConnection(cause, { host, isProxy: true });
  if (!failed) throw cause;
  return failed;
}

function isLate(cause: unknown): boolean {
  return cause instanceof SilenceError || TIMEOUT.has(codeOf(cause));
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
