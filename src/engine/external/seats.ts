import { queueFull } from '../contract.ts';

interface Order {
  /** Only the first text of an utterance is refused. */
  readonly isFirst: boolean;
  /** True if a full queue does not refuse it. */
  readonly isPatient?: boolean | undefined;
}

interface Waiter extends Pick<Order, 'isFirst'> {
  readonly take: () => void;
}

/** Utterances take turns, one text each. */
export class Seats {
  readonly #maxWaiting: number;
  readonly #waiting: Waiter[] = [];
  #free: number;

  constructor(count: number, maxWaiting: number) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  /** It counts those that wait for their first text. */
  get waiting(): number {
    return this.#waiting.filter(({ isFirst }) => isFirst).length;
  }

  /**
   * @returns the function that gives the seat back
   * @throws EngineError `busy`, at once
   */
  take({ isFirst, isPatient = false }: Order, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#place());
    }
    if (isFirst && !isPatient && this.waiting >= this.#maxWaiting) throw queueFull();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { isFirst, take: () => resolve(this.#place()) };
      this.#waiting.push(waiter);
      signal.addEventListener(
        'abort',
        () => {
          const at = this.#waiting.indexOf(waiter);
          if (at >= 0) this.#waiting.splice(at, 1);
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  #place(): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      if (next) next.take();
      else this.#free += 1;
    };
  }
}
