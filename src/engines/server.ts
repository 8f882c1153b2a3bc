import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isNearby } from '../kit/address.ts';
import { messageIn, retryAfter } from '../kit/error.ts';
import { IdleTimer, watched } from '../kit/wait.ts';
import { printable } from '../kit/words.ts';
import { bareFormat, evenPieces, mono } from '../sound/convert.ts';
import { readWav, WavError } from '../sound/wav.ts';
import {
  EngineError,
  type EngineSound,
  type ServerConfig,
  type SourceVoice,
  type VoiceSource,
} from './engine.ts';

export interface Requester {
  /**
   * `GET` without a body, else `POST`. Follows no redirect.
   * @throws what `node:http` says, or the reason of the signal
   */
  ask(path: string, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

/** It keeps its connections. The service has loaded `node:http`; `fetch` would take 30 ms more. */
export async function openRequester({
  url,
  authorization,
}: Pick<ServerConfig, 'url' | 'authorization'>): Promise<Requester> {
  const { Agent, request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const agent = new Agent({ keepAlive: true });
  const headers = {
    'Content-Type': 'application/json',
    ...(authorization !== undefined && { Authorization: authorization }),
  };
  return {
    async ask(path, body, signal) {
      for (;;) {
        const method = body === undefined ? 'GET' : 'POST';
        const asked = request(`${url.href}/${path}`, { method, headers, agent });
        asked.on('error', () => {}); // a later one comes with the answer
        endOnAbort(signal, asked);
        asked.end(body);
        try {
          const [answer] = await once(asked, 'response');
          return answer;
        } catch (error) {
          signal.throwIfAborted();
          // The server closed a kept connection before it saw the request.
          if (!asked.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
        }
      }
    },
    close: () => agent.destroy(),
  };
}

/** With an error, as Node's own option `signal` has it, a connection that is just being kept throws where nothing catches. */
function endOnAbort(signal: AbortSignal, asked: ClientRequest): void {
  const end = () => void asked.destroy();
  signal.addEventListener('abort', end);
  asked.once('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

/** It takes this number of bytes to tell bare samples from WAV, JSON, HTML and compressed sound. */
const PEEKED_BYTES = 4;

/** Ends a request whose server sends nothing for a time. */
export class IdleWatch {
  readonly signal: AbortSignal;
  isIdle = false;
  readonly #timer: IdleTimer;

  constructor(timeoutMs: number, signal: AbortSignal) {
    const over = new AbortController();
    this.signal = AbortSignal.any([signal, over.signal]);
    this.#timer = new IdleTimer(timeoutMs, (error) => {
      this.isIdle = true;
      over.abort(error);
    });
    this.signal.addEventListener('abort', () => this.stop(), { once: true });
    if (signal.aborted) this.stop();
  }

  /** A body without a length seems complete after its request was ended. */
  async *watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* watched(bytes, this.#timer);
    this.signal.throwIfAborted();
  }

  stop(): void {
    this.#timer.stop();
  }
}

export async function firstBytes(pieces: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    read.push(piece);
    length += piece.length;
    if (length >= most) break;
  }
  return Buffer.concat(read).subarray(0, most);
}

export async function peek(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; all: AsyncIterable<Uint8Array> }> {
  const source = pieces[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < PEEKED_BYTES) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* all() {
    yield head;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  return { head, all: all() };
}

/** Hz. Kokoro and most others have it. */
const USUAL_RATE = 24_000;

/** A server without a list gets this name. */
const USUAL_VOICE = 'alloy';

const MOST_ERROR_BYTES = 4096;

const MOST_LIST_BYTES = 4 * 2 ** 20;

const MOST_VOICES = 10_000;

/** Milliseconds: a name is looked for in all engines, and a silent one must not hold up the others. */
const LONGEST_LIST = 10_000;

/**
 * The interface is described at https://platform.openai.com/docs/api-reference/audio/createSpeech. The bytes tell the format, not the content type.
 * @param timeoutMs the longest time without a byte
 * @throws EngineError if the server cannot be reached
 */
export async function openServer(
  config: ServerConfig,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<VoiceSource> {
  let requester = await openRequester(config);
  let server = new SpeechServer(config, requester, timeoutMs);
  let list: VoiceList = config.voices ? { voices: config.voices } : await server.listVoices(signal);
  const authorization = wantsKey(config, list) ? await config.askAuthorization?.() : undefined;
  if (authorization !== undefined) {
    requester.close();
    const keyed = { ...config, authorization };
    requester = await openRequester(keyed);
    server = new SpeechServer(keyed, requester, timeoutMs);
    if (!config.voices) list = await server.listVoices(signal);
  }
  const listed = list.voices;
  const { sampleRate } = config;
  const voices = (listed?.length ? listed : [USUAL_VOICE]).map((name) => voiceOf(name, sampleRate));
  return {
    name: config.name,
    voices,
    takesAnyVoice: !listed?.length,
    addVoice: (name) => void voices.push(voiceOf(name, sampleRate)),
    identityOf: (voice) => identityOf(config, voice),
    maxChars: config.maxChars,
    concurrency: config.concurrency,
    speak: (text, voice, until) => server.speak(text, voice, until),
    async [Symbol.asyncDispose]() {
      requester.close();
    },
  };
}

interface VoiceList {
  readonly voices?: readonly string[] | undefined;
  /** The status of an answer that is not a list. */
  readonly status?: number | undefined;
}

/** A server far away that shows no voices usually speaks for its customers only. */
function wantsKey({ url }: ServerConfig, { status }: VoiceList): boolean {
  return status === 401 || status === 403 || (status !== undefined && !isNearby(url.hostname));
}

function voiceOf(name: string, sampleRate: number | undefined): SourceVoice {
  return { name, language: 'und', sampleRate, usualRate: sampleRate ?? USUAL_RATE };
}

/**
 * Version 0.2 wrote the plain form for every config. It stays where it has one meaning, so that what was kept then is still
 * heard. Nothing in an entry of then tells that its server had a `format` or a `sampleRate`: it is played once more where
 * a config loses these, the model stays, and `--sample-rate` is the same.
 */
function identityOf({ url, model, format, sampleRate }: ServerConfig, { name }: SourceVoice): string {
  const plain = `${model ?? ''} ${name}`;
  const isClear = format === 'wav' && sampleRate === undefined && /^[^ "]* [^ "]*$/.test(plain);
  return `server ${url.href} ${isClear ? plain : JSON.stringify({ model, format, sampleRate, voice: name })}`;
}

class SpeechServer {
  readonly #config: ServerConfig;
  readonly #requester: Requester;
  readonly #timeoutMs: number;

  constructor(config: ServerConfig, requester: Requester, timeoutMs: number) {
    this.#config = config;
    this.#requester = requester;
    this.#timeoutMs = timeoutMs;
  }

  /** Its timer runs from the request to the last byte: a list that drips is late as well. */
  async listVoices(signal: AbortSignal): Promise<VoiceList> {
    const limitMs = Math.min(this.#timeoutMs, LONGEST_LIST);
    const watch = new IdleWatch(limitMs, signal);
    try {
      const answer = await this.#ask('audio/voices', undefined, watch);
      const bytes = await firstBytes(answer, MOST_LIST_BYTES + 1);
      watch.signal.throwIfAborted();
      return answer.statusCode === 200 ? { voices: this.#voicesIn(bytes) } : { status: answer.statusCode };
    } catch (error) {
      if (!watch.isIdle) throw this.#failed(error, watch);
      const late = `${this.#config.name} sent no whole list of voices within ${limitMs / 1000} s`;
      throw new EngineError('late', late);
    } finally {
      watch.stop();
    }
  }

  #voicesIn(bytes: Buffer): string[] | undefined {
    if (bytes.length > MOST_LIST_BYTES) throw this.#tooLong(`${MOST_LIST_BYTES / 2 ** 20} MiB`);
    const voices = voicesIn(bytes.toString());
    if (voices && voices.length > MOST_VOICES) throw this.#tooLong(`${MOST_VOICES} voices`);
    return voices;
  }

  #tooLong(most: string): EngineError {
    return new EngineError('failed', `the list of voices of ${this.#config.name} has more than ${most}`);
  }

  async speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<EngineSound> {
    const { model, format, sampleRate } = this.#config;
    const watch = new IdleWatch(this.#timeoutMs, signal);
    const body = JSON.stringify({
      model: model ?? 'tts-1',
      input: text,
      voice: voice.name,
      response_format: format,
    });
    const answer = await this.#ask('audio/speech', body, watch);
    if (answer.statusCode !== 200) throw await this.#refusal(answer, watch);
    try {
      const sound = await this.#sound(watch.watched(answer), sampleRate);
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
    if (error instanceof EngineError) return error;
    const { name } = this.#config;
    const seconds = this.#timeoutMs / 1000;
    if (isIdle) return new EngineError('failed', `${name} was silent for ${seconds} s`);
    if (signal.aborted) return signal.reason;
    if (error instanceof WavError) return new EngineError('failed', `${name}: ${notSound(error)}`);
    // Node tries all addresses of a name, and gathers their errors.
    const [cause = error] = error instanceof AggregateError ? error.errors : [];
    const words = printable((cause as Error).message);
    return new EngineError('unreachable', `${name} cannot be reached or broke off: ${words}`, { cause });
  }

  async #sound(bytes: AsyncIterable<Uint8Array>, bareRate: number | undefined): Promise<EngineSound> {
    const { head, all } = await peek(bytes);
    if (bareRate !== undefined && isBare(head))
      return { sampleRate: bareRate, samples: mono(evenPieces(all), bareFormat(bareRate)) };
    const { format, pcm } = await readWav(all);
    return { sampleRate: format.sampleRate, samples: mono(pcm, format) };
  }

  async #ask(path: string, body: string | undefined, watch: IdleWatch): Promise<IncomingMessage> {
    try {
      return await this.#requester.ask(path, body, watch.signal);
    } catch (error) {
      watch.stop();
      throw this.#failed(error, watch);
    }
  }

  async #refusal(answer: IncomingMessage, watch: IdleWatch): Promise<EngineError> {
    const bytes = await firstBytes(watch.watched(answer), MOST_ERROR_BYTES).catch(() => Buffer.alloc(0));
    const words = messageIn(bytes);
    const message = `${this.#config.name} answers ${answer.statusCode}${words && `: ${words}`}`;
    const { statusCode: status, headers } = answer;
    if (status !== 429 && status !== 503) return new EngineError('refused', message, { status });
    return new EngineError('busy', message, { status, retryAfter: retryAfter(headers) });
  }
}

/** WAV, JSON, HTML, MP3, Ogg and FLAC. */
const NOT_BARE = /^(?:RIFF|RF64|[{[<]|ID3|\xff[\xe2-\xfb]|OggS|fLaC)/;

function isBare(head: Buffer): boolean {
  return head.length > 0 && !NOT_BARE.test(head.toString('latin1'));
}

function notSound({ problem, message, head = new Uint8Array() }: WavError): string {
  if (problem !== 'not-wav') return message;
  if (/^(?:ID3|\xff)/.test(Buffer.from(head).toString('latin1'))) return 'it sent MP3 instead of a WAV';
  const words = messageIn(head);
  return `it sent no WAV${words && `, but: ${words}`}`;
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
