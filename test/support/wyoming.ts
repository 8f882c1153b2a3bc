import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An event of the Wyoming protocol, as https://github.com/OHF-Voice/wyoming describes it. */
export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: Buffer;
}

/** Encodes an event as Home Assistant's library does, with the data in a part of its own. */
export function written(type: string, data: object = {}, payload: Uint8Array = new Uint8Array()): Buffer {
  const further = Buffer.from(JSON.stringify(data));
  const head = { type, version: '1.8.0', data_length: further.length, payload_length: payload.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), further, payload]);
}

export class WyomingClient {
  readonly socket: Socket;
  readonly #arrived: WyomingEvent[] = [];
  #bytes = Buffer.alloc(0);
  #isClosed = false;
  #changed = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket
      .on('error', () => {})
      .on('data', (piece) => {
        this.#bytes = Buffer.concat([this.#bytes, piece]);
        for (let event = this.#read(); event; event = this.#read()) this.#arrived.push(event);
        this.#changed();
      });
    for (const end of ['end', 'close'])
      socket.once(end, () => {
        this.#isClosed = true;
        this.#changed();
      });
  }

  /** @param url the address of the server, as `tcp://127.0.0.1:10200` */
  static async open(url = ''): Promise<WyomingClient> {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return new WyomingClient(socket);
  }

  send(type: string, data?: object, payload?: Uint8Array): this {
    this.socket.write(written(type, data, payload));
    return this;
  }

  /** Sends a text as Home Assistant does, first in pieces, then again as a whole. */
  async sendInPieces(pieces: readonly string[], voice?: object): Promise<void> {
    this.send('synthesize-start', { voice });
    for (const text of pieces) {
      this.send('synthesize-chunk', { text });
      await sleep(1);
    }
    this.send('synthesize', { text: pieces.join(''), voice }).send('synthesize-stop');
  }

  /** @returns the next event, or `undefined` after the last one */
  async next(): Promise<WyomingEvent | undefined> {
    for (;;) {
      const event = this.#arrived.shift();
      if (event || this.#isClosed) return event;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** @returns all events up to the first of this type, or up to the last one */
  async until(type: string): Promise<readonly WyomingEvent[]> {
    const events: WyomingEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) {
      events.push(event);
      if (event.type === type) break;
    }
    return events;
  }

  #read(): WyomingEvent | undefined {
    const line = this.#bytes.indexOf('\n');
    if (line < 0) return undefined;
    const { type, data, ...lengths } = JSON.parse(this.#bytes.subarray(0, line).toString());
    const { data_length: further = 0, payload_length: payload = 0 } = lengths;
    const start = line + 1 + further;
    if (this.#bytes.length < start + payload) return undefined;
    const more = further > 0 ? JSON.parse(this.#bytes.subarray(line + 1, start).toString()) : {};
    const event = { type, data: { ...data, ...more }, payload: this.#bytes.subarray(start, start + payload) };
    this.#bytes = this.#bytes.subarray(start + payload);
    return event;
  }
}

/** The 16-bit samples of all events. */
export function samplesIn(events: readonly WyomingEvent[]): Int16Array {
  const bytes = Buffer.concat(events.map(({ payload }) => payload));
  return new Int16Array(Uint8Array.from(bytes).buffer);
}
