/** Milliseconds over which the speed is taken. */
const WINDOW_MS = 3000;

/** What the progress line of a download shows. */
export class DownloadProgress {
  #name = '';
  #bytes = 0;
  #total: number | undefined;
  #marks: { readonly at: number; readonly bytes: number }[] = [];

  readonly note = (name: string, bytes: number, total: number | undefined, now = Date.now()): void => {
    if (name !== this.#name) this.#marks = [];
    this.#name = name;
    this.#bytes = bytes;
    this.#total = total;
    const [last] = this.#marks.slice(-1);
    if (last && now - last.at < 100) return;
    this.#marks = [...this.#marks.filter(({ at }) => now - at < WINDOW_MS), { at: now, bytes }];
  };

  render(columns: number): string {
    if (this.#name === '') return 'looking'.slice(0, columns);
    const total = this.#total === undefined ? '' : ` of ${inMegabytes(this.#total)}`;
    const speed = this.#speed();
    const left =
      speed && this.#total !== undefined ? ` ${timeLeft((this.#total - this.#bytes) / speed)} left` : '';
    const rate = speed ? ` ${inMegabytes(speed)} MB/s` : '';
    return `${this.#name} ${inMegabytes(this.#bytes)}${total} MB${rate}${left}`.slice(0, columns);
  }

  /** Bytes in a second. */
  #speed(): number | undefined {
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    if (!first || !last || last.at === first.at) return undefined;
    return ((last.bytes - first.bytes) * 1000) / (last.at - first.at);
  }
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function timeLeft(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return `${Math.ceil(seconds / 60)} min`;
}
