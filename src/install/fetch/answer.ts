import { noAnswer } from '../../client/failure.ts';
import { type Answer, LostConnectionError } from '../../client/response-stream.ts';
import { isTransient } from '../../client/retry.ts';
import { createTransport, type ProxyRoute, type Transport } from '../../client/transport.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { retryAfter } from '../../error-answer.ts';
import { printable } from '../../printable.ts';
import { assertSafe, type Hub, isNear } from './hub.ts';

export interface FetchOptions {
  readonly timeoutMs: number;
  readonly proxyFor: (url: URL) => ProxyRoute | undefined;
  readonly hub: Hub;
}

export interface FoundAnswer extends Answer {
  /** The address that the redirects led to. */
  readonly url: URL;
  /** Headers of the hub itself, before it led on. */
  readonly hub: Answer['headers'];
}

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tts' };

/** Asks for files without keys and cookies, and follows redirects from https to https. */
export class Fetcher {
  readonly #options: FetchOptions;
  readonly #transports = new Map<string, Promise<Transport>>();

  constructor(options: FetchOptions) {
    this.#options = options;
  }

  /**
   * @param signal it must abort if the answer is not read to its end
   * @throws TtsError for a failed connection, too many redirects, and a status that is an error
   */
  async get(
    first: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<FoundAnswer> {
    let url = first;
    const hub: Record<string, string | undefined> = {};
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const answer = await this.#getOnce(url, { ...headers, ...this.#tokenFor(url) }, until);
      if (url.origin === first.origin)
        for (const [name, value] of Object.entries(answer.headers)) hub[name] ??= value;
      if (!REDIRECTS.has(answer.status)) return { ...answer, url, hub };
      await drain(answer.body);
      over.abort(new Error('the answer leads on'));
      url = nextAddress(answer, url);
    }
    throw failure(
      `${first.host} leads from one address to the next (${MOST_REDIRECTS} redirects)`,
      ANOTHER_WAY,
    );
  }

  async close(): Promise<void> {
    for (const transport of this.#transports.values())
      await (await transport.catch(() => undefined))?.close();
  }

  async #getOnce(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, hub } = this.#options;
    try {
      const transport = await this.#transportTo(url);
      const get = () => transport.get({ ...HEADERS, ...headers }, signal, url);
      return await get().catch((cause: unknown) => {
        // The host had closed a connection that was kept: this says nothing about the next one.
        if (cause instanceof LostConnectionError) return get();
        throw cause;
      });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw inWordsOfHubs(noAnswer(cause, url, timeoutMs), hub.origin);
    }
  }

  /** One connection serves all files of an origin, one after the other. */
  #transportTo(url: URL): Promise<Transport> {
    const { timeoutMs, proxyFor } = this.#options;
    const transport =
      this.#transports.get(url.origin) ??
      createTransport({ url, connections: 1, timeoutMs, proxy: proxyFor(url) });
    this.#transports.set(url.origin, transport);
    return transport;
  }

  /** An address of `--from` may be anybody's. */
  #tokenFor(url: URL): Record<string, string> {
    const { token, url: own } = this.#options.hub;
    if (token === undefined || url.origin !== own.origin) return {};
    return url.protocol === 'https:' || isNear(url) ? { authorization: `Bearer ${token}` } : {};
  }
}

/** What to do where a hub does not give what it should. */
export const ANOTHER_WAY =
  'name a mirror with --mirror or HF_ENDPOINT, or copy the files and install them: tts voices install --from FOLDER';

/** @throws TtsError for a status that is neither 200, 206 nor 416 */
export async function assertGood(answer: FoundAnswer, what: string): Promise<void> {
  const { status, headers, url } = answer;
  if (status === 200 || status === 206 || status === 416) return;
  await drain(answer.body);
  const said = `${what}: ${url.host} answered with status ${status}`;
  if (status === 401 || status === 403)
    throw new TtsError(`${said}: it does not give this file without a login`, {
      exitCode: ExitCode.key,
      hint: `set HF_TOKEN if you have an account there, or ${ANOTHER_WAY}`,
    });
  if (status === 404 || status === 410) throw failure(`${said}: it does not have this file`, ANOTHER_WAY);
  const after = retryAfter(headers);
  throw new TtsError(said, {
    exitCode: status === 429 ? ExitCode.quota : ExitCode.service,
    hint: isTransient(status) ? 'try again later: what came so far is kept' : ANOTHER_WAY,
    ...(isTransient(status) && { retry: { after, status } }),
  });
}

export function failure(message: string, hint: string, retry?: TtsError['retry']): TtsError {
  return new TtsError(message, { exitCode: ExitCode.service, hint, retry });
}

/** @throws TtsError for a redirect that leads nowhere, or to an address that others could change on the way */
function nextAddress({ headers }: Answer, from: URL): URL {
  const to = headers.location;
  if (!to || !URL.canParse(to, from.href)) throw failure(`${from.host} leads on to no address`, ANOTHER_WAY);
  const next = new URL(to, from.href);
  const isSafe = next.protocol === 'https:' || (next.protocol === 'http:' && isNear(next) && isNear(from));
  if (!isSafe || next.username || next.password)
    throw failure(
      `${from.host} leads on to ${printable(next.protocol)}//${printable(next.host)}, and only https is followed`,
      ANOTHER_WAY,
    );
  assertSafe(next, from.host);
  return next;
}

/** Small bodies are read, so that the connection can serve the next request. The signal of a larger one has to abort. */
async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > 64 * 1024) return;
    }
  } catch {
    // The status has said it all.
  }
}

function inWordsOfHubs(error: TtsError, origin: string): TtsError {
  const where = origin === 'the default' ? '' : ` (${origin})`;
  return error.reworded(`${error.message}${where}`, {
    hint: `check the network, and any proxy or firewall; ${ANOTHER_WAY}`,
  });
}
