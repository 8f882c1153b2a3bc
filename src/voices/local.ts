import {
  type Engine,
  EngineError,
  type EngineFault,
  type NumberedSource,
  type Utterance,
} from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { styleOf } from '../engines/style.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { hintToWait } from '../kit/http/failures.ts';
import { isTransient, type NumberedText } from '../kit/retry.ts';
import { IdleError, IdleTimer, unlessAborted } from '../kit/wait.ts';
import type { PcmFormat, Speech } from '../sound/pcm.ts';
import { excerpt } from '../text/unicode.ts';
import { openBuiltIn, openEspeakEngine, openSource } from './engine-set.ts';
import { speakWithTries } from './resilient.ts';
import type { Client, ClientOptions, RequestFields } from './voice.ts';

/** Bytes. Sound of half a minute to three minutes. */
const MOST_COLLECTED = 4 * 2 ** 20;

interface Collected {
  /** The number of bytes; `undefined` for sound that goes on. */
  readonly bytes: number | undefined;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * Waits for the whole sound, so that its size is known and an error comes before the first byte. Longer sound is passed on
 * as soon as it is too long to wait for.
 */
async function collected(sound: AsyncIterable<Uint8Array>): Promise<Collected> {
  const source = sound[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < MOST_COLLECTED) {
    const next = await source.next();
    if (next.done) return { bytes, pcm: each(held) };
    held.push(next.value);
    bytes += next.value.length;
  }
  return { bytes: undefined, pcm: each(held, source) };
}

/** Waits for the first piece, since an engine may refuse a text only when it is to speak. */
async function begun(sound: AsyncIterable<Uint8Array>): Promise<Collected> {
  const source = sound[Symbol.asyncIterator]();
  const first = await source.next();
  return { bytes: undefined, pcm: first.done ? each([]) : each([first.value], source) };
}

async function* each(held: Uint8Array[], rest?: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = held.shift(); piece; piece = held.shift()) yield piece;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}

interface EngineOptions extends ClientOptions {
  /** Messages use this name. */
  readonly name: string;
  /** True for a server, a program or a model, whose errors name it. */
  readonly isExternal: boolean;
  readonly advice?: string | undefined;
}

interface Opening {
  /** What the user brings. */
  readonly source?: NumberedSource | undefined;
  readonly espeak?: Espeak | undefined;
}

/** Opens an engine inside this program: a source, espeak-ng, or else the built-in voices. */
export async function openEngine({ source, espeak }: Opening, options: ClientOptions): Promise<Client> {
  if (source) {
    const { name, advice } = source.source;
    return engineClient(await openSource(source), { ...options, name, isExternal: true, advice });
  }
  if (espeak)
    return engineClient(await openEspeakEngine(espeak), { ...options, name: 'espeak-ng', isExternal: false });
  return engineClient(openBuiltIn(options.runtime), {
    ...options,
    name: 'the built-in voice',
    isExternal: false,
  });
}

function engineClient(engine: Engine, options: EngineOptions): Client {
  const voices = new EngineVoices(engine, options);
  const explain = async (error: unknown) => engineFailure(error, options);
  return {
    speak: (text, fields, signal) =>
      speakWithTries(
        text,
        { ...options, explain, ask: (_, until) => voices.speak(text, fields, until) },
        signal,
      ),
    close: () => engine.close(),
  };
}

class EngineVoices {
  readonly #engine: Engine;
  readonly #options: EngineOptions;
  /** The texts that wait for their next sound. */
  readonly #waiting = new Set<IdleTimer>();

  constructor(engine: Engine, options: EngineOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  async speak(
    { text, index }: NumberedText,
    { speaker: no, sampleRate: asked, instructions, stream }: RequestFields,
    signal: AbortSignal,
  ): Promise<Speech> {
    const { onEvent } = this.#options;
    const speaker = this.#engine.speakers.find((each) => each.no === no);
    if (!speaker) throw new RangeError(`there is no speaker ${no}`);
    const start = Date.now();
    onEvent({ type: 'request', index, text, by: this.#options.name });
    const { style, ignored } = styleOf(instructions);
    const { sampleRate, pcm: sound } = await this.#begin(
      {
        text,
        speaker,
        sampleRate: asked,
        style,
        onCut: (message, how) => onEvent({ type: 'cut', message, how }),
        isWhole: !stream,
      },
      signal,
    );
    const { bytes, pcm } = await (stream ? begun : collected)(sound);
    onEvent({ type: 'answer', index, milliseconds: Date.now() - start });
    if (ignored.length > 0) onEvent({ type: 'ignored', instructions: ignored.map(excerpt).join(', ') });
    const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
    return { format, bytes, pcm };
  }

  async #begin(
    utterance: Utterance,
    signal: AbortSignal,
  ): Promise<{ sampleRate: number; pcm: AsyncIterable<Uint8Array> }> {
    const watch = new Watch(this.#waiting, this.#options.timeoutMs, signal);
    try {
      const { sampleRate, samples } = await watch.wait(this.#engine.speak(utterance, watch.signal));
      return { sampleRate, pcm: bytesOf(samples, watch) };
    } catch (error) {
      watch.end();
      throw error;
    }
  }
}

async function* bytesOf(samples: AsyncIterable<Int16Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  const source = samples[Symbol.asyncIterator]();
  try {
    for (let next = await watch.wait(source.next()); !next.done; next = await watch.wait(source.next())) {
      const { buffer, byteOffset, byteLength } = next.value;
      if (byteLength > 0) yield new Uint8Array(buffer, byteOffset, byteLength);
    }
  } finally {
    watch.end();
    source.return?.().catch(() => {});
  }
}

/** Ends an utterance whose engine is silent for a time. While the engine speaks other texts, this one is not late. */
class Watch {
  readonly signal: AbortSignal;
  readonly #waiting: Set<IdleTimer>;
  readonly #over = new AbortController();
  readonly #timer: IdleTimer;

  /** @param waiting the timers of all utterances of the engine that wait for their next sound */
  constructor(waiting: Set<IdleTimer>, timeoutMs: number, signal: AbortSignal) {
    this.#waiting = waiting;
    this.signal = AbortSignal.any([signal, this.#over.signal]);
    this.#timer = new IdleTimer(timeoutMs, (error) => this.#over.abort(error));
  }

  async wait<T>(sound: Promise<T>): Promise<T> {
    this.#timer.restart();
    this.#waiting.add(this.#timer);
    try {
      return await unlessAborted(sound, this.signal);
    } finally {
      this.#waiting.delete(this.#timer);
      this.#timer.stop();
      for (const other of this.#waiting) other.restart();
    }
  }

  end(): void {
    this.#timer.stop();
    this.#over.abort(new Error('the sound is not needed any more'));
  }
}

/** Whose failure it is. */
interface Failing {
  readonly name: string;
  /** True for a server, a program or a model, whose errors name it. */
  readonly isExternal: boolean;
  /** The hint for its failures, where it is not the usual one. */
  readonly advice?: string | undefined;
  readonly timeoutMs: number;
}

/** Puts the failure of an engine into words. */
function engineFailure(error: unknown, who: Failing): TtsError {
  if (error instanceof TtsError) return error;
  if (error instanceof IdleError) return silent(error, who);
  if (!(error instanceof EngineError)) throw error;
  if (error.kind === 'no storage') return noRoom(error);
  if (error.kind === 'refused' && error.status !== undefined && !isTransient(error.status))
    return refused(error, error.status, who);
  if (error.isFinal) return short(error);
  return who.isExternal ? failed(error, who) : ofBuiltIn(error, who);
}

function short(cause: EngineError): TtsError {
  const hint =
    'maxChars is set next to the engine under "engines" in your own config; --max-chars sets it for a run';
  return new TtsError(cause.message, { exitCode: ExitCode.service, hint, cause });
}

function silent(cause: IdleError, { name, timeoutMs }: Failing): TtsError {
  return new TtsError(`no sound from ${name} for ${timeoutMs / 1000} s`, {
    exitCode: ExitCode.timeout,
    hint: 'try again, or wait longer with --timeout',
    cause,
    retry: {},
  });
}

function noRoom(cause: EngineError): TtsError {
  const hint = 'free some space there, or name another folder for temporary files with TMPDIR';
  return new TtsError(cause.message, { exitCode: ExitCode.output, hint, cause });
}

/** The hint for every failure of an engine that the user brings. */
const LOOK = 'tts doctor --engine ENGINE checks the engine';

/** An answer that stays the same if the engine is asked again. It means what it means on `POST /tts`. */
function refused(cause: EngineError, status: number, { advice = LOOK }: Failing): TtsError {
  const isKey = status === 401 || status === 403;
  const [exitCode, hint] = isKey
    ? [
        ExitCode.key,
        'TTS_ENGINE_KEY holds the key for --engine URL; "key" or "keyFile" under "engines" in your own config holds that of a named engine',
      ]
    : status === 402
      ? [
          ExitCode.quota,
          'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit',
        ]
      : [ExitCode.service, advice];
  const concernsThisTextOnly = [400, 404, 413, 422].includes(status);
  return new TtsError(cause.message, {
    exitCode,
    hint,
    cause,
    concernsThisTextOnly,
    isOutage: status >= 500,
  });
}

function failed(cause: EngineError, { advice = LOOK }: Failing): TtsError {
  const { message, kind, retryAfter: after, status = STATUSES[kind] ?? 502 } = cause;
  return new TtsError(message, {
    exitCode: status === 429 ? ExitCode.quota : ExitCode.service,
    hint: hintToWait(after) ?? advice,
    cause,
    retry: { after, busy: kind === 'busy', status },
  });
}

/** What `POST /tts` of a service with the engine answers. */
const STATUSES: Partial<Record<EngineFault, number>> = { busy: 503, late: 504 };

function ofBuiltIn(cause: EngineError, { name }: Failing): TtsError {
  const { message, kind } = cause;
  if (kind === 'unsupported text')
    return new TtsError(`${name} cannot read this text: ${message}`, {
      exitCode: ExitCode.service,
      hint: 'choose a voice for the language of the text: tts speakers lists them',
      cause,
      concernsThisTextOnly: true,
    });
  return new TtsError(`${name} failed: ${message}`, {
    exitCode: ExitCode.service,
    hint: 'try again; tts doctor checks the voice',
    cause,
    retry: { status: 500 },
  });
}
