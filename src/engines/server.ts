/** Engines that are servers with OpenAI's interface. */
import { isNearby } from '../kit/address.ts';
import { TtsError } from '../kit/error.ts';
import { askedWait, holdsEncodedSound, isText, messageIn } from '../kit/http/answer.ts';
import { type Answer, HttpClient } from '../kit/http/client.ts';
import { firstBytes, isLate, meantStatus } from '../kit/http/failures.ts';
import { isBusy } from '../kit/retry.ts';
import { mapErrors, peek } from '../kit/wait.ts';
import { evenPieces, mono } from '../sound/convert.ts';
import { bareFormat } from '../sound/pcm.ts';
import { readWav, WavError } from '../sound/wav.ts';
import {
  EngineError,
  type EngineSound,
  type ExternalSource,
  type ServerConfig,
  type SourceVoice,
} from './engine.ts';

/** Bytes needed to distinguish bare samples from WAV, JSON, HTML and compressed sound. */
const PEEKED_BYTES = 64;

/** The voice of a server that lists none. */
const USUAL_VOICE = 'alloy';

/** Bytes read of the body of an error. */
const MOST_ERROR_BYTES = 4096;
/** Milliseconds after which reading that body ends. */
const READ_ERROR_MS = 2000;

const MOST_LIST_BYTES = 4 * 2 ** 20;

const MOST_VOICES = 10_000;

/** Milliseconds for the list of voices: a name is searched in all engines, and a silent one must not delay the others. */
const LIST_TIMEOUT_MS = 10_000;

interface ServerOptions {
  /** Milliseconds without a byte after which a request fails. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The version of Node, for {@link HttpClient}. */
  readonly runtime?: string | undefined;
}

/**
 * Opens a server with the interface of https://platform.openai.com/docs/api-reference/audio/createSpeech. The format of the
 * sound is told from its bytes, not from the content type.
 * @throws EngineError if the server cannot be reached
 */
export async function openServer(
  config: ServerConfig,
  { timeoutMs, signal, runtime }: ServerOptions,
): Promise<ExternalSource> {
  const http = new HttpClient({ connections: config.concurrency, timeoutMs, runtime });
  let server = new SpeechServer(config, http, timeoutMs);
  let list: VoiceList = config.voices ? { voices: config.voices } : await server.listVoices(signal);
  const authorization = wantsKey(config, list) ? await config.askAuthorization?.() : undefined;
  if (authorization !== undefined) {
    server = new SpeechServer({ ...config, authorization }, http, timeoutMs);
    if (!config.voices) list = await server.listVoices(signal);
  }
  const listed = list.voices;
  const voices = (listed?.length ? listed : [USUAL_VOICE]).map((name) => voiceOf(name, config));
  return {
    name: config.name,
    voices,
    addVoice: listed?.length ? undefined : (name) => void voices.push(voiceOf(name, config)),
    identityOf: (voice) => identityOf(config, voice),
    maxChars: config.maxChars,
    concurrency: config.concurrency,
    speak: (text, voice, until) => server.speak(text, voice, until),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

interface VoiceList {
  readonly voices?: readonly string[] | undefined;
  /** The status of an answer without a list. */
  readonly status?: number | undefined;
}

/** True if the server probably needs a key: it refuses its list, or is far away and has none. */
function wantsKey({ url }: ServerConfig, { status }: VoiceList): boolean {
  return status === 401 || status === 403 || (status !== undefined && !isNearby(url.hostname));
}

function voiceOf(name: string, { sampleRate, numbers }: ServerConfig): SourceVoice {
  return { name, language: 'und', sampleRate, numbers };
}

/** Everything that influences the sound. */
function identityOf({ url, model, format, sampleRate }: ServerConfig, { name }: SourceVoice): string {
  return `server ${url.href} ${JSON.stringify({ model, format, sampleRate, voice: name })}`;
}

class SpeechServer {
  readonly #config: ServerConfig;
  readonly #http: HttpClient;
  readonly #timeoutMs: number;

  constructor(config: ServerConfig, http: HttpClient, timeoutMs: number) {
    this.#config = config;
    this.#http = http;
    this.#timeoutMs = timeoutMs;
  }

  /** Gets the list of voices. The time limit is for the whole list, so that one that arrives slowly is late, too. */
  async listVoices(signal: AbortSignal): Promise<VoiceList> {
    const limitMs = Math.min(this.#timeoutMs, LIST_TIMEOUT_MS);
    const limit = AbortSignal.timeout(limitMs);
    const done = new AbortController();
    try {
      const until = AbortSignal.any([signal, limit, done.signal]);
      const { status, body } = await this.#ask('audio/voices', undefined, until);
      return status === 200 ? { voices: this.#voicesIn(await this.#list(body)) } : { status };
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.aborted && !isLate(error)) throw this.#failed(error, signal);
      const late = `${this.#config.name} sent no whole list of voices within ${limitMs / 1000} s`;
      throw new EngineError('late', late);
    } finally {
      done.abort();
    }
  }

  async #list(body: Answer['body']): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.length;
      if (length > MOST_LIST_BYTES) throw this.#tooLong(`${MOST_LIST_BYTES / 2 ** 20} MiB`);
    }
    return Buffer.concat(pieces);
  }

  #voicesIn(bytes: Buffer): string[] | undefined {
    const voices = voicesIn(bytes.toString());
    if (voices && voices.length > MOST_VOICES) throw this.#tooLong(`${MOST_VOICES} voices`);
    return voices;
  }

  #tooLong(most: string): EngineError {
    return new EngineError('failed', `the list of voices of ${this.#config.name} has more than ${most}`);
  }

  async speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<EngineSound> {
    const { model, format, sampleRate } = this.#config;
    const request = { model: model ?? 'tts-1', input: text, voice: voice.name, response_format: format };
    try {
      const answer = await this.#ask('audio/speech', JSON.stringify(request), signal);
      if (answer.status !== 200) throw await this.#refusal(answer);
      const sound = await this.#sound(answer.body, sampleRate);
      return { ...sound, samples: mapErrors(sound.samples, (error) => this.#failed(error, signal)) };
    } catch (error) {
      throw this.#failed(error, signal);
    }
  }

  #ask(path: string, body: string | undefined, signal: AbortSignal): Promise<Answer> {
    const { href } = this.#config.url;
    const { authorization } = this.#config;
    const url = new URL(`${href}/${path}`);
    const headers = {
      'Content-Type': 'application/json',
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    return this.#http.send({ method, url, headers, body }, signal);
  }

  #failed(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof EngineError) return error;
    const { name } = this.#config;
    if (isLate(error)) return new EngineError('late', `${name} was silent for ${this.#timeoutMs / 1000} s`);
    if (error instanceof WavError) return new EngineError('failed', `${name}: ${notSound(error)}`);
    if (!(error instanceof TtsError)) return error;
    const { message, retry } = error;
    return new EngineError('unreachable', `${name} cannot be reached or broke off: ${message}`, {
      retryAfter: retry?.after,
      cause: error,
    });
  }

  async #sound(bytes: AsyncIterable<Uint8Array>, bareRate: number | undefined): Promise<EngineSound> {
    const { held, all } = await peek(bytes, PEEKED_BYTES);
    if (bareRate !== undefined && isBare(Buffer.concat(held)))
      return { sampleRate: bareRate, samples: mono(evenPieces(all), bareFormat(bareRate)) };
    const { format, pcm } = await readWav(all);
    return { sampleRate: format.sampleRate, samples: mono(pcm, format) };
  }

  async #refusal({ status, headers, body }: Answer): Promise<EngineError> {
    const { bytes } = await firstBytes(body, MOST_ERROR_BYTES, READ_ERROR_MS);
    const words = messageIn(bytes);
    const message = `${this.#config.name} answers ${status}${words && `: ${words}`}`;
    const meant = meantStatus(status, bytes);
    if (!isBusy(meant)) return new EngineError('refused', message, { status: meant });
    const retryAfter = askedWait({ status: meant, headers });
    return new EngineError('busy', message, { status: meant, retryAfter });
  }
}

/** WAV, MP3, Ogg and FLAC. */
const OTHER_SOUND = /^(?:RIFF|RF64|ID3|\xff[\xe2-\xfb]|OggS|fLaC)/;
/** The start of JSON and HTML. As samples may begin with any byte, the following bytes must be text as well. */
const MARKUP = /^[{[<]/;

/** True for samples without a header. */
function isBare(head: Buffer): boolean {
  const start = head.toString('latin1');
  return head.length > 0 && !OTHER_SOUND.test(start) && !(MARKUP.test(start) && isText(head));
}

/** Describes an answer that is not a WAV. */
function notSound({ problem, message, head = new Uint8Array() }: WavError): string {
  if (problem !== 'not-wav') return message;
  if (/^(?:ID3|\xff)/.test(Buffer.from(head).toString('latin1'))) return 'it sent MP3 instead of a WAV';
  if (holdsEncodedSound(head)) return 'it sent sound as text within JSON instead of a WAV';
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
