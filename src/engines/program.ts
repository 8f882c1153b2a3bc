/** Engines that are programs of the user, run once per text. */
import { createReadStream, lstatSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { findProgram, unwritable } from '../kit/folders.ts';
import type { ProgramHost } from '../kit/host.ts';
import { Child, type Exit, guard } from '../kit/program.ts';
import { IdleTimer, watched } from '../kit/wait.ts';
import { evenPieces, mono } from '../sound/convert.ts';
import { bareFormat } from '../sound/pcm.ts';
import { readWav } from '../sound/wav.ts';
import { EngineError, type EngineSound, type ExternalSource, type ProgramConfig } from './engine.ts';

export interface ProgramOptions extends ProgramHost {
  /** The program fails after this many milliseconds without a byte. */
  readonly timeoutMs: number;
  /** Ends a program with all processes that it started. */
  readonly endGroup: (pid: number) => void;
}

/** Hz, assumed until the header of the WAV tells. */
const USUAL_RATE = 22_050;

/** Opens a program as an engine. Arguments are passed without a shell. */
export async function openProgram(config: ProgramConfig, options: ProgramOptions): Promise<ExternalSource> {
  const { name, command, output, voices = [name], maxChars, concurrency } = config;
  const sampleRate = config.sampleRate ?? USUAL_RATE;
  const program = await findProgram(command[0], options);
  if (program === undefined) throw new EngineError('failed', `${name}: there is no program ${command[0]}`);
  const resolved = { ...config, command: [program, ...command.slice(1)] as const };
  const running = new Set<ProgramRun>();
  const identity = `program ${JSON.stringify([command, output, sampleRate])} ${fileStamps([program, ...command])}`;
  return {
    name,
    voices: voices.map((voice) => ({
      name: voice,
      language: 'und',
      sampleRate: config.sampleRate,
      numbers: config.numbers,
    })),
    identityOf: (voice) => `${identity} ${voice.name}`,
    maxChars,
    concurrency,
    async speak(text, voice, signal) {
      signal.throwIfAborted();
      const run = new ProgramRun(resolved, { text, voice: voice.name }, options);
      running.add(run);
      run.closed.finally(() => running.delete(run));
      return run.sound(signal);
    },
    async [Symbol.asyncDispose]() {
      for (const run of running) run.end();
    },
  };
}

/** Sizes and times of the files in the command: a new model file makes another voice. */
function fileStamps(command: readonly string[]): string {
  const files = command.flatMap((name) => {
    const stats = statSync(name, { throwIfNoEntry: false });
    return stats?.isFile() ? [`${name}:${stats.size}:${stats.mtimeMs}`] : [];
  });
  return files.join(' ');
}

/** One run of the program, for one text. */
class ProgramRun {
  readonly #config: ProgramConfig;
  readonly #options: ProgramOptions;
  readonly #folder: string | undefined;
  readonly #output: string | undefined;
  readonly #child: Child;
  readonly closed: Promise<Exit>;
  readonly #timer: IdleTimer;
  #isSilent = false;
  #isStopped = false;

  constructor(
    config: ProgramConfig,
    { text, voice }: { readonly text: string; readonly voice: string },
    options: ProgramOptions,
  ) {
    this.#config = config;
    this.#options = options;
    const names = (placeholder: string) => config.command.some((argument) => argument.includes(placeholder));
    const [takesFile, writesFile] = [names('{text}'), names('{output}')];
    this.#folder = takesFile || writesFile ? newFolder() : undefined;
    const pathOf = (name: string) => join(this.#folder ?? '', name);
    const files = { text: pathOf('text.txt'), output: pathOf('output.wav') };
    this.#output = writesFile ? files.output : undefined;
    const line = `${text.replace(/\s+/g, ' ').trim()}\n`;
    this.#timer = new IdleTimer(options.timeoutMs, () => {
      this.#isSilent = true;
      this.end();
    });
    try {
      if (takesFile) writeFileSync(files.text, line);
    } catch (error) {
      this.#tidy();
      throw noStorage(error);
    }
    const [program, ...rest] = config.command.map((argument) => filled(argument, { ...files, voice }));
    const { env, endGroup } = options;
    // The program may be the client of a service; this cannot be known.
    const usesNetwork = true;
    this.#child = new Child(program ?? '', rest, {
      env,
      usesNetwork,
      endGroup,
      stdin: 'pipe',
      stdout: 'pipe',
    });
    guard(this.#child, this.#folder, options);
    this.closed = this.#child.closed;
    this.#child.stdin.end(takesFile ? '' : line);
  }

  /** @throws EngineError, here and while the samples are read */
  async sound(signal: AbortSignal): Promise<EngineSound> {
    const stop = () => {
      this.end();
      this.#tidy();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { sampleRate, samples } = await this.#read();
      return { sampleRate, samples: this.#checked(samples, signal) };
    } catch (error) {
      throw await this.#errorOf(error, signal);
    }
  }

  end(): void {
    this.#timer.stop();
    this.#isStopped ||= this.#child.isRunning;
    this.#child.end();
  }

  async #read(): Promise<EngineSound> {
    const { output, sampleRate } = this.#config;
    if (this.#output !== undefined) await this.#assertEnded();
    const bytes =
      this.#output === undefined ? watched(this.#child.stdout, this.#timer) : regularFile(this.#output);
    if (output === 's16le' && sampleRate !== undefined)
      return { sampleRate, samples: mono(evenPieces(bytes), bareFormat(sampleRate)) };
    const { format, pcm } = await readWav(bytes);
    return { sampleRate: format.sampleRate, samples: mono(pcm, format) };
  }

  async *#checked(samples: AsyncIterable<Int16Array>, signal: AbortSignal): AsyncGenerator<Int16Array> {
    try {
      yield* samples;
      await this.#assertEnded();
    } catch (error) {
      throw await this.#errorOf(error, signal);
    } finally {
      this.#tidy();
    }
  }

  async #assertEnded(): Promise<void> {
    this.#timer.restart();
    const { status, signal } = await this.closed;
    this.#timer.stop();
    if (status !== 0) throw new Error(`it ended with ${signal ?? `status ${status}`}`);
  }

  async #errorOf(error: unknown, signal: AbortSignal): Promise<unknown> {
    // A failing program closes its output before it ends, so wait for its status.
    await this.#child.closedSoon();
    this.end();
    const { status, signal: ending, failure } = await this.closed;
    this.#tidy();
    if (signal.aborted) return signal.reason;
    const { name } = this.#config;
    if (this.#isSilent) {
      const seconds = this.#options.timeoutMs / 1000;
      return new EngineError('late', `${name} was silent for ${seconds} s`);
    }
    const ended = status ? `status ${status}` : !this.#isStopped && ending;
    const how = ended ? `it ended with ${ended}` : (error as Error).message;
    return new EngineError('failed', `${name} failed: ${failure?.message || this.#child.lastWords || how}`);
  }

  #tidy(): void {
    this.#timer.stop();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

function newFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'tts-engine-'));
  } catch (error) {
    throw noStorage(error);
  }
}

function noStorage(cause: unknown): EngineError {
  return new EngineError('no storage', unwritable(tmpdir(), cause).message);
}

/** Opens a regular file only: a FIFO would block, and a link may lead to a device. */
function regularFile(path: string): Readable {
  if (!lstatSync(path).isFile()) throw new Error('its output is not a regular file');
  return createReadStream(path);
}

/** Replaces the placeholders in an argument. */
function filled(argument: string, values: Readonly<Record<'text' | 'output' | 'voice', string>>): string {
  return argument.replace(/\{(text|output|voice)\}/g, (_, name: keyof typeof values) => values[name]);
}
