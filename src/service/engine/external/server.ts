import { WavError } from '../../../audio/wav-format.ts';
import { readWav } from '../../../audio/wav-reader.ts';
import { printable } from '../../../printable.ts';
import { Refusal } from '../contract.ts';
import { bareFormat, evenPieces, mono } from './mono.ts';
import { firstBytes, IdleWatch, peek } from './server-body.ts';
import type { ServerConfig } from './source-config.ts';
import type { SourceSound, SourceVoice, VoiceSource } from './voice-source.ts';

/** Hz, of Kokoro and most others. */
const USUAL_RATE = 24_000;

/** For a server without a list. */
const USUAL_VOICE = 'alloy';

const MOST_ERROR_BYTES = 4096;

const MOST_LIST_BYTES = 4 * 2 ** 20;

/**
 * https://platform.openai.com/docs/api-reference/audio/createSpeech. The bytes tell the format, not the content type.
 * @param timeoutMs without a byte
 * @throws Refusal 502 `engine_failed` if the server cannot be reached
 */
export async function openServer(
  config: ServerConfig,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<VoiceSource> {
  const server = new SpeechServer(config, timeoutMs);
  const listed = config.voices ?? (await server.listVoices(signal));
  const sampleRate = config.sampleRate ?? USUAL_RATE;
  const voices = (listed?.length ? listed : [USUAL_VOICE]).map((name) => voiceOf(name, sampleRate));
  return {
    name: config.name,
    identity: `server ${config.url.href} ${config.model ?? ''}`,
    voices,
    takesAnyVoice: !listed?.length,
    addVoice: (name) => void voices.push(voiceOf(name, sampleRate)),
    maxChars: config.maxChars,
    concurrency: config.concurrency,
    speak: (text, voice, until) => server.speak(text, voice, until),
    async [Symbol.asyncDispose]() {},
  };
}

function voiceOf(name: string, sampleRate: number): SourceVoice {
  return { name, language: 'und', sampleRate };
}

class SpeechServer {
  readonly #config: ServerConfig;
  readonly #timeoutMs: number;

  constructor(config: ServerConfig, timeoutMs: number) {
    this.#config = config;
    this.#timeoutMs = timeoutMs;
  }

  async listVoices(signal: AbortSignal): Promise<string[] | undefined> {
    const watch = new IdleWatch(this.#timeoutMs, signal);
    const answer = await this.#fetch('audio/voices', {}, watch);
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return undefined;
    }
    const bytes = await firstBytes(watch.watched(answer.body ?? []), MOST_LIST_BYTES);
    return voicesIn(bytes.toString());
  }

  async speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<SourceSound> {
    const { model, format, sampleRate } = this.#config;
    const watch = new IdleWatch(this.#timeoutMs, signal);
    const body = JSON.stringify({
      model: model ?? 'tts-1',
      input: text,
      voice: voice.name,
      response_format: format,
    });
    const answer = await this.#fetch('audio/speech', { method: 'POST', body }, watch);
    if (answer.status !== 200) throw await this.#refusal(answer, watch);
    try {
      const sound = await this.#sound(watch.watched(answer.body ?? []), sampleRate);
      return { ...sound, samples: this.#explained(sound.samples, watch) };
    } catch (error) {
      throw this.#failed(error, watch);
    }
  }

  async *#explained(samples: AsyncIterable<Int16Array>, watch: IdleWatch): AsyncGenerator<Int16Array> {
    try {
      yield* samples;
    } catch (error) {
      throw this.#failed(error, watch);
    }
  }

  #failed(error: unknown, { signal, isIdle }: IdleWatch): unknown {
    if (error instanceof Refusal) return error;
    const { name } = this.#config;
    const seconds = this.#timeoutMs / 1000;
    if (isIdle) return new Refusal(502, 'engine_failed', `${name} was silent for ${seconds} s`);
    if (signal.aborted) return signal.reason;
    if (error instanceof WavError) return new Refusal(502, 'engine_failed', `${name}: ${notSound(error)}`);
    const cause = (error as Error).cause;
    const words = printable(cause instanceof Error ? cause.message : (error as Error).message);
    return new Refusal(502, 'engine_unreachable', `${name} cannot be reached or broke off: ${words}`);
  }

  async #sound(bytes: AsyncIterable<Uint8Array>, bareRate: number | undefined): Promise<SourceSound> {
    const { head, all } = await peek(bytes);
    if (bareRate !== undefined && isBare(head))
      return { sampleRate: bareRate, samples: mono(evenPieces(all), bareFormat(bareRate)) };
    const { format, pcm } = await readWav(all);
    return { sampleRate: format.sampleRate, samples: mono(pcm, format) };
  }

  async #fetch(path: string, init: RequestInit, watch: IdleWatch): Promise<Response> {
    const { url, key } = this.#config;
    const headers = {
      'Content-Type': 'application/json',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    };
    try {
      return await fetch(`${url.href}/${path}`, {
        ...init,
        headers,
        redirect: 'manual',
        signal: watch.signal,
      });
    } catch (error) {
      throw this.#failed(error, watch);
    }
  }

  async #refusal(answer: Response, watch: IdleWatch): Promise<Refusal> {
    const body = watch.watched(answer.body ?? []);
    const bytes = await firstBytes(body, MOST_ERROR_BYTES).catch(() => Buffer.alloc(0));
    const words = wordsIn(bytes.toString());
    const message = `${this.#config.name} answers ${answer.status}${words && `: ${words}`}`;
    const wait = Number(answer.headers.get('retry-after') ?? Number.NaN);
    const isBusy = answer.status === 429 || answer.status === 503;
    if (!isBusy) return new Refusal(502, 'engine_failed', message);
    return new Refusal(answer.status, 'busy', message, {
      retryAfter: Number.isFinite(wait) ? wait : undefined,
    });
  }
}

/** WAV, JSON, HTML, MP3, Ogg and FLAC. */
const NOT_BARE = /^(?:RIFF|RF64|[{[<]|ID3|\xff[\xe2-\xfb]|OggS|fLaC)/;

function isBare(head: Buffer): boolean {
  return head.length > 0 && !NOT_BARE.test(head.toString('latin1'));
}

function notSound({ problem, message, head = new Uint8Array() }: WavError): string {
  if (problem !== 'not-wav') return message;
  const words = wordsIn(Buffer.from(head).toString());
  return /^(?:ID3|\xff)/.test(Buffer.from(head).toString('latin1'))
    ? 'it sent MP3 instead of a WAV'
    : `it sent no WAV, but: ${words}`;
}

function wordsIn(body: string): string {
  try {
    const { error, detail, message } = JSON.parse(body);
    const words = error?.message ?? error ?? detail ?? message ?? body;
    return printable(typeof words === 'string' ? words : JSON.stringify(words));
  } catch {
    return printable(body);
  }
}

function voicesIn(body: string): string[] | undefined {
  try {
    const data = JSON.parse(body);
    const list: unknown = Array.isArray(data) ? data : data?.voices;
    if (!Array.isArray(list)) return undefined;
    const names = list.map((voice) => (typeof voice === 'string' ? voice : (voice?.id ?? voice?.name)));
    return names.filter((name) => typeof name === 'string' && name !== '');
  } catch {
    return undefined;
  }
}
