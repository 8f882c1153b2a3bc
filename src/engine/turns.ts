export interface Ticket<Task> {
  readonly task: Task;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

export interface Line<Task> {
  readonly signal: AbortSignal;
  readonly tickets: Ticket<Task>[];
  working: number;
  readonly isPatient: boolean;
}

/** The line with the fewest tasks in work is next; a patient line counts one more. */
export class Turns<Task> {
  readonly #order: Line<Task>[] = [];
  readonly #waiting = new Set<Line<Task>>();

  get waiting(): number {
    return this.#waiting.size;
  }

  get limited(): number {
    return [...this.#waiting].filter(({ isPatient }) => !isPatient).length;
  }

  enter(line: Line<Task>): void {
    this.#waiting.add(line);
  }

  add(line: Line<Task>, ticket: Ticket<Task>): void {
    line.tickets.push(ticket);
    if (!this.#order.includes(line)) this.#order.push(line);
  }

  next(): { readonly ticket: Ticket<Task>; readonly line: Line<Task> } | undefined {
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

  done(line: Line<Task>): void {
    line.working -= 1;
  }

  /** The tickets of the line are rejected. */
  leave(line: Line<Task>): void {
    this.#waiting.delete(line);
    const place = this.#order.indexOf(line);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }
}

function shareOf<Task>({ working, isPatient }: Line<Task>): number {
  return isPatient ? working + 1 : working;
}
