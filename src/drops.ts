import type { Host } from './host.ts';

/** What a step rejects with whose sound or text is not wanted any more, though the run goes on. */
export class Dropped extends Error {
  override readonly name = 'Dropped';
}

/** Makes everybody in a run let go of what is queued. What comes afterwards is new. */
export class Drops {
  #take = new AbortController();
  readonly #listeners = new Set<() => void>();

  /** It aborts at the next drop. Then another one takes its place. */
  get signal(): AbortSignal {
    return this.#take.signal;
  }

  /** @param listener is called before the signal aborts */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  now(): void {
    const over = this.#take;
    this.#take = new AbortController();
    for (const listener of this.#listeners) listener();
    over.abort(new Dropped('it is not wanted any more'));
  }
}

/** With SIGUSR1, a conversation drops what it was about to say. */
export function dropsBy(host: Pick<Host, 'on' | 'off' | 'platform'>, isLive: boolean): Drops & Disposable {
  const drops = new Drops();
  const drop = () => drops.now();
  const isUsed = isLive && host.platform !== 'win32';
  if (isUsed) host.on('SIGUSR1', drop);
  return Object.assign(drops, { [Symbol.dispose]: () => isUsed && host.off('SIGUSR1', drop) });
}
