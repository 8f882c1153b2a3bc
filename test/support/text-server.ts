import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { wavOf } from './text-audio.ts';

export interface TextServerOptions {
  readonly sampleRate?: number;
  readonly framesPerByte?: number;
  /** How long it takes to speak; by default no time. */
  readonly delay?: { readonly firstByteMs: number; readonly timesRealTime: number };
  /** The fault of the request with this number, from 1; see also {@link everyTenth}. */
  readonly fault?: (number: number) => Fault | undefined;
  /** Bytes per chunk of a streamed answer. */
  readonly chunkBytes?: number;
}

/** `stop` sends a part of the body, then nothing until the client leaves. */
export type Fault = '429' | '500' | 'reset' | 'short' | 'broken' | 'stop';

const FAULTS: readonly Fault[] = ['429', '500', 'reset', 'short', 'broken'];

/** Makes every tenth request fail, with all faults in turn. */
export function everyTenth(number: number): Fault | undefined {
  return number % 10 === 0 ? FAULTS[(number / 10) % FAULTS.length] : undefined;
}

/** A service on a real socket, whose sound encodes its text: see `text-audio.ts`. */
export class TextServer {
  readonly #server: Server;
  readonly #options: TextServerOptions;
  /** The texts of all requests in order. */
  readonly texts: string[] = [];
  /** Requests that are being answered now, and the most at the same time. */
  open = 0;
  mostOpen = 0;

  constructor(options: TextServerOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: TextServerOptions = {}): Promise<TextServer> {
    const server = new TextServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get requests(): number {
    return this.texts.length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { text, config } = JSON.parse(await bodyOf(request));
    this.texts.push(text);
    const fault = this.#options.fault?.(this.texts.length);
    if (fault === '429' || fault === '500') {
      response.writeHead(Number(fault), { 'Content-Type': 'application/json' }).end('{"error":"not now"}');
      return;
    }
    if (fault === 'reset') return void request.socket.resetAndDestroy();
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    try {
      if (config?.use_streaming_response === true) await this.#stream(text, response, fault);
      else await this.#send(text, response, fault);
    } finally {
      this.open -= 1;
    }
  }

  async #send(text: string, response: ServerResponse, fault: Fault | undefined): Promise<void> {
    const wav = wavOf(text, this.#options);
    const { delay } = this.#options;
    if (delay) await sleep(delay.firstByteMs + this.#milliseconds(wav.length) / delay.timesRealTime);
    response.writeHead(200, { 'Content-Type': 'audio/wav', 'Content-Length': wav.length });
    if (fault) return this.#fail(wav, response, fault);
    response.end(wav);
    await gone(response);
  }

  async #stream(text: string, response: ServerResponse, fault: Fault | undefined): Promise<void> {
    const wav = wavOf(text, { ...this.#options, sized: false });
    const { delay, chunkBytes = 4096 } = this.#options;
    if (delay) await sleep(delay.firstByteMs);
    response.writeHead(200, { 'Content-Type': 'audio/wav' });
    if (fault) return this.#fail(wav, response, fault);
    const begun = performance.now();
    for (let at = 0; at < wav.length && !response.destroyed; at += chunkBytes) {
      const due = delay ? begun + this.#milliseconds(at) / delay.timesRealTime - performance.now() : 0;
      if (due > 0) await sleep(due);
      if (!response.write(wav.subarray(at, at + chunkBytes))) await roomOrGone(response);
    }
    response.end();
    await gone(response);
  }

  /** Sends half of the sound; then `broken` ends in the middle of a chunk, `short` after a whole one. */
  async #fail(wav: Buffer, response: ServerResponse, fault: Fault): Promise<void> {
    const half = wav.length >> 1;
    await new Promise((sent) => response.write(wav.subarray(0, half), sent));
    if (fault === 'stop') return gone(response);
    const rest = wav.subarray(half);
    if (fault === 'broken' && response.chunkedEncoding)
      response.socket?.write(`${rest.length.toString(16)}\r\n`);
    if (fault === 'broken') response.socket?.write(rest.subarray(0, rest.length >> 1));
    response.socket?.end();
  }

  #milliseconds(bytes: number): number {
    return (bytes / 2 / (this.#options.sampleRate ?? 22_050)) * 1000;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function gone(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}

async function roomOrGone(response: ServerResponse): Promise<void> {
  if (response.closed) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}
