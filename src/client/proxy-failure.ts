import { ExitCode, TtsError } from '../error.ts';
import { isTransient } from './retry.ts';

const PASSWORD =
  'give a user name and password that the proxy accepts, as in http://user:password@proxy:port';
const OTHERS = 'ask whoever runs the proxy';
const ADDRESS = 'check --proxy, HTTPS_PROXY and HTTP_PROXY';

/** It is the proxy that cannot be reached: nobody has asked for the service yet. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly host: string;

  constructor(host: string, cause: unknown) {
    super('the proxy cannot be reached', { cause });
    this.host = host;
  }
}

/** A proxy that was asked for a connection does something else, which the message tells, as in `closed the connection`. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}

/** The error for a proxy that was reached and does not lead on; `undefined` where the cause is something else. */
export function blockedByProxy(cause: unknown, host: string): TtsError | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const failed = (what: string, hint: string, mayPass = false) =>
    new TtsError(what, { exitCode: ExitCode.connection, hint, cause, ...(mayPass && { retry: {} }) });
  const status = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(message)?.[1];
  if (status !== undefined)
    return failed(
      `the proxy refuses to connect to ${host} (status ${status})`,
      status === '407' ? PASSWORD : OTHERS,
      isTransient(Number(status)),
    );
  if (cause instanceof TunnelError || code === 'UND_ERR_SOCKS5_CLOSED') {
    const what = cause instanceof TunnelError ? message : 'closed the connection';
    return failed(`the proxy ${what} when it was asked for ${host}`, `${ADDRESS}, or ${OTHERS}`, true);
  }
  if (
    code.startsWith('UND_ERR_SOCKS5_AUTH') ||
    message === 'Username and password required for authentication'
  )
    return failed(`the proxy refuses to connect to ${host}`, PASSWORD);
  const reason = /^SOCKS5 connection failed: (.*)/.exec(message)?.[1];
  if (reason !== undefined)
    return failed(
      `the proxy has no connection to ${host} (${reason})`,
      `check the base URL, or ${OTHERS}`,
      true,
    );
  if (code.startsWith('UND_ERR_SOCKS5') || /^SOCKS5 \w+ timeout$/.test(message))
    return failed('the proxy does not answer in SOCKS5', ADDRESS, true);
  return undefined;
}
