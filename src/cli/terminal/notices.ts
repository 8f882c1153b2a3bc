import { ExitCode, TtsError } from '../../error.ts';
import type { Host } from '../../host.ts';
import { inOneLine, visible } from '../../printable.ts';
import { Secrets } from './secrets.ts';
import { plain } from './style.ts';

/** Erases the line that the cursor stands on, and what a narrower window has made of it below. */
const ERASE = '\r\u001B[J';

/** A disk that is full for the cache is full for the sound as well, a little later. */
const PATIENCE_MS = 1000;

/**
 * Everything that is said to people and programs beside the audio: on stderr, never a secret, and nothing that rules
 * the terminal, whatever stands in a name.
 */
export class Notices {
  quiet = false;
  verbose = false;
  json = false;
  readonly #warnings: string[] = [];
  /** There is a line that is drawn again and again: whatever is printed takes its place. */
  #isDrawn = false;
  readonly #host: Host;
  readonly #secrets = new Secrets();
  readonly #doubts: string[] = [];

  constructor(host: Host) {
    this.#host = host;
  }

  /** From here on this text is replaced by `***`, wherever it would appear. */
  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  /** What a person should know, though nothing is wrong. */
  note(text: string): void {
    if (!this.quiet && !this.json) this.#say(text);
  }

  /** What may become wrong. With `--json` it is part of what is told as data. */
  warn(text: string): void {
    if (this.quiet) return;
    if (this.json) this.#warnings.push(text);
    else this.#say(`warning: ${text}`);
  }

  /** A warning of what may end the run as well: told within a second, unless an error of the output comes by then. */
  doubt(text: string): void {
    this.#doubts.push(text);
    setTimeout(() => this.tellDoubts(), PATIENCE_MS).unref();
  }

  tellDoubts(): void {
    for (const text of this.#doubts.splice(0)) this.warn(text);
  }

  /** What is done, step by step, with `--verbose`. */
  detail(text: () => string): void {
    if (this.verbose && !this.json) this.#say(text());
  }

  /** Text as it is, such as help that was not asked for. */
  print(text: string): void {
    this.#write(this.redact(text));
  }

  /** Data as one line for programs. */
  printJson(value: object): void {
    this.#write(this.inJson(value));
  }

  /** A question, behind which the answer is typed. */
  ask(question: string): void {
    this.#send(question);
  }

  /** In place of the line before it; the cursor rests at its start. */
  draw(line: string): void {
    this.#isDrawn = true;
    this.#send(`\r${line}\u001B[J\r`);
  }

  /** Removes that line, if there is one. */
  erase(): void {
    if (this.#isDrawn) this.#send(ERASE);
    this.#isDrawn = false;
  }

  /** Says what went wrong; the one place where errors are printed. Whatever is no TtsError is a defect. */
  failure(thrown: unknown, paint = plain): ExitCode {
    const error = unsuppressed(thrown);
    const known = error instanceof TtsError ? error : defect(error);
    const { message, hint, details, exitCode } = known;
    if (exitCode === ExitCode.output) this.#doubts.length = 0;
    this.tellDoubts();
    const trace = this.verbose || exitCode === ExitCode.defect ? [...causes(known)] : [];
    if (this.json) {
      const traced = trace.length > 0 ? trace : undefined;
      this.printJson({ error: { message, hint, details, exitCode, trace: traced } });
      return exitCode;
    }
    this.#write(`${paint.problem('tts:')} ${inOneLine(this.redact(message))}`);
    for (const detail of details ?? []) this.#write(`  ${inOneLine(this.redact(detail))}`);
    if (hint !== undefined) this.#write(`${paint.hint('hint:')} ${inOneLine(this.redact(hint))}`);
    for (const stack of trace) this.#write(this.redact(stack).split('\n').map(visible).join('\n'));
    return exitCode;
  }

  /** Text without the secrets, for output elsewhere than here. */
  redact(text: string): string {
    return this.#secrets.redact(text);
  }

  /** The same for data, with what was warned of. */
  inJson(value: object): string {
    this.tellDoubts();
    const warned = this.#warnings.length > 0 && { warnings: this.#warnings };
    return this.#secrets.inJson({ ...value, ...warned });
  }

  #say(text: string): void {
    this.#write(`tts: ${visible(this.redact(text))}`);
  }

  #write(safe: string): void {
    this.#send(`${this.#isDrawn ? ERASE : ''}${safe}\n`);
  }

  #send(bytes: string): void {
    const { stream } = this.#host.stderr;
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
    stream.write(bytes);
  }
}

/**
 * A closed stderr is no reason to stop speaking. Others listen too, but not for good: what Node pipes there from a
 * thread leaves at the first error, which would then be nobody's.
 */
function ignore(): void {}

/** If closing failed after an error, `await using` throws both, wrapped: that which came first is the one to print. */
function unsuppressed(thrown: unknown): unknown {
  const isWrapped = thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown;
  return isWrapped ? unsuppressed(thrown.suppressed) : thrown;
}

/** The error for whatever is none of ours. */
function defect(cause: unknown): TtsError {
  return new TtsError(`a defect in tts itself: ${cause instanceof Error ? cause.message : String(cause)}`, {
    exitCode: ExitCode.defect,
    hint: 'please report it, with the lines below',
    cause,
  });
}

/** The stack of each error that led to this one. */
function* causes({ cause }: Error): Generator<string> {
  for (let error = cause; error instanceof Error; error = error.cause) yield error.stack ?? error.message;
}

/** Whether a person looks at stderr and wants to see how it goes: a terminal that can move its cursor, with a width. */
export function isProgressWanted(
  { env, stderr }: Pick<Host, 'env' | 'stderr'>,
  { quiet, verbose, json }: Pick<Notices, 'quiet' | 'verbose' | 'json'>,
): boolean {
  if (quiet || verbose || json || env.TERM === 'dumb') return false;
  if (env.CI && env.CI !== 'false') return false;
  return stderr.isTTY && (stderr.columns ?? 0) > 0;
}
