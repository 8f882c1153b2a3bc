import { ExitCode, TtsError } from '../error.ts';
import type { Host } from '../host.ts';
import { inOneLine, visible } from '../printable.ts';
import { plain } from './paint.ts';
import { Secrets } from './secrets.ts';

/** Erases the line that the cursor stands on, and what a narrower window has made of it below. */
const ERASE = '\r\u001B[J';

/**
 * Everything that is said to people and programs beside the audio: on stderr, never a secret, and nothing that rules
 * the terminal, whatever stands in a name.
 */
export class Notices {
  quiet = false;
  verbose = false;
  json = false;
  /** There is a line that is drawn again and again: whatever is printed takes its place. */
  #isDrawn = false;
  readonly #host: Host;
  readonly #secrets = new Secrets();

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

  warn(text: string): void {
    if (!this.quiet && !this.json) this.#say(`warning: ${text}`);
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
  printJson(value: unknown): void {
    this.#write(this.inJson(value));
  }

  /** A question, behind which the answer is typed. */
  ask(question: string): void {
    this.#send(question);
  }

  /** A line on the terminal in place of the one before it; the cursor rests at its start. */
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
  failure(error: unknown, paint = plain): ExitCode {
    const known = error instanceof TtsError ? error : defect(error);
    const { message, hint, exitCode } = known;
    const trace = this.verbose || exitCode === ExitCode.defect ? [...causes(known)] : [];
    if (this.json) {
      const traced = trace.length > 0 ? trace : undefined;
      this.printJson({ error: { message, hint, exitCode, trace: traced } });
      return exitCode;
    }
    this.#write(`${paint.problem('tts:')} ${inOneLine(this.redact(message))}`);
    if (hint !== undefined) this.#write(`${paint.hint('hint:')} ${inOneLine(this.redact(hint))}`);
    for (const stack of trace) this.#write(this.redact(stack).split('\n').map(visible).join('\n'));
    return exitCode;
  }

  /** Text without the secrets, for output elsewhere than here. */
  redact(text: string): string {
    return this.#secrets.redact(text);
  }

  /** The same for data. */
  inJson(value: unknown): string {
    return this.#secrets.inJson(value);
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
