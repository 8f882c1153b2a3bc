import { rmSync } from 'node:fs';
import { ExitCode, TtsError } from '../../kit/error.ts';
import type { RunContext } from '../../kit/host.ts';
import type { ProxyRoute } from '../../kit/http/client.ts';
import type { Catalogue } from './catalogue.ts';
import { type Downloaded, type DownloadRequest, download, Fetcher, type Hub } from './fetch.ts';
import { openStore, partsFolder } from './store.ts';

export interface SessionOptions {
  readonly data: string;
  readonly catalogue: Catalogue;
  readonly hub: Hub;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly proxyFor: (url: URL) => ProxyRoute | undefined;
  readonly acceptsLicence: boolean;
  readonly force: boolean;
  /** @param name of the file that is downloaded */
  readonly onProgress: (name: string, bytes: number, total: number | undefined) => void;
}

/** The options and connections that all downloads of one command share. */
export class Session implements AsyncDisposable {
  readonly data: string;
  readonly catalogue: Catalogue;
  readonly hub: Hub;
  readonly options: SessionOptions;
  readonly context: RunContext;
  readonly #fetcher: Fetcher;
  readonly #used: string[] = [];

  constructor(options: SessionOptions, context: RunContext) {
    this.options = options;
    this.context = context;
    this.data = options.data;
    this.catalogue = options.catalogue;
    this.hub = options.hub;
    this.#fetcher = new Fetcher(options);
  }

  /** @throws TtsError */
  async download(wanted: DownloadRequest): Promise<Downloaded> {
    const { retries, onProgress } = this.options;
    const { host, notices, signal } = this.context;
    openStore(this.data, host.uid);
    return download(
      wanted,
      {
        fetcher: this.#fetcher,
        parts: partsFolder(this.data),
        retries,
        onProgress: (bytes) => onProgress(wanted.name, bytes, wanted.size),
        onRetry: (error, seconds) =>
          notices.note(`${error.message}; trying again in ${Math.max(1, Math.round(seconds))} s`),
      },
      signal,
    );
  }

  /** Marks a downloaded file as used. It stays until `removeUsed`, so that a killed run costs no second download. */
  markUsed(path: string): void {
    this.#used.push(path);
  }

  /** Removes the used files. Call this when the voice is in its place. */
  removeUsed(): void {
    for (const path of this.#used.splice(0)) rmSync(path, { force: true });
  }

  /** @throws TtsError (usage) that shows the card, if the licence has to be accepted and is not */
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
    await this.#fetcher[Symbol.asyncDispose]();
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
