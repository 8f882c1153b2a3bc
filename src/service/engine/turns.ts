/** A job that no lane has taken yet, and who is told of its result. */
export interface Ticket<Job> {
  readonly job: Job;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

/** The tickets of one utterance, in the order in which their results are wanted. */
export interface Line<Job> {
  readonly signal: AbortSignal;
  readonly tickets: Ticket<Job>[];
}

/** Whose ticket is next: the lines take turns, a ticket each. One without a ticket keeps no place. */
export class Turns<Job> {
  /** Lines that have a ticket, the next one first. */
  readonly #order: Line<Job>[] = [];
  /** Lines that have not had a turn. */
  readonly #waiting = new Set<Line<Job>>();

  /** Lines that wait for their first turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A new line waits from now on, also while it has no ticket yet. */
  enter(line: Line<Job>): void {
    this.#waiting.add(line);
  }

  add(line: Line<Job>, ticket: Ticket<Job>): void {
    line.tickets.push(ticket);
    if (!this.#order.includes(line)) this.#order.push(line);
  }

  /** Hands out the first ticket of the next line, which then stands behind all others. */
  next(): { readonly ticket: Ticket<Job>; readonly signal: AbortSignal } | undefined {
    const line = this.#order.shift();
    const ticket = line?.tickets.shift();
    if (!line || !ticket) return undefined;
    if (line.tickets.length > 0) this.#order.push(line);
    this.#waiting.delete(line);
    return { ticket, signal: line.signal };
  }

  /** The tickets that a line still has are rejected with the reason of its signal. */
  leave(line: Line<Job>): void {
    this.#waiting.delete(line);
    const place = this.#order.indexOf(line);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }
}
