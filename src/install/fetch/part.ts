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
import { brokenAnswer } from '../../client/failure.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { unwritable } from '../../files/writable.ts';
import type { PinnedFile } from '../../installed/catalogue.ts';
import { type Checked, ELSEWHERE } from '../../installed/manifest.ts';
import { ANOTHER_WAY, type FoundAnswer, failure } from './answer.ts';

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
export class WrongBytes extends TtsError {}

/** The name of a part is the checksum of the file, or that of its address where this is not known. */
export function partName({ sha256, url }: Pick<Wanted, 'sha256' | 'url'>): string {
  return `${sha256 ?? createHash('sha256').update(url.href).digest('hex')}.part`;
}

interface Writing {
  readonly timeoutMs: number;
  readonly onProgress: (bytes: number) => void;
}

/** A file that is not there to its end. Its name is its checksum, so that any mirror can go on with it. */
export class Part {
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

export function wrongChecksum({ name, url }: Wanted): TtsError {
  return wrongBytes(`${name} of ${url.host} has another checksum than it should: it was thrown away`);
}

export function wrongBytes(message: string): TtsError {
  return new WrongBytes(message, { exitCode: ExitCode.service, hint: ANOTHER_WAY });
}
