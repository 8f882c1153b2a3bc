import { ExitCode, TtsError } from '../error.ts';

/** What Node makes of OpenSSL's findings about a certificate; those without a name of their own are `UNSPECIFIED`. */
const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_|CRL_|UNSPECIFIED$)/;
/** Codes of Node itself (`ERR_INVALID_…`) and of undici are defects, here or there; any other is the system's. */
const OF_THE_SYSTEM = /^(?!ERR_|UND_ERR_)[A-Z][A-Z0-9_]+$|^ERR_(SOCKET|STREAM)_/;

/** Who was to be connected to. */
interface Peer {
  readonly host: string;
  readonly isProxy: boolean;
}

interface Case {
  /** Of Node's error codes. */
  readonly code: RegExp;
  /** @param who as in `the proxy proxy.example.com` */
  readonly what: (who: string, failure: Peer & { readonly code: string; readonly message: string }) => string;
  readonly hint: string;
  /** That the hint helps with a proxy as well. */
  readonly fitsProxy?: boolean;
  /** That another try would end in the same way. */
  readonly isLasting?: boolean;
}

/** The first that fits counts. */
const cases: readonly Case[] = [
  {
    code: /^(ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/,
    what: (_, { host, isProxy }) => `there is no ${isProxy ? 'proxy' : 'host'} ${host}`,
    hint: 'check the name in the base URL, and whether this machine is online',
  },
  {
    code: /^EAI_/,
    what: (who, { code }) => `the name ${who} cannot be looked up (${code})`,
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
    what: (who, { code }) => `the certificate at ${who} is that of another host (${code})`,
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
    what: (who, { code }) => `no network leads to ${who} (${code})`,
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

/** The error for a connection that did not come to an answer; `undefined` where the cause is something else. */
export function noConnection(cause: unknown, { host, isProxy }: Peer): TtsError | undefined {
  const code = codeOf(cause);
  const found = cases.find((each) => each.code.test(code));
  if (!found) return undefined;
  const who = isProxy ? `the proxy ${host}` : host;
  return new TtsError(found.what(who, { host, isProxy, code, message: messageOf(cause) }), {
    exitCode: ExitCode.connection,
    hint: isProxy && !found.fitsProxy ? 'check --proxy, HTTPS_PROXY, HTTP_PROXY and NO_PROXY' : found.hint,
    cause,
    retry: found.isLasting ? undefined : {},
  });
}

/**
 * Node's error code. undici's parser errors have codes that begin with `HPE_`, but those that llhttp explains itself have
 * none, and neither has WebAssembly's want of memory.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error instanceof RangeError && error.message.includes('Out of memory')) return 'ENOMEM';
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (error.name === 'HTTPParserError' ? 'HPE_' : '');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
