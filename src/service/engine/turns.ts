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
  /** Its jobs that lanes work on. */
  working: number;
  /** Waits however many do. */
  readonly isPatient: boolean;
}

/**
 * Whose ticket is next: that of the line which has the fewest jobs worked on, so that none takes all lanes while others
 * wait; one that is patient counts one more. Among equals they take turns. A line without a ticket keeps no place.
 */
export class Turns<Job> {
  /** Lines that have a ticket, the next one first. */
  readonly #order: Line<Job>[] = [];
  /** Lines that have not had a turn. */
  readonly #waiting = new Set<Line<Job>>();

  /** Lines that wait for their first turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Those of them that a queue has so many places for. */
  get limited(): number {
    return [...this.#waiting].filter(({ isPatient }) => !isPatient).length;
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
  next(): { readonly ticket: Ticket<Job>; readonly line: Line<Job> } | undefined {
    const fewest = Math.min(...this.#order.map(shareOf));
    const place = this.#order.findIndex((line) => shareOf(line) === fewest);
    const [line] = place < 0 ? [] : this.#order.splice(place, 1);
    const ticket = line?.tickets.shift();
    if (!line || !ticket) return undefined;
    if (line.tickets.length > 0) this.#order.push(line);
    this.#waiting.delete(line);
    line.working += 1;
    return { ticket, line };
  }

  /** A ticket that was handed out is done with. */
  done(line: Line<Job>): void {
    line.working -= 1;
  }

  /** The tickets that a line still has are rejected with the reason of its signal. */
  leave(line: Line<Job>): void {
    this.#waiting.delete(line);
    const place = this.#order.indexOf(line);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }
}

function shareOf<Job>({ working, isPatient }: Line<Job>): number {
  return isPatient ? working + 1 : working;
}
