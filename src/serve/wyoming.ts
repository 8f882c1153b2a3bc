/** A server for the Wyoming protocol, which Home Assistant uses: over TCP, without a key. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import * as v from 'valibot';
import { authorityOf } from '../kit/address.ts';
import { checked, HttpError, quotable } from '../kit/http/route.ts';
import type { RequestRecord } from '../kit/http/server.ts';
import { openObject, type ValueOf } from '../kit/schema.ts';
import { drained } from '../kit/wait.ts';
import { wordsSource } from '../read/source.ts';
import type { Voice } from '../sound/voice.ts';
import { countCodePoints } from '../text/unicode.ts';
import { speakLive, TextInPieces } from './live.ts';
import { defaultVoice, namesOf, type ServiceContext, voiceNamed, voiceNear } from './speak.ts';
import { EventReader, eventBytes, type WyomingEvent } from './wyoming-events.ts';

/** Limits for clients. Times are in milliseconds. */
export interface WyomingLimits {
  /** The largest line, data or payload of an event, in bytes. */
  readonly body: number;
  /** Connections at most; fewer than over HTTP, because they need no key. */
  readonly peers: number;
  /** Idle time after which a client that has ended its side of the connection is closed. */
  readonly request: number;
  /** Idle time after which a connection is closed. Making sound has no time limit. */
  readonly stall: number;
}

export interface WyomingOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly context: ServiceContext;
  readonly limits: WyomingLimits;
  errorOf(error: unknown, id: string): HttpError;
  /** @param route the path in the metrics */
  onEnd(record: RequestRecord, route: string): void;
}

export class WyomingServer {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();

  private constructor(options: WyomingOptions) {
    const info = infoOf(options.context);
    // A client may end its side once it has sent its text, and still wait for sound.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const connection = new Connection(socket, { ...options, info });
      this.#connections.add(connection);
      socket.once('close', () => this.#connections.delete(connection));
      void connection.serve();
    });
    this.#server.maxConnections = options.limits.peers;
  }

  /** @throws the error of `listen` */
  static async listen(options: WyomingOptions): Promise<WyomingServer> {
    const server = new WyomingServer(options);
    server.#server.listen(options.port, options.host);
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `tcp://${authorityOf(this.#server.address() as AddressInfo)}`;
  }

  /** Accepts no more connections, closes each once its request is answered, and resolves when all are closed. */
  async stop(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const connection of this.#connections) connection.stop();
    await closed;
  }

  /** Closes all connections now. */
  abort(): void {
    for (const connection of this.#connections) connection.abort();
  }
}

const VOICE = openObject({
  name: v.nullish(v.string('must be a text')),
  language: v.nullish(v.string('must be a text')),
  speaker: v.nullish(v.string('must be a text')),
});
const SPEECH_OPTIONS = {
  voice: v.nullish(VOICE, {}),
  text_format: v.nullish(v.string('must be a text'), 'text'),
};
const TEXT = { text: v.string('must be a text') };
const START = openObject(SPEECH_OPTIONS);
const CHUNK = openObject(TEXT);
const WHOLE = openObject({ ...SPEECH_OPTIONS, ...TEXT });
const INVALID = { status: 422, code: 'invalid_field' };

type SpeechOptions = ValueOf<typeof START>;

/** How long a client has to receive an error before its connection is destroyed. */
const ERROR_LINGER_MS = 5_000;

/** The connection of one client. It may send any number of texts, which are spoken one after the other. */
class Connection {
  readonly #socket: Socket;
  readonly #options: WyomingOptions & { readonly info: object };
  /** The text that is being spoken, or was spoken last. */
  #speech: SpokenText | undefined;
  #isStopping = false;
  /** True once an error was sent; later events are ignored. */
  #hasFailed = false;

  constructor(socket: Socket, options: WyomingOptions & { readonly info: object }) {
    this.#socket = socket;
    this.#options = options;
  }

  async serve(): Promise<void> {
    const socket = this.#socket.on('error', () => {}).once('close', () => this.#speech?.cancel());
    const { body, request, stall } = this.#options.limits;
    // A callback of setTimeout would be called only once.
    socket.setTimeout(stall).on('timeout', () => {
      if (!this.#isMaking || socket.writableLength > 0 || socket.readableEnded) socket.destroy();
    });
    // The socket stays open after the last event, to send the sound of the last text.
    const events = new EventReader(socket.iterator({ destroyOnReturn: false }), body);
    try {
      for (let event = await events.next(); event; event = await events.next())
        if (!this.#hasFailed) await this.#take(event);
    } catch (error) {
      if (!socket.destroyed) this.#fail(this.#options.errorOf(error, crypto.randomUUID()));
      await events.drain().catch(() => {});
    }
    // A client that has left looks like one that has only ended its side: the idle timeout tells them apart.
    socket.setTimeout(request);
    if (this.#speech?.isOpen) this.#speech.cancel();
    await this.#speech?.ended;
    socket.end();
  }

  stop(): void {
    this.#isStopping = true;
    if (!this.#speech?.isUnderWay) this.#socket.destroy();
  }

  abort(): void {
    this.#socket.destroy();
  }

  /** True while the client has sent a whole text and waits for its sound. */
  get #isMaking(): boolean {
    return this.#speech?.isUnderWay === true && !this.#speech.isOpen;
  }

  /** @throws HttpError */
  async #take({ type, data }: WyomingEvent): Promise<void> {
    const open = this.#speech?.isOpen ? this.#speech : undefined;
    switch (type) {
      case 'describe':
        return this.#send(eventBytes('info', this.#options.info));
      case 'ping':
        return this.#send(eventBytes('pong', { text: typeof data.text === 'string' ? data.text : null }));
      case 'synthesize-start':
        open?.cancel();
        return this.#begin(checked(data, START, INVALID));
      case 'synthesize-chunk':
        return opened(open, type).push(checked(data, CHUNK, INVALID).text);
      case 'synthesize-stop':
        return opened(open, type).end();
      case 'synthesize': {
        const { text, ...speechOptions } = checked(data, WHOLE, INVALID);
        // Clients send the whole text again after its pieces, for servers that do not support pieces.
        if (open) return open.hasText ? undefined : open.push(text);
        return this.#begin(speechOptions, text);
      }
    }
  }

  /** @param text the whole text; `undefined` if it comes in pieces */
  async #begin(speechOptions: SpeechOptions, text?: string): Promise<void> {
    await this.#speech?.ended;
    if (this.#hasFailed || this.#isStopping || this.#socket.destroyed) return;
    const speech = new SpokenText({ speechOptions, text, send: (bytes) => this.#send(bytes) }, this.#options);
    this.#speech = speech;
    void speech.ended.then((error) => {
      if (error) this.#fail(error);
      else if (this.#isStopping) this.#socket.destroySoon();
    });
  }

  #fail({ message, code }: HttpError): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#speech?.cancel();
    this.#socket.end(eventBytes('error', { text: message, code }));
    const late = setTimeout(() => this.#socket.destroy(), ERROR_LINGER_MS).unref();
    this.#socket.once('close', () => clearTimeout(late));
  }

  /** Applies back-pressure: resolves when the client has room for more. */
  async #send(bytes: Uint8Array): Promise<void> {
    const socket = this.#socket;
    if (socket.writable && !socket.write(bytes)) await drained(socket);
  }
}

/** @throws HttpError if no text was begun */
function opened(speech: SpokenText | undefined, type: string): SpokenText {
  if (speech) return speech;
  throw new HttpError(400, 'unexpected_event', `${type} needs a synthesize-start before it`);
}

interface SpeechInput {
  readonly speechOptions: SpeechOptions;
  /** The whole text; `undefined` if it comes in pieces. */
  readonly text: string | undefined;
  send(bytes: Uint8Array): Promise<void>;
}

/** One text, from its first event to the end of its sound. */
class SpokenText {
  /** Resolves at the end, with the error to send to the client, if any. */
  readonly ended: Promise<HttpError | undefined>;
  readonly #options: WyomingOptions;
  readonly #cancellation = new AbortController();
  readonly #id = crypto.randomUUID();
  readonly #begunAt = performance.now();
  readonly #details: { speaker?: number; characters: number; refusal?: string } = { characters: 0 };
  #pieces: TextInPieces | undefined;
  #isHeard = false;
  #isUnderWay = true;

  constructor(asked: SpeechInput, options: WyomingOptions) {
    this.#options = options;
    if (asked.text === undefined) this.#pieces = new TextInPieces();
    this.ended = this.#speak(asked);
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** True while more of the text may come. */
  get isOpen(): boolean {
    return this.#pieces !== undefined;
  }

  get hasText(): boolean {
    return this.#details.characters > 0;
  }

  /** @throws HttpError for too long a text */
  push(piece: string): void {
    this.#count(piece);
    this.#pieces?.push(piece);
  }

  end(): void {
    this.#pieces?.end();
    this.#pieces = undefined;
  }

  /** Cancels the speech. */
  cancel(): void {
    this.end();
    this.#cancellation.abort(new Error('the client left'));
  }

  async #speak(asked: SpeechInput): Promise<HttpError | undefined> {
    const { context, errorOf } = this.#options;
    const { signal } = this.#cancellation;
    context.speaking.add(this);
    let reported: HttpError | undefined;
    let isWhole = false;
    try {
      await this.#send(asked, signal);
      isWhole = true;
    } catch (error) {
      if (!signal.aborted) reported = errorOf(error, this.#id);
      // A client that begins another text is told that the sound of this one is over.
      else if (this.#isHeard) await asked.send(eventBytes('audio-stop'));
    }
    this.#isUnderWay = false;
    this.cancel();
    context.speaking.delete(this);
    this.#log(asked, { reported, isWhole });
    return reported;
  }

  /** @throws HttpError, EngineError, TtsError */
  async #send({ speechOptions, text, send }: SpeechInput, signal: AbortSignal): Promise<void> {
    const { context } = this.#options;
    if (text !== undefined) this.#count(text);
    if (speechOptions.text_format !== 'text')
      throw new HttpError(
        422,
        'unsupported_format',
        `text_format must be text, and not ${quotable(speechOptions.text_format)}`,
      );
    const voice = voiceOf(speechOptions.voice, this.#id, context);
    this.#details.speaker = voice.no;
    const source = this.#pieces?.source ?? wordsSource(text ?? '');
    const { format, pcm } = await speakLive({ source, voice }, context, signal);
    const { sampleRate: rate, bitsPerSample, channels } = format;
    const about = { rate, width: bitsPerSample / 8, channels };
    for await (const piece of pcm) {
      signal.throwIfAborted();
      if (!this.#isHeard) {
        this.#isHeard = true;
        context.metrics.addFirstByte((performance.now() - this.#begunAt) / 1000);
        await send(eventBytes('audio-start', about));
      }
      await send(eventBytes('audio-chunk', about, piece));
    }
    signal.throwIfAborted();
    await send(eventBytes('audio-stop'));
    if (text === undefined) await send(eventBytes('synthesize-stopped'));
  }

  #count(piece: string): void {
    const { maxText } = this.#options.context;
    this.#details.characters += countCodePoints(piece);
    if (this.#details.characters > maxText)
      throw new HttpError(413, 'text_too_long', `The text is longer than ${maxText} characters`);
  }

  #log(
    { text }: SpeechInput,
    { reported, isWhole }: { readonly reported: HttpError | undefined; readonly isWhole: boolean },
  ) {
    const record = {
      event: 'request',
      id: this.#id,
      method: 'WYOMING',
      path: text === undefined ? 'synthesize-start' : 'synthesize',
      status: this.#isHeard ? 200 : reported?.status,
      // An error before any sound is a complete answer.
      cut: !isWhole && (this.#isHeard || !reported),
      milliseconds: Math.round(performance.now() - this.#begunAt),
      ...this.#details,
      ...(reported && { refusal: reported.code }),
    } as const;
    this.#options.onEnd(record, 'wyoming');
  }
}

/** @throws HttpError */
function voiceOf(
  { name, language, speaker }: SpeechOptions['voice'],
  id: string,
  context: ServiceContext,
): Voice {
  const { voices } = context;
  const asked = (name || language || '').trim();
  const found =
    asked === ''
      ? defaultVoice(voices)
      : ((speaker ? voiceNamed(`${asked}:${speaker}`, voices) : undefined) ??
        voiceNamed(asked, voices) ??
        voiceNear(asked, id, context));
  if (found) return found;
  const what = asked === '' ? 'The service has no voice of its own' : `There is no voice ${quotable(asked)}`;
  throw new HttpError(422, 'unknown_voice', `${what}; describe lists the voices of this service`);
}

const ABOUT = {
  attribution: { name: 'tts-pipe', url: 'https://www.npmjs.com/package/tts-pipe' },
  installed: true,
  version: null,
};

/** Returns the data of the event `info`. Home Assistant offers the voices by language. */
function infoOf({ voices, hide }: ServiceContext): object {
  const tts = {
    ...ABOUT,
    name: 'tts',
    description: 'The voices of tts serve',
    supports_synthesize_streaming: true,
    voices: namesOf(voices).map(([name, { language = 'und', alsoSpeaks = [] }]) => ({
      ...ABOUT,
      name: hide(name),
      description: hide(name),
      languages: [...new Set([language, ...alsoSpeaks])],
      speakers: null,
    })),
  };
  return { asr: [], tts: [tts], handle: [], intent: [], wake: [] };
}
