import { ExitCode, TtsError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { inOneLine, visible, withoutMiddle } from '../kit/words.ts';
import { printLine } from './print.ts';

/** Characters of the shortest secret that is hidden inside words, too. */
const SHORTEST_ANYWHERE = 4;

/** Characters of the shortest secret that is unlikely to be an ordinary word. */
const SHORTEST_UNCOMMON = 8;

/** JSON fields with names that the user gave: nothing is hidden in them. */
const NAMES = new Set(['output', 'out', 'subtitles', 'file', 'folder', 'id']);
/** JSON fields that may quote a service or an engine: even short secrets are hidden in them. */
const QUOTES = new Set(['message', 'hint', 'details', 'detail', 'warnings', 'trace', 'reason', 'error']);

/** The keys and passwords of a run. Each is hidden in three forms: plain, URL-encoded, and escaped as in JSON. */
export class Secrets {
  readonly #forms = new Set<string>();
  readonly #names = new Set<string>();
  /** Names that hold a secret, by their lengths. The others would only divide the text, and a secret in it. */
  readonly #withSecret = new Map<number, Set<string>>();

  hide(secret: string): void {
    if (secret === '') return;
    const inUrl = encodeURIComponent(secret);
    const inJson = JSON.stringify(secret).slice(1, -1);
    this.#forms.add(secret).add(inJson).add(inJson.replaceAll('/', '\\/'));
    this.#forms.add(inUrl).add(inUrl.replace(/%../g, (hex) => hex.toLowerCase()));
    for (const name of this.#names) this.#keepWithSecret(name);
  }

  /** Keeps a name that the user gave, even if a secret is a part of it. */
  spare(name: string): void {
    this.#names.add(name);
    this.#keepWithSecret(name);
  }

  #keepWithSecret(name: string): void {
    if (![...this.#forms].some((form) => name.length > form.length && name.includes(form))) return;
    const { length } = name;
    this.#withSecret.set(length, (this.#withSecret.get(length) ?? new Set()).add(name));
  }

  /** Hides secrets in text that quotes a service or a file. */
  redact(text: string): string {
    return this.#outsideNames(text, (part) => this.#without(this.#forms, part));
  }

  /** Hides secrets in text of the program and its user, where a short key may be an ordinary word. */
  redactOwn(text: string): string {
    const forms = [...this.#forms];
    const uncommon = forms.filter((form) => form.length >= SHORTEST_UNCOMMON);
    const common = forms.filter((form) => form.length < SHORTEST_UNCOMMON);
    // Between the ":" and the "@" of an address, even a short word is the password.
    const safe = common.reduce((rest, form) => rest.replaceAll(`:${form}@`, ':***@'), text);
    return this.#outsideNames(safe, (part) => this.#without(uncommon, part));
  }

  /** @param quotes false for an error that quotes only the user */
  inJson(value: object, { quotes = true } = {}): string {
    return visible(JSON.stringify(this.#hiddenIn(JSON.parse(JSON.stringify(value)), '', quotes)));
  }

  #outsideNames(text: string, hide: (part: string) => string): string {
    let [safe, from] = ['', 0];
    for (let at = 0; this.#withSecret.size > 0 && at < text.length; ) {
      const name = this.#nameAt(text, at);
      if (name !== undefined) safe += hide(text.slice(from, at)) + name;
      at += name?.length ?? 1;
      if (name !== undefined) from = at;
    }
    return safe + hide(text.slice(from));
  }

  /** @returns the longest name with a secret that begins there; a batch has as many of them as rows */
  #nameAt(text: string, at: number): string | undefined {
    let longest: string | undefined;
    for (const [length, names] of this.#withSecret) {
      const part = text.slice(at, at + length);
      if (length > (longest?.length ?? 0) && names.has(part)) longest = part;
    }
    return longest;
  }

  /** Hides the longest secret first, since it may begin with a shorter one. */
  #without(forms: Iterable<string>, text: string): string {
    return [...forms]
      .sort((a, b) => b.length - a.length)
      .reduce((rest, secret) => withoutBeginning(without(rest, secret), secret), text);
  }

  /** @param field the field that holds the value, or the list around it */
  #hiddenIn(value: unknown, field: string, quotes: boolean): unknown {
    if (typeof value === 'string') return this.#hidden(value, field, quotes);
    if (Array.isArray(value)) return value.map((item) => this.#hiddenIn(item, field, quotes));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.#hiddenIn(item, name, quotes)]),
    );
  }

  #hidden(text: string, field: string, quotes: boolean): string {
    if (NAMES.has(field)) return text;
    return quotes && QUOTES.has(field) ? this.redact(text) : this.redactOwn(text);
  }
}

/** Makes patterns only of short secrets: V8 refuses a long pattern with an error that quotes it. */
function without(text: string, secret: string): string {
  if (secret.length >= SHORTEST_ANYWHERE) return text.replaceAll(secret, '***');
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu'), '***');
}

/** Hides the beginning of a secret before a "…", where a shortened message may have cut it. */
function withoutBeginning(text: string, secret: string): string {
  const pieces = text.split('…');
  const last = pieces.pop() ?? '';
  return [...pieces.map((piece) => withoutEnd(piece, secret)), last].join('…');
}

function withoutEnd(piece: string, secret: string): string {
  for (let length = Math.min(piece.length, secret.length - 1); length >= SHORTEST_ANYWHERE; length--)
    if (piece.endsWith(secret.slice(0, length))) return `${piece.slice(0, -length)}***`;
  return piece;
}

interface Paint {
  problem(text: string): string;
  hint(text: string): string;
}

const plain: Paint = { problem: (text) => text, hint: (text) => text };

/** Colours a terminal, unless NO_COLOR is set (https://no-color.org). */
export async function paintFor({ env, stderr }: Pick<Host, 'env' | 'stderr'>): Promise<Paint> {
  if (!stderr.isTTY || env.NO_COLOR || env.TERM === 'dumb') return plain;
  const { Chalk } = await import('chalk');
  // Without a level, chalk would read the environment itself.
  const chalk = new Chalk({ level: 1 });
  return { problem: chalk.red.bold, hint: chalk.dim };
}

/** Erases everything below the cursor, too: a window that became narrower wraps the progress line. */
const ERASE = '\r\u001B[J';

/** Milliseconds that a warning is held back: if the disk is too full for the cache, the output soon fails, too. */
const WARNING_DELAY_MS = 1000;

/** Errors with these statuses quote only the user. */
const OWN_ERRORS: readonly ExitCode[] = [ExitCode.usage, ExitCode.output];

/** Prints everything: results to stdout and the rest to stderr, without secrets and control characters. */
export class Notices extends Secrets {
  quiet = false;
  verbose = false;
  json = false;
  /** True prints a line of JSON with its time for each note, warning and error. */
  asLog = false;
  readonly #warnings: string[] = [];
  /** True while a progress line is shown, which the next output replaces. */
  #isDrawn = false;
  #breakLine: () => string = () => '';
  readonly #host: Host;
  readonly #delayed: string[] = [];

  constructor(host: Host) {
    super();
    this.#host = host;
  }

  note(text: string): void {
    if (!this.quiet && !this.json) this.#say('note', this.redactOwn(text));
  }

  warn(text: string): void {
    if (this.quiet) return;
    if (this.json) this.#warnings.push(text);
    else this.#say('warning', this.redact(text));
  }

  /** Warns after `WARNING_DELAY_MS`, unless the output has failed by then. */
  warnLater(text: string): void {
    this.#delayed.push(text);
    setTimeout(() => this.flushDelayed(), WARNING_DELAY_MS).unref();
  }

  flushDelayed(): void {
    for (const text of this.#delayed.splice(0)) this.warn(text);
  }

  detail(text: () => string): void {
    if (this.verbose && !this.json) this.#say('detail', this.redact(text()));
  }

  /** Prints what the command was asked for. Keys are hidden in it; the user's own words and names are not. */
  result(result: string | object): void {
    printLine(this.#host.stdout, typeof result === 'string' ? this.redactOwn(result) : this.#warned(result));
  }

  print(text: string): void {
    this.#write(this.redactOwn(text));
  }

  printJson(value: object): void {
    this.#write(this.#warned(value));
  }

  ask(question: string): void {
    this.#send(question);
  }

  async askSecret(question: string, signal: AbortSignal): Promise<string | undefined> {
    const { stdin, stderr } = this.#host;
    if (this.json || !stdin.isTTY || !stderr.isTTY) return undefined;
    const { askSecret } = await import('./print.ts');
    return askSecret(question, { host: this.#host, notices: this, signal });
  }

  /** @param breakLine returns the line break that a message needs, if text of `--echo` is shown on the same terminal */
  breakLineWith(breakLine: () => string): void {
    if (this.#host.stderr.isTTY) this.#breakLine = breakLine;
  }

  draw(line: string): void {
    this.#isDrawn = true;
    this.#send(`\r${line}\u001B[J\r`);
  }

  erase(): void {
    if (this.#isDrawn) this.#send(ERASE);
    this.#isDrawn = false;
  }

  /** Prints the error that ends a run, and is the only place that does. Anything but a TtsError is a defect. */
  failure(thrown: unknown, paint = plain): ExitCode {
    const error = unsuppressed(thrown);
    const known = error instanceof TtsError ? error : defect(error);
    const { message, hint, details, exitCode, stop } = known;
    if (exitCode === ExitCode.output) this.#delayed.length = 0;
    this.flushDelayed();
    const trace = this.verbose || exitCode === ExitCode.defect ? [...causes(known)] : [];
    const quotes = !OWN_ERRORS.includes(exitCode);
    if (this.json || this.asLog) {
      const traced = trace.length > 0 ? trace : undefined;
      const fields = { message, hint, details, exitCode, ...stop, trace: traced };
      const logged = { time: new Date(), event: 'error', ...fields };
      this.#write(this.#warned(this.json ? { error: fields } : logged, quotes));
      return exitCode;
    }
    const safe = (text: string) =>
      inOneLine(withoutMiddle(quotes ? this.redact(text) : this.redactOwn(text)));
    this.#write(`${paint.problem('tts:')} ${safe(message)}`);
    for (const detail of details ?? []) this.#write(`  ${safe(detail)}`);
    if (hint !== undefined) this.#write(`${paint.hint('hint:')} ${safe(hint)}`);
    for (const stack of trace) this.#write(this.redact(stack).split('\n').map(visible).join('\n'));
    return exitCode;
  }

  #warned(value: object, quotes = true): string {
    this.flushDelayed();
    const warnings = this.#warnings.map((text) => this.redact(text));
    const warned = warnings.length > 0 && { warnings };
    return this.inJson({ ...value, ...warned }, { quotes });
  }

  #say(event: 'note' | 'warning' | 'detail', safe: string): void {
    if (this.asLog) this.#write(visible(JSON.stringify({ time: new Date(), event, message: safe })));
    else this.#write(`tts: ${event === 'warning' ? 'warning: ' : ''}${visible(safe)}`);
  }

  #write(safe: string): void {
    this.#send(`${this.#isDrawn ? ERASE : this.#breakLine()}${safe}\n`);
  }

  #send(bytes: string): void {
    const { stream } = this.#host.stderr;
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
    stream.write(bytes);
  }
}

/** Keeps a closed stderr from stopping a run. Node's own listener removes itself at the first error. */
function ignore(): void {}

/** Returns the first of the two errors that `await using` wraps when a disposal fails, too. */
function unsuppressed(thrown: unknown): unknown {
  const isWrapped = thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown;
  return isWrapped ? unsuppressed(thrown.suppressed) : thrown;
}

function defect(cause: unknown): TtsError {
  return new TtsError(`a defect in tts itself: ${cause instanceof Error ? cause.message : String(cause)}`, {
    exitCode: ExitCode.defect,
    hint: 'please report it, with the lines below',
    cause,
  });
}

function* causes({ cause }: Error): Generator<string> {
  for (let error = cause; error instanceof Error; error = error.cause) yield error.stack ?? error.message;
}

export function isProgressWanted(
  { env, stderr }: Pick<Host, 'env' | 'stderr'>,
  { quiet, verbose, json }: Pick<Notices, 'quiet' | 'verbose' | 'json'>,
): boolean {
  if (quiet || verbose || json || env.TERM === 'dumb') return false;
  if (env.CI && env.CI !== 'false') return false;
  return stderr.isTTY && (stderr.columns ?? 0) > 0;
}
