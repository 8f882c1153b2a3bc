import type { Ora } from 'ora';
import type { Host } from '../../host.ts';
import { inOneLine } from '../../printable.ts';
import type { RunText } from '../../speech/text.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Notices } from './notices.ts';
import { ProgressCount } from './progress-count.ts';
import { type ProgressState, renderProgress } from './progress-line.ts';

/** Milliseconds. ora loads after the first request was sent. */
const PATIENCE_MS = 150;

/** The cursor and the spinner need these columns. The last one stays free, since some terminals wrap after it. */
const RESERVED_COLUMNS = 4;

const LEAST_COLUMNS = 12;

export interface LineOptions {
  readonly host: Pick<Host, 'stderr' | 'env'>;
  readonly notices: Notices;
}

interface ProgressOptions extends LineOptions {
  readonly isLive?: boolean;
  readonly total: (signal: AbortSignal) => Promise<ProgressState['total']>;
}

/**
 * Only the frames are ora's: its drawing leaves pieces behind in a narrower window, and sets up stdout, which belongs to the
 * sound.
 */
export class ProgressLine implements Disposable {
  readonly #options: LineOptions;
  readonly #render: (columns: number) => string;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(options: LineOptions, render: (columns: number) => string) {
    this.#options = options;
    this.#render = render;
    this.#timer = setTimeout(() => void this.#show(), PATIENCE_MS);
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.notices.erase();
  }

  async #show(): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.#isOver) return;
    const { host } = this.#options;
    const spinner = ora({
      stream: host.stderr.stream,
      color: host.env.NO_COLOR ? false : 'cyan',
      isEnabled: false,
      discardStdin: false,
    });
    this.#timer = setInterval(() => this.#draw(spinner), spinner.interval);
    this.#draw(spinner);
  }

  #draw(spinner: Ora): void {
    const { host, notices } = this.#options;
    const columns = host.stderr.columns ?? 0;
    if (columns < LEAST_COLUMNS) return;
    spinner.text = this.#render(columns - RESERVED_COLUMNS);
    notices.draw(` ${spinner.frame()}`);
  }
}

export class Progress implements Disposable {
  readonly count: ProgressCount;
  readonly #options: ProgressOptions;
  readonly #over = new AbortController();
  readonly #line: ProgressLine;
  #isCounted = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.count = new ProgressCount((text) => inOneLine(options.notices.redact(text)), options.isLive);
    this.#line = new ProgressLine(options, (columns) => {
      if (this.count.hasSound && !this.#isCounted) void this.#countAll();
      return renderProgress(this.count.state, columns);
    });
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  stop(): void {
    this.#over.abort();
    this.#line.stop();
  }

  async #countAll(): Promise<void> {
    this.#isCounted = true;
    this.count.total = await this.#options.total(this.#over.signal);
  }
}

/** Bytes. It would take seconds to read more text twice. */
const LARGEST_BYTES = 16 * 2 ** 20;

export async function totalOf(
  text: RunText,
  isLive: boolean,
  signal: AbortSignal,
): Promise<ProgressState['total']> {
  const total = { segments: 0, characters: 0 };
  const headings = new Set<object>();
  if (!text.canBeReadAgain || text.knownSize > LARGEST_BYTES) return undefined;
  try {
    for await (const segment of text.segments(isLive, signal)) {
      if (segment.kind === 'rest') continue;
      total.segments += 1;
      total.characters += countCodePoints(segment.text);
      if (segment.chapter !== undefined) headings.add(segment.chapter);
    }
  } catch {
    return undefined;
  }
  return headings.size > 0 ? { ...total, chapters: headings.size } : total;
}
