import { type Engine, EngineError, type EngineFault, type EngineUtterance } from '../engines/engine.ts';
import { PLAIN, styleOf } from '../engines/style.ts';
import { ExitCode, TtsError, type TtsErrorOptions } from '../kit/error.ts';
import { hintToWait } from '../kit/http/failures.ts';
import { isTransient } from '../kit/retry.ts';
import { IdleError, IdleTimer, mapErrors, peek, unlessAborted } from '../kit/wait.ts';
import { bareFormat, type Speech } from '../sound/pcm.ts';
import type { Utterance, Voice, VoiceSource } from '../sound/voice.ts';
import { excerpt } from '../text/unicode.ts';

/** Bytes. Sound of half a minute to three minutes: longer sound is passed on before all of it is there. */
const MOST_COLLECTED = 4 * 2 ** 20;

interface LocalOptions extends Pick<VoiceSource, 'kind' | 'name' | 'maxChars' | 'atOnce'> {
  /** Called when a voice speaks first. */
  readonly engine: () => Promise<Engine>;
  /** Starts what the voice speaks with, and does not wait for it. */
  readonly prepare?: (voice: Voice) => void;
  /** What the user can do where it fails, if that is known. */
  readonly advice?: string | undefined;
  readonly timeoutMs: number;
}

/** An engine of the user times out by itself, with a better message: its source waits longer by this factor. */
const LONGER = 1.2;

/** An engine of this machine as a source. */
export function localSource({ engine, prepare, advice, timeoutMs, ...about }: LocalOptions): VoiceSource {
  let opened: Promise<Engine> | undefined;
  const open = () => {
    opened ??= engine();
    return opened;
  };
  const info = { name: about.name, isExternal: about.kind === 'engine', advice, timeoutMs };
  const silenceMs = about.kind === 'engine' ? timeoutMs * LONGER : timeoutMs;
  /** The texts that wait for their next sound. */
  const waiting = new Set<IdleTimer>();
  return {
    ...about,
    async open(voice) {
      prepare?.(voice);
      await open();
    },
    async speak(utterance, signal) {
      try {
        const sound = await speakOnce(
          await open(),
          utterance,
          new SilenceTimeout(waiting, silenceMs, signal),
          about,
        );
        return { ...sound, pcm: mapErrors(sound.pcm, (error) => engineFailure(error, info)) };
      } catch (error) {
        throw signal.aborted ? error : engineFailure(error, info);
      }
    },
    has: () => false,
    async close() {
      // The text that opened the engine has reported its failure.
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

async function speakOnce(
  engine: Engine,
  { text: clean, written, voice, fields, index, report }: Utterance,
  watch: SilenceTimeout,
  { kind, name }: Pick<VoiceSource, 'kind' | 'name'>,
): Promise<Speech> {
  const text = kind === 'engine' ? clean : (written ?? clean);
  const start = Date.now();
  report({ type: 'request', index, text, by: name });
  const { style, ignored } = followed(fields.instructions, kind);
  const { sampleRate, pcm: sound } = await begin(
    engine,
    {
      text,
      no: voice.no,
      sampleRate: fields.sampleRate,
      style,
      onCut: (message, how) => report({ type: 'cut', message, how }),
      isWhole: !fields.stream,
    },
    watch,
  );
  // Wait for sound, since an engine may refuse a text only when it speaks. Once all sound has come, its size is known.
  const { all, length, isWhole } = await peek(sound, fields.stream ? 1 : MOST_COLLECTED);
  report({ type: 'answer', index, milliseconds: Date.now() - start });
  if (ignored.length > 0) report({ type: 'ignored', instructions: ignored.map(excerpt).join(', ') });
  return { format: bareFormat(sampleRate), bytes: isWhole ? length : undefined, pcm: all };
}

/**
 * Reads the instructions as voices of this kind follow them: those of the user's engines follow none.
 * @returns the style, and the phrases that have no effect
 */
export function followed(
  instructions: string | undefined,
  kind: VoiceSource['kind'],
): ReturnType<typeof styleOf> {
  return kind === 'engine' && instructions !== undefined
    ? { style: PLAIN, ignored: [instructions] }
    : styleOf(instructions);
}

async function begin(
  engine: Engine,
  utterance: EngineUtterance,
  watch: SilenceTimeout,
): Promise<{ sampleRate: number; pcm: AsyncIterable<Uint8Array> }> {
  try {
    const { sampleRate, samples } = await watch.wait(engine.speak(utterance, watch.signal));
    return { sampleRate, pcm: bytesOf(samples, watch) };
  } catch (error) {
    watch.end();
    throw error;
  }
}

async function* bytesOf(
  samples: AsyncIterable<Int16Array>,
  watch: SilenceTimeout,
): AsyncGenerator<Uint8Array> {
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
class SilenceTimeout {
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

/** The engine that failed. */
interface EngineInfo {
  readonly name: string;
  /** True for a server, a program or a model, whose errors name it. */
  readonly isExternal: boolean;
  /** The hint for its failures, if it is not the usual one. */
  readonly advice?: string | undefined;
  readonly timeoutMs: number;
}

/** Puts the failure of an engine into words. */
function engineFailure(error: unknown, who: EngineInfo): TtsError {
  if (error instanceof TtsError) return error;
  const isIdle = error instanceof IdleError;
  if (!isIdle && !(error instanceof EngineError)) throw error;
  const { message = error.message, ...meaning } = isIdle ? silence(who) : meaningOf(error, who);
  return new TtsError(message, { exitCode: ExitCode.service, cause: error, ...meaning });
}

type Meaning = Partial<TtsErrorOptions> & { readonly message?: string };

function silence({ name, timeoutMs }: EngineInfo): Meaning {
  return {
    message: `no sound from ${name} for ${timeoutMs / 1000} s`,
    exitCode: ExitCode.timeout,
    hint: 'try again, or wait longer with --timeout',
    retry: {},
  };
}

/** Returns the options of the error for a failure, and another message where that of the engine is not enough. */
function meaningOf(error: EngineError, { name, isExternal, advice = LOOK }: EngineInfo): Meaning {
  const { kind, status, retryAfter: after } = error;
  if (kind === 'no storage')
    return {
      exitCode: ExitCode.output,
      hint: 'free some space there, or name another folder for temporary files with TMPDIR',
    };
  // The answer stays the same if the engine is asked again.
  if (kind === 'refused' && status !== undefined && !isTransient(status))
    return {
      hint: advice,
      ...REFUSALS.get(status),
      concernsThisTextOnly: [400, 404, 413, 422].includes(status),
      isOutage: status >= 500,
    };
  if (error.isFinal)
    return {
      hint: 'maxChars is set next to the engine under "engines" in your own config; --max-chars sets it for a run',
    };
  if (!isExternal && kind === 'unsupported text')
    return {
      message: `${name} cannot read this text`,
      hint: 'choose a voice for the language of the text: tts speakers lists them',
      concernsThisTextOnly: true,
    };
  if (!isExternal)
    return {
      message: `${name} failed: ${error.message}`,
      hint: 'try again; tts doctor checks the voice',
      retry: { status: 500 },
    };
  const answered = status ?? STATUSES[kind] ?? 502;
  return {
    exitCode: EXITS.get(answered) ?? ExitCode.service,
    hint: hintToWait(after) ?? advice,
    retry: { after, busy: kind === 'busy', status: answered },
  };
}

/** The usual hint for a failure of an engine of the user. */
const LOOK = 'tts doctor --engine ENGINE checks the engine';

const NO_KEY: Meaning = {
  exitCode: ExitCode.key,
  hint: 'TTS_ENGINE_KEY holds the key for --engine URL; "key" or "keyFile" under "engines" in your own config holds that of a named engine',
};

/** Statuses of a server that mean what they mean from a service. */
const REFUSALS: ReadonlyMap<number, Meaning> = new Map([
  [401, NO_KEY],
  [403, NO_KEY],
  [
    402,
    {
      exitCode: ExitCode.quota,
      hint: 'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit',
    },
  ],
]);

/** The status with which `tts serve` answers a fault of its engine; 502 for all others. */
const STATUSES: Partial<Record<EngineFault, number>> = { busy: 503, late: 504 };

const EXITS: ReadonlyMap<number, ExitCode> = new Map([
  [429, ExitCode.quota],
  [504, ExitCode.timeout],
]);
