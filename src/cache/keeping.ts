import type { Draft } from './draft.ts';

export interface KeepingOptions {
  /** Bytes of the largest sound that is kept. */
  readonly limit: number;
  /** Hears of an entry's size when it is in its place; `undefined` where somebody has emptied the cache meanwhile. */
  readonly published: (bytes: number | undefined) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Hears once that nothing is open any more. */
  readonly ended: () => void;
}

/** A segment on its way into the cache. Nothing here throws: what cannot be kept is not kept. */
export class Keeping {
  readonly #draft: Draft;
  readonly #options: KeepingOptions;
  #isOpen = true;
  /** One step waits for the other, even where their caller has left. */
  #steps: Promise<void> = Promise.resolve();

  constructor(draft: Draft, options: KeepingOptions) {
    this.#draft = draft;
    this.#options = options;
  }

  write(piece: Uint8Array): Promise<void> {
    return this.#step(async () => {
      if (this.#draft.bytes + piece.length > this.#options.limit) await this.#end();
      else await this.#draft.write(piece);
    });
  }

  /** All of it was written. */
  publish(): Promise<void> {
    return this.#step(async () => {
      if (this.#draft.bytes > 0) await this.#options.published(await this.#draft.publish());
      await this.#end();
    });
  }

  /** It will not become whole. Without effect on what is published. */
  discard(): Promise<void> {
    return this.#step(() => this.#end());
  }

  #step(action: () => Promise<void>): Promise<void> {
    this.#steps = this.#steps.then(async () => {
      if (!this.#isOpen) return;
      try {
        await action();
      } catch (error) {
        this.#options.failed(error);
        await this.#end().catch(() => {});
      }
    });
    return this.#steps;
  }

  async #end(): Promise<void> {
    this.#isOpen = false;
    this.#options.ended();
    await this.#draft.discard();
  }
}
