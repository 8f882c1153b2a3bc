import type { ProxyRoute } from '../client/transport.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { RunContext } from '../host.ts';
import type { Catalogue } from '../installed/catalogue.ts';
import { Fetcher } from './fetch/answer.ts';
import { download } from './fetch/download.ts';
import type { Hub } from './fetch/hub.ts';
import type { Downloaded, Wanted } from './fetch/part.ts';
import { openStore, partsFolder, removeParts } from './store.ts';

export interface SessionOptions {
  readonly data: string;
  readonly catalogue: Catalogue;
  readonly hub: Hub;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly proxyFor: (url: URL) => ProxyRoute | undefined;
  readonly acceptsLicence: boolean;
  readonly force: boolean;
  /** @param name of the file that comes */
  readonly onProgress: (name: string, bytes: number, total: number | undefined) => void;
}

/** What all downloads of one command share. */
export class Session implements AsyncDisposable {
  readonly data: string;
  readonly catalogue: Catalogue;
  readonly hub: Hub;
  readonly options: SessionOptions;
  readonly context: RunContext;
  readonly #fetcher: Fetcher;
  readonly #spent: string[] = [];

  constructor(options: SessionOptions, context: RunContext) {
    this.options = options;
    this.context = context;
    this.data = options.data;
    this.catalogue = options.catalogue;
    this.hub = options.hub;
    this.#fetcher = new Fetcher(options);
  }

  /** @throws TtsError */
  async download(wanted: Wanted): Promise<Downloaded> {
    const { retries, timeoutMs, onProgress } = this.options;
    const { host, notices, signal } = this.context;
    openStore(this.data, host.uid);
    return download(
      wanted,
      {
        fetcher: this.#fetcher,
        parts: partsFolder(this.data),
        retries,
        timeoutMs,
        onProgress: (bytes) => onProgress(wanted.name, bytes, wanted.size),
        onRetry: (error, seconds) =>
          notices.note(`${error.message}; trying again in ${Math.max(1, Math.round(seconds))} s`),
      },
      signal,
    );
  }

  /** The part is removed when everything is in its place. */
  spend(path: string): void {
    this.#spent.push(path);
  }

  /** Removes the parts whose bytes are in their places. */
  settle(): void {
    removeParts(this.#spent.splice(0));
  }

  /** @throws TtsError (usage) that shows the card, for a licence that somebody has to accept */
  assertAccepted(name: string, licence: string, card: string): void {
    const { notices } = this.context;
    if (this.options.acceptsLicence) {
      for (const line of linesOf(card)) notices.note(line);
      return;
    }
    throw new TtsError(`${name} is not free for everybody and everything: ${licence}`, {
      exitCode: ExitCode.usage,
      hint: 'read it, and say --accept-licence if you may use the voice',
      details: linesOf(card),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fetcher.close();
  }
}

const MOST_LINES = 40;

function linesOf(card: string): string[] {
  return card
    .split(/\r?\n/)
    .map((line) => line.trimEnd().slice(0, 200))
    .filter((line) => line !== '')
    .slice(0, MOST_LINES);
}
