import { unlessAborted } from '../async.ts';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import type { RequestFields } from '../client/request-body.ts';
import type { NumberedText } from '../client/retry.ts';
import { speakWithTries } from '../client/tries.ts';
import type { Engine, Utterance } from '../engine/contract.ts';
import type { Espeak } from '../engine/espeak/voices.ts';
import type { NumberedSource } from '../engine/source.ts';
import { styleOf } from '../engine/style.ts';
import { IdleTimer } from '../idle.ts';
import { excerpt } from '../text/unicode.ts';
import type { Client, ClientOptions } from './client.ts';
import { begun, collected } from './collector.ts';
import { openBuiltIn, openEspeakEngine, openSource } from './engine-set.ts';

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
  const explain = async (error: unknown) =>
    (await import('./engine-failure.ts')).engineFailure(error, options);
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
    const { style, ignored } = await styleOf(instructions);
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
