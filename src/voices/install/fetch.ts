import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isLoopback, isNearby } from '../../kit/address.ts';
import { ExitCode, retryAfter, TtsError, usageError } from '../../kit/error.ts';
import { unwritable } from '../../kit/folders.ts';
import type { Host } from '../../kit/host.ts';
import { type Answer, HttpClient, type ProxyRoute } from '../../kit/http/client.ts';
import { brokenAnswer, noAnswer } from '../../kit/http/failures.ts';
import { type ClientEvent, isTransient, type RetryState, waitOrGiveUp } from '../../kit/retry.ts';
import { printable } from '../../kit/words.ts';
import type { PinnedFile, Repository } from './catalogue.ts';
import { type Checked, ELSEWHERE } from './manifest.ts';

/** A hub with the interface of Hugging Face, or a mirror of it. */
export interface Hub {
  readonly url: URL;
  /** The option or the variable that named it. */
  readonly origin: string;
  /** It goes to this hub only, and to no host to which the hub leads on. */
  readonly token: string | undefined;
}

const DEFAULT = 'https://huggingface.co';

/**
 * The hub is named by an option or the environment, and never by a project.
 * @throws TtsError (usage)
 */
export function hubOf(mirror: string | undefined, { env }: Pick<Host, 'env'>): Hub {
  const [named, origin] = mirror
    ? [mirror, '--mirror']
    : env.HF_ENDPOINT
      ? [env.HF_ENDPOINT, 'HF_ENDPOINT']
      : [DEFAULT, 'the default'];
  const url = addressOf(named.trim(), origin);
  return { url, origin, token: env.HF_TOKEN?.trim() || undefined };
}

function addressOf(text: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw usageError(
      `${origin}: ${url ? url.host : JSON.stringify(text.slice(0, 60))} is not the address of a hub`,
      'write it as in https://hf-mirror.example.com, without user, "?" or "#"',
    );
  assertSafe(url, origin);
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** @throws TtsError (usage) for plain http to a host that is not near */
export function assertSafe(url: URL, origin: string): void {
  if (url.protocol === 'https:' || isNear(url)) return;
  throw usageError(
    `${origin}: ${url.host} is reached over plain http, where anybody on the way can change what comes`,
    'use https://; plain http is for this machine and private networks',
  );
}

function isNear({ hostname }: URL): boolean {
  return isLoopback(hostname) || isNearby(hostname);
}

export function addressIn(
  { url }: Hub,
  { repo, commit }: Repository,
  { path }: Pick<PinnedFile, 'path'>,
): URL {
  const address = new URL(url);
  const steps = [...repo.split('/'), 'resolve', commit, ...path.split('/')].map(encodeURIComponent);
  address.pathname = `${url.pathname.replace(/\/+$/, '')}/${steps.join('/')}`;
  return address;
}

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
export class Fetcher implements AsyncDisposable {
  readonly #options: FetchOptions;
  readonly #http: HttpClient;

  constructor(options: FetchOptions) {
    this.#options = options;
    // One connection serves all files of an origin, one after the other.
    this.#http = new HttpClient({ ...options, connections: 1 });
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
  }

  async #getOnce(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, hub } = this.#options;
    try {
      return await this.#http.send({ method: 'GET', url, headers: { ...HEADERS, ...headers } }, signal);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw inWordsOfHubs(noAnswer(cause, url, timeoutMs), hub.origin);
    }
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
async function assertGood(answer: FoundAnswer, what: string): Promise<void> {
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

export interface Wanted extends Partial<Pick<PinnedFile, 'size' | 'sha256' | 'md5'>> {
  /** How the file is called in messages. */
  readonly name: string;
  readonly url: URL;
  /** Bytes at most, where the size is not known. */
  readonly most: number;
  /** The first bytes of such a file, if they are always the same. */
  readonly begins?: Uint8Array;
}

export interface Downloaded {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  /** It goes on where more is written after the file. */
  readonly hash: Hash;
  readonly checked: Checked;
}

/** What came is not what was asked for. If it continues older bytes, these may be the wrong ones. */
class WrongBytes extends TtsError {}

/** The name of a part is the checksum of the file, or that of its address where this is not known. */
export function partName({ sha256, url }: Pick<Wanted, 'sha256' | 'url'>): string {
  return `${sha256 ?? createHash('sha256').update(url.href).digest('hex')}.part`;
}

interface Writing {
  readonly timeoutMs: number;
  readonly onProgress: (bytes: number) => void;
}

/** A file that is not there to its end. Its name is its checksum, so that any mirror can go on with it. */
class Part {
  readonly #wanted: Wanted;
  readonly #path: string;
  #hash: Hash | undefined;

  constructor(wanted: Wanted, folder: string) {
    this.#wanted = wanted;
    this.#path = join(folder, partName(wanted));
    if (wanted.size !== undefined && this.size > wanted.size) this.remove();
  }

  get size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Asks for the rest, but only of the file that has begun to come. */
  headers(): Record<string, string> {
    const { size } = this;
    const tag = size > 0 ? this.#known().etag : undefined;
    // Without a checksum, only a tag tells that it is the same file.
    if (size === 0 || (tag === undefined && this.#wanted.sha256 === undefined)) return {};
    return { range: `bytes=${size}-`, ...(tag && { 'if-range': tag }) };
  }

  isWhole({ headers }: FoundAnswer): boolean {
    return (
      this.size > 0 && /^bytes \*\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] === String(this.size)
    );
  }

  /** @throws TtsError for an answer that cannot be the file, here and while it comes */
  async write(answer: FoundAnswer, { timeoutMs, onProgress }: Writing): Promise<void> {
    const start = startOf(answer, this.size, this.#wanted);
    this.#hash = start === 0 ? createHash('sha256') : await hashOf(this.#path);
    if (start === 0) this.#keepTag(answer);
    const fd = this.#attempt(() => openSync(this.#path, start === 0 ? 'w' : 'a', 0o600));
    let size = start;
    try {
      for await (const piece of answer.body) {
        this.#append(fd, { piece, size, answer });
        size += piece.length;
        onProgress(size);
      }
    } catch (error) {
      this.#hash = undefined;
      throw error instanceof TtsError ? error : brokenAnswer(error, answer.url, timeoutMs);
    } finally {
      closeSync(fd);
    }
    assertWhole(size, this.#wanted, answer);
  }

  #append(
    fd: number,
    { piece, size, answer }: { piece: Uint8Array; size: number; answer: FoundAnswer },
  ): void {
    const { name, size: whole, most } = this.#wanted;
    if (size === 0) assertBeginning(piece, this.#wanted, answer);
    if (size + piece.length > (whole ?? most))
      throw failure(`${name} of ${answer.url.host} has more than ${whole ?? most} bytes`, ANOTHER_WAY);
    for (let written = 0; written < piece.length; )
      written += this.#attempt(() => writeSync(fd, piece, written));
    this.#hash?.update(piece);
  }

  /** @returns `undefined` for other bytes than the wanted ones */
  async checked(): Promise<Downloaded | undefined> {
    const { sha256: pinned, md5 } = this.#wanted;
    const hash = this.#hash ?? (await hashOf(this.#path));
    this.#hash = undefined;
    const sha256 = hash.copy().digest('hex');
    const done = (checked: Checked) => ({ path: this.#path, size: this.size, sha256, hash, checked });
    if (pinned !== undefined) return sha256 === pinned ? done('sha256') : undefined;
    const { sha256: told } = this.#known();
    if (told !== undefined) return told === sha256 ? done('sha256 of the hub') : undefined;
    if (md5 === undefined) return done('not checked');
    return (await hashOf(this.#path, 'md5')).digest('hex') === md5 ? done('md5') : undefined;
  }

  remove(): void {
    for (const path of [this.#path, this.#tagPath]) rmSync(path, { force: true });
  }

  get #tagPath(): string {
    return `${this.#path}.tag`;
  }

  /** What the hub said of the file when it began to come. */
  #known(): { readonly etag?: string; readonly sha256?: string } {
    try {
      return JSON.parse(readFileSync(this.#tagPath, 'utf8'));
    } catch {
      return {};
    }
  }

  #keepTag({ headers, hub }: FoundAnswer): void {
    // A weak tag cannot stand for bytes (RFC 9110, section 13.1.5).
    const etag = /^"[\x21\x23-\x7e]{1,200}"$/.exec(headers.etag ?? '')?.[0];
    const sha256 = /^"?([0-9a-f]{64})"?$/i.exec(hub['x-linked-etag'] ?? '')?.[1]?.toLowerCase();
    this.#attempt(() => writeFileSync(this.#tagPath, JSON.stringify({ etag, sha256 }), { mode: 0o600 }));
  }

  #attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw unwritable(this.#path, error, ELSEWHERE);
    }
  }
}

export async function hashOf(path: string, algorithm: 'sha256' | 'md5' = 'sha256'): Promise<Hash> {
  const hash = createHash(algorithm);
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece);
  return hash;
}

/**
 * Refuses early what cannot be the file.
 * @returns the place of the first byte of the answer
 */
function startOf(answer: FoundAnswer, have: number, { name, size, most }: Wanted): number {
  const { status, headers, url } = answer;
  const isText = /^text\/html\b/i.test(headers['content-type'] ?? '');
  if (isText) throw webPage(name, url);
  let start = 0;
  if (status === 206) {
    const [, from, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (Number(from) !== have || (size !== undefined && total !== '*' && Number(total) !== size))
      throw wrongBytes(`${url.host} sent another part of ${name} than the one that is missing`);
    start = have;
  }
  const length = headers['content-length'];
  if (length !== undefined && size !== undefined && start + Number(length) !== size)
    throw failure(`${name} of ${url.host} has ${start + Number(length)} bytes and not ${size}`, ANOTHER_WAY);
  if (length !== undefined && start + Number(length) > most)
    throw failure(`${name} of ${url.host} has more than ${most} bytes`, ANOTHER_WAY);
  return start;
}

function assertBeginning(piece: Uint8Array, { name, begins }: Wanted, { url }: FoundAnswer): void {
  const head = Buffer.from(piece.subarray(0, 64)).toString('latin1').trimStart().toLowerCase();
  if (/^<(!doctype|html|\?xml)/.test(head)) throw webPage(name, url);
  if (begins && !Buffer.from(piece.subarray(0, begins.length)).equals(begins))
    throw failure(`${name} of ${url.host} is not a file of its kind`, ANOTHER_WAY);
}

function webPage(name: string, { host }: URL): TtsError {
  return failure(
    `${name}: ${host}, or a proxy in between, answered with a web page`,
    `open https://${host} in a browser to see what it wants, or ${ANOTHER_WAY}`,
  );
}

/** A body of unknown length may have been cut: the rest is asked for. */
function assertWhole(size: number, { name, size: whole }: Wanted, { url, headers }: FoundAnswer): void {
  if (size >= (whole ?? 1)) return;
  const mayBeCut = whole !== undefined && headers['content-length'] === undefined;
  throw failure(
    `${name} of ${url.host} has ${size} bytes and not ${whole ?? 'any more'}`,
    ANOTHER_WAY,
    mayBeCut ? {} : undefined,
  );
}

function wrongChecksum({ name, url }: Wanted): TtsError {
  return wrongBytes(`${name} of ${url.host} has another checksum than it should: it was thrown away`);
}

function wrongBytes(message: string): TtsError {
  return new WrongBytes(message, { exitCode: ExitCode.service, hint: ANOTHER_WAY });
}

export interface DownloadOptions {
  readonly fetcher: Fetcher;
  /** The folder of files that are not there to their end. */
  readonly parts: string;
  readonly retries: number;
  readonly timeoutMs: number;
  /** @param bytes that are there of the file */
  readonly onProgress: (bytes: number) => void;
  readonly onRetry: (error: TtsError, seconds: number) => void;
}

/**
 * Downloads a file, or the rest of it. What came stays for the next run, also after a failure.
 * @throws TtsError; bytes with a wrong checksum do not stay
 */
export async function download(
  wanted: Wanted,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Downloaded> {
  const part = new Part(wanted, options.parts);
  const state: RetryState = { made: 0 };
  for (let hasRestarted = false; ; ) {
    const isResumed = part.size > 0;
    try {
      await fill(part, wanted, options, signal);
      const done = await part.checked();
      if (done) return done;
      part.remove();
      throw wrongChecksum(wanted);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof WrongBytes && isResumed && !hasRestarted) {
        part.remove();
        hasRestarted = true;
        continue;
      }
      const onEvent = (event: ClientEvent) => {
        if (event.type === 'retry') options.onRetry(event.error, event.seconds);
      };
      await waitOrGiveUp(error, { retries: options.retries, onEvent }, state, signal);
    }
  }
}

/** Asks for what is missing of the file, if anything is. */
async function fill(
  part: Part,
  wanted: Wanted,
  { fetcher, timeoutMs, onProgress }: DownloadOptions,
  signal: AbortSignal,
): Promise<void> {
  if (part.size > 0 && part.size === wanted.size) return;
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  try {
    const answer = await fetcher.get(wanted.url, part.headers(), until);
    await assertGood(answer, wanted.name);
    if (answer.status === 416) {
      if (part.isWhole(answer)) return;
      throw wrongBytes(`${answer.url.host} has no more of ${wanted.name}`);
    }
    await part.write(answer, { onProgress, timeoutMs });
  } finally {
    over.abort(new Error('the answer is read'));
  }
}
