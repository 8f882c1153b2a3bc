import { unlessAborted } from '../async.ts';

/** Holds sound back for a while. */
export class Gate {
  #opened: Promise<void> | undefined;
  #open = () => {};

  get isClosed(): boolean {
    return this.#opened !== undefined;
  }

  set isClosed(isClosed: boolean) {
    if (!isClosed) {
      this.#opened = undefined;
      this.#open();
      return;
    }
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** @throws the reason of the signal */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.#opened) await unlessAborted(this.#opened, signal);
  }
}
