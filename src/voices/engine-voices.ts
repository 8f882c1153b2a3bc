import { unlessAborted } from '../async.ts';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import type { RequestFields } from '../client/request-body.ts';
import type { NumberedText } from '../client/retry.ts';
import { withTries } from '../client/tries.ts';
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
}

/** Hz. Built-in voices speak at this rate unless another one is wished. */
const USUAL_RATE = 22_050;

interface Opening {
  /** What the user brings. */
  readonly source?: NumberedSource | undefined;
  readonly espeak?: Espeak | undefined;
}

/** Opens an engine inside this program: a source, espeak-ng, or else the built-in voices. */
export async function openEngine({ source, espeak }: Opening, options: ClientOptions): Promise<Client> {
  if (source) {
    const { name } = source.source;
    return engineClient(await openSource(source), { ...options, name, isExternal: true });
  }
  if (espeak)
    return engineClient(await openEspeakEngine(espeak), { ...options, name: 'espeak-ng', isExternal: false });
  return engineClient(openBuiltIn(), { ...options, name: 'the built-in voice', isExternal: false });
}

function engineClient(engine: Engine, options: EngineOptions): Client {
  const voices = new EngineVoices(engine, options);
  const explain = async (error: unknown) =>
    (await import('./engine-failure.ts')).engineFailure(error, options);
  return {
    speak: (text, fields, signal) =>
      withTries({ ...options, explain, ask: (_, until) => voices.speak(text, fields, until) })(text, signal),
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
    { speaker: no, sampleRate = USUAL_RATE, instructions, stream }: RequestFields,
    signal: AbortSignal,
  ): Promise<Speech> {
    const { onEvent } = this.#options;
    const speaker = this.#engine.speakers.find((each) => each.no === no);
    if (!speaker) throw new RangeError(`there is no speaker ${no}`);
    const start = Date.now();
    onEvent({ type: 'request', index, text });
    const { style, ignored } = await styleOf(instructions);
    const sound = this.#sound({ text, speaker, sampleRate, style }, signal);
    const { bytes, pcm } = await (stream ? begun : collected)(sound);
    onEvent({ type: 'answer', index, milliseconds: Date.now() - start });
    if (ignored.length > 0) onEvent({ type: 'ignored', instructions: ignored.map(excerpt).join(', ') });
    const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
    return { format, bytes, pcm };
  }

  /** While the engine speaks other texts, this one is not late. */
  async *#sound(utterance: Utterance, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const timer = new IdleTimer(this.#options.timeoutMs, (error) => over.abort(error));
    const samples = this.#engine.speak(utterance, until)[Symbol.asyncIterator]();
    try {
      for (;;) {
        timer.restart();
        this.#waiting.add(timer);
        const next = await unlessAborted(samples.next(), until);
        this.#waiting.delete(timer);
        timer.stop();
        for (const other of this.#waiting) other.restart();
        if (next.done) return;
        const { buffer, byteOffset, byteLength } = next.value;
        if (byteLength > 0) yield new Uint8Array(buffer, byteOffset, byteLength);
      }
    } finally {
      this.#waiting.delete(timer);
      timer.stop();
      over.abort(new Error('the sound is not needed any more'));
      samples.return?.()?.catch(() => {});
    }
  }
}
