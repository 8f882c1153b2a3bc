import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNearby, withoutEndSlashes } from '../../kit/address.ts';
import { checksumOf, hashOf } from '../../kit/checksum.ts';
import { ExitCode, TtsError, usageError } from '../../kit/error.ts';
import type { Host } from '../../kit/host.ts';
import { askedWait } from '../../kit/http/answer.ts';
import { type Answer, HttpClient, type ProxyRoute } from '../../kit/http/client.ts';
import { firstBytes } from '../../kit/http/failures.ts';
import { isTransient, type RetryPolicy, type RetryState, waitOrGiveUp } from '../../kit/retry.ts';
import { printable } from '../../kit/words.ts';
import type { PinnedFile, Repository } from './catalogue.ts';
import { attempt, type Checked } from './manifest.ts';

/** A hub with the interface of Hugging Face, or a mirror of it. */
export interface Hub {
  readonly url: URL;
  /** The option or the variable that named it. */
  readonly origin: string;
  /** Sent to this hub only, and to no host that it redirects to. */
  readonly token: string | undefined;
}

const DEFAULT = 'https://huggingface.co';

/**
 * Returns the hub. An option or the environment can name it, but never a project.
 * @throws TtsError (usage)
 */
export function hubOf(mirror: string | undefined, { env }: Pick<Host, 'env'>): Hub {
  const [named, origin] = mirror
    ? [mirror, '--mirror']
    : env.HF_ENDPOINT
      ? [env.HF_ENDPOINT, 'HF_ENDPOINT']
      : [DEFAULT, 'the default'];
  const url = hubAddress(named.trim(), origin);
  return { url, origin, token: env.HF_TOKEN?.trim() || undefined };
}

function hubAddress(text: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw usageError(
      `${origin}: ${url ? url.host : JSON.stringify(text.slice(0, 60))} is not the address of a hub`,
      'write it as in https://hf-mirror.example.com, without user, "?" or "#"',
    );
  assertSafe(url, origin);
  url.pathname = withoutEndSlashes(url.pathname);
  return url;
}

/** @throws TtsError (usage) for plain http to a host that is not near */
export function assertSafe(url: URL, origin: string): void {
  if (url.protocol === 'https:' || isNearby(url.hostname)) return;
  throw usageError(
    `${origin}: ${url.host} is reached over plain http, where anybody on the way can change what comes`,
    'use https://; plain http is for this machine and private networks',
  );
}

/** @throws TtsError (usage) for releases that are reached over plain http */
export function addressIn({ url }: Hub, repository: Repository, { path }: Pick<PinnedFile, 'path'>): URL {
  const [place, ...steps] =
    'releases' in repository
      ? [hubAddress(repository.releases, 'the catalogue')]
      : [url, ...repository.repo.split('/'), 'resolve', repository.commit];
  const address = new URL(place);
  const names = [...steps, ...path.split('/')].map(encodeURIComponent);
  address.pathname = `${withoutEndSlashes(place.pathname)}/${names.join('/')}`;
  return address;
}

/** @returns the source of a voice, as its manifest names it */
export function sourceOf(repository: Repository): string {
  return 'releases' in repository ? repository.releases : `${repository.repo}@${repository.commit}`;
}

export interface FetchOptions {
  readonly timeoutMs: number;
  readonly proxyFor: (url: URL) => ProxyRoute | undefined;
  readonly hub: Hub;
}

interface RedirectedAnswer extends Answer {
  /** The address that the redirects led to. */
  readonly url: URL;
}

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tts' };

/** Fetches files without cookies or keys, except the hub's token. Redirects lead to https, or from one nearby host to another. */
export class Fetcher implements AsyncDisposable {
  readonly #options: FetchOptions;
  readonly #http: HttpClient;

  constructor(options: FetchOptions) {
    this.#options = options;
    // One connection serves all files of an origin, one after the other.
    this.#http = new HttpClient({ ...options, connections: 1 });
  }

  /**
   * @param signal has to abort if the answer is not read to its end
   * @throws TtsError for a failed connection, and for bad or too many redirects
   */
  async get(
    first: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<RedirectedAnswer> {
    let url = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const answer = await this.#getOnce(url, { ...headers, ...this.#tokenFor(url) }, until);
      if (!REDIRECTS.has(answer.status)) return { ...answer, url };
      await drain(answer.body);
      over.abort(new Error('the answer is a redirect'));
      url = nextAddress(answer, url);
    }
    throw failure(`${first.host} redirects more than ${MOST_REDIRECTS} times`, ANOTHER_WAY);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }

  async #getOnce(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#http.send({ method: 'GET', url, headers: { ...HEADERS, ...headers } }, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof TtsError)) throw error;
      throw inWordsOfHubs(error, this.#options.hub.origin);
    }
  }

  /** Returns the token for the hub only, since an address of `--from` may be anybody's. */
  #tokenFor(url: URL): Record<string, string> {
    const { token, url: own } = this.#options.hub;
    if (token === undefined || url.origin !== own.origin) return {};
    return url.protocol === 'https:' || isNearby(url.hostname) ? { authorization: `Bearer ${token}` } : {};
  }
}

/** The hint for a hub that does not deliver a file. */
export const ANOTHER_WAY =
  'name a mirror with --mirror or HF_ENDPOINT, or copy the files and install them: tts voices install --from FOLDER';

/** @throws TtsError for any status but 200 and 206 */
async function assertGood(answer: RedirectedAnswer, what: string): Promise<void> {
  const { status, url } = answer;
  if (status === 200 || status === 206) return;
  await drain(answer.body);
  if (status === 416) throw wrongBytes(`${url.host} has no more of ${what}`);
  const said = `${what}: ${url.host} answered with status ${status}`;
  if (status === 401 || status === 403)
    throw new TtsError(`${said}: it does not give this file without a login`, {
      exitCode: ExitCode.key,
      hint: `set HF_TOKEN if you have an account there, or ${ANOTHER_WAY}`,
    });
  if (status === 404 || status === 410) throw failure(`${said}: it does not have this file`, ANOTHER_WAY);
  const after = askedWait(answer);
  throw new TtsError(said, {
    exitCode: status === 429 ? ExitCode.quota : ExitCode.service,
    hint: isTransient(status) ? 'try again later: what came so far is kept' : ANOTHER_WAY,
    ...(isTransient(status) && { retry: { after, status } }),
  });
}

export function failure(message: string, hint: string, retry?: TtsError['retry']): TtsError {
  return new TtsError(message, { exitCode: ExitCode.service, hint, retry });
}

/** @throws TtsError for a redirect without an address, or to one whose answer others could change on the way */
function nextAddress({ headers }: Answer, from: URL): URL {
  const to = headers.location;
  if (!to || !URL.canParse(to, from.href)) throw failure(`${from.host} redirects to no address`, ANOTHER_WAY);
  const next = new URL(to, from.href);
  const isSafe =
    next.protocol === 'https:' ||
    (next.protocol === 'http:' && isNearby(next.hostname) && isNearby(from.hostname));
  if (!isSafe || next.username || next.password)
    throw failure(
      `${from.host} redirects to ${printable(next.protocol)}//${printable(next.host)}, and only https is followed`,
      ANOTHER_WAY,
    );
  assertSafe(next, from.host);
  return next;
}

/** Reads a small body, so that the connection can serve the next request. For a larger one, the signal has to abort. */
async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  await firstBytes(body, 64 * 1024);
}

function inWordsOfHubs(error: TtsError, origin: string): TtsError {
  const where = origin === 'the default' ? '' : ` (${origin})`;
  return error.reworded(`${error.message}${where}`, {
    hint: `check the network, and any proxy or firewall; ${ANOTHER_WAY}`,
  });
}

/** A file to download. Only with a checksum can a download be resumed: nothing else shows that it is the same file. */
export interface DownloadRequest extends Partial<Pick<PinnedFile, 'size' | 'sha256' | 'md5'>> {
  /** The name of the file in messages. */
  readonly name: string;
  readonly url: URL;
  /** Most bytes of the file, if its size is not known. */
  readonly most: number;
}

export interface Downloaded {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  /** The hash behind `sha256`, to be copied and continued where bytes are appended to the file. */
  readonly hash: Hash;
  readonly checked: Checked;
}

export interface DownloadOptions {
  readonly fetcher: Fetcher;
  /** The folder for incomplete files. */
  readonly parts: string;
  readonly retries: number;
  /** @param bytes of the file that are on disk */
  readonly onProgress: (bytes: number) => void;
  readonly onRetry: (error: TtsError, seconds: number) => void;
}

/**
 * Downloads a file, or resumes its download. The bytes that came are kept for the next run, even after a failure.
 * @throws TtsError; a file with a wrong checksum is removed
 */
export async function download(
  wanted: DownloadRequest,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Downloaded> {
  const path = join(options.parts, partName(wanted));
  const state: RetryState = { made: 0 };
  const policy: RetryPolicy = {
    retries: options.retries,
    onRetry: ({ error, seconds }) => options.onRetry(error, seconds),
  };
  for (;;) {
    const start = resumableBytes(path, wanted);
    try {
      const hash = await fetchFrom(start, wanted, { ...options, path }, signal);
      return await checkedFile(path, wanted, hash);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof WrongBytes) {
        rmSync(path, { force: true });
        // Start from the beginning: the bytes of an earlier try may have been the wrong ones.
        if (start > 0) continue;
      }
      await waitOrGiveUp(error, policy, state, signal);
    }
  }
}

/** Returns the name of the incomplete file: its checksum, so that any mirror can resume it, or else that of its address. */
export function partName({ sha256, url }: Pick<DownloadRequest, 'sha256' | 'url'>): string {
  return `${sha256 ?? createHash('sha256').update(url.href).digest('hex')}.part`;
}

function resumableBytes(path: string, { sha256, md5, size: whole }: DownloadRequest): number {
  if (sha256 === undefined && md5 === undefined) return 0;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return whole !== undefined && size > whole ? 0 : size;
}

/** @returns the hash of the whole file */
async function fetchFrom(
  start: number,
  wanted: DownloadRequest,
  { fetcher, path, onProgress }: DownloadOptions & { readonly path: string },
  signal: AbortSignal,
): Promise<Hash> {
  if (start > 0 && start === wanted.size) return await hashOf(path);
  const over = new AbortController();
  try {
    const range: Record<string, string> = start > 0 ? { range: `bytes=${start}-` } : {};
    const answer = await fetcher.get(wanted.url, range, AbortSignal.any([signal, over.signal]));
    await assertGood(answer, wanted.name);
    const from = startOf(answer, start, wanted);
    const hash = from === 0 ? createHash('sha256') : await hashOf(path);
    const size = await write(answer, { path, from, wanted, hash, onProgress });
    assertWhole(size, wanted, answer);
    return hash;
  } finally {
    over.abort(new Error('the answer is read'));
  }
}

interface Writing extends Pick<DownloadOptions, 'onProgress'> {
  readonly path: string;
  /** The offset in the file of the first byte of the answer. */
  readonly from: number;
  readonly wanted: DownloadRequest;
  /** The hash of the file up to there, which is continued with the answer. */
  readonly hash: Hash;
}

/** @returns the bytes of the file that are on disk */
async function write(
  answer: RedirectedAnswer,
  { path, from, wanted, hash, onProgress }: Writing,
): Promise<number> {
  const { name, size: whole, most } = wanted;
  let size = from;
  const fd = attempt(path, () => openSync(path, from === 0 ? 'w' : 'a', 0o600));
  try {
    for await (const piece of answer.body) {
      if (size + piece.length > (whole ?? most))
        throw failure(`${name} of ${answer.url.host} has more than ${whole ?? most} bytes`, ANOTHER_WAY);
      attempt(path, () => writeFileSync(fd, piece));
      hash.update(piece);
      size += piece.length;
      onProgress(size);
    }
    return size;
  } finally {
    closeSync(fd);
  }
}

async function checkedFile(
  path: string,
  { name, url, ...pinned }: DownloadRequest,
  hash: Hash,
): Promise<Downloaded> {
  const sha256 = hash.copy().digest('hex');
  const isRight =
    pinned.sha256 === undefined
      ? pinned.md5 === undefined || (await checksumOf(path, { algorithm: 'md5' })) === pinned.md5
      : sha256 === pinned.sha256;
  if (!isRight) throw wrongBytes(`${name} of ${url.host} has the wrong checksum and was deleted`);
  const checked = pinned.sha256 !== undefined ? 'sha256' : pinned.md5 !== undefined ? 'md5' : 'not checked';
  return { path, size: statSync(path).size, sha256, hash, checked };
}

/**
 * Refuses early an answer that cannot be the file.
 * @returns the offset in the file of its first byte
 */
function startOf(answer: RedirectedAnswer, have: number, { name, size, most }: DownloadRequest): number {
  const { status, headers, url } = answer;
  const isText = /^text\/html\b/i.test(headers['content-type'] ?? '');
  if (isText) throw webPage(name, url);
  let start = 0;
  if (status === 206) {
    const [, from, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (Number(from) !== have || (size !== undefined && total !== '*' && Number(total) !== size))
      throw wrongBytes(`${url.host} sent a different part of ${name} from the one that is missing`);
    start = have;
  }
  const length = headers['content-length'];
  if (length === undefined) return start;
  const end = start + Number(length);
  if (size !== undefined && end !== size)
    throw failure(`${name} of ${url.host} has ${end} bytes instead of ${size}`, ANOTHER_WAY);
  if (end > most) throw failure(`${name} of ${url.host} has more than ${most} bytes`, ANOTHER_WAY);
  return start;
}

function webPage(name: string, { host }: URL): TtsError {
  return failure(
    `${name}: ${host}, or a proxy in between, answered with a web page`,
    `open https://${host} in a browser to see what it wants, or ${ANOTHER_WAY}`,
  );
}

/** Throws if bytes are missing. A body of unknown length may have been cut off, so this is retried. */
function assertWhole(
  size: number,
  { name, size: whole }: DownloadRequest,
  { url, headers }: RedirectedAnswer,
): void {
  if (size >= (whole ?? 1)) return;
  const mayBeCut = whole !== undefined && headers['content-length'] === undefined;
  throw failure(
    `${name} of ${url.host} ${whole === undefined ? 'is empty' : `has ${size} bytes instead of ${whole}`}`,
    ANOTHER_WAY,
    mayBeCut ? {} : undefined,
  );
}

/** The error for bytes that are not those of the file. */
class WrongBytes extends TtsError {}

function wrongBytes(message: string): TtsError {
  return new WrongBytes(message, { exitCode: ExitCode.service, hint: ANOTHER_WAY });
}
