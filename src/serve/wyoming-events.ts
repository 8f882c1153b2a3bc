/**
 * Events of the Wyoming protocol (https://github.com/OHF-Voice/wyoming): a line of JSON with the type and two lengths, then
 * that many bytes of further JSON data and of payload.
 */
import * as v from 'valibot';
import { checked, HttpError } from '../kit/http/route.ts';
import { openObject, whole } from '../kit/schema.ts';
import { ByteReader } from '../sound/samples.ts';

export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const INVALID = { status: 400, code: 'invalid_event' };
const LENGTH = v.nullish(whole({ min: 0, max: Number.MAX_SAFE_INTEGER }), 0);
const DATA = v.record(v.string(), v.unknown(), 'must be an object');
const HEAD = openObject({
  type: v.string('must be a text'),
  data: v.nullish(DATA, {}),
  data_length: LENGTH,
  payload_length: LENGTH,
});

const NEWLINE = 0x0a;

/** Reads events, holding one at a time. It skips payloads: no event sent to a text-to-speech server has one. */
export class EventReader {
  readonly #bytes: ByteReader;
  readonly #most: number;

  /** @param most the largest line, data or payload, in bytes */
  constructor(bytes: AsyncIterable<Uint8Array>, most: number) {
    this.#bytes = new ByteReader(bytes);
    this.#most = most;
  }

  /**
   * @returns `undefined` at the end; an incomplete last event is dropped
   * @throws HttpError for an invalid or too large event; the rest of the stream cannot be read then
   */
  async next(): Promise<WyomingEvent | undefined> {
    let line = await this.#line();
    while (line?.length === 0) line = await this.#line();
    if (line === undefined) return undefined;
    const head = checked(parsed(line), HEAD, INVALID);
    const { type, data, data_length: more, payload_length: payload } = head;
    if (Math.max(more, payload) > this.#most) throw this.#tooLarge();
    const bytes = await this.#bytes.take(more);
    await this.#bytes.skip(payload);
    if (bytes.length < more) return undefined;
    const further = more === 0 ? {} : checked(parsed(bytes), DATA, INVALID);
    return { type, data: { ...data, ...further } };
  }

  /** Reads and discards all further input: closing with unread input could lose the answer on its way to the client. */
  async drain(): Promise<void> {
    while (await this.#bytes.piece(this.#most));
  }

  async #line(): Promise<Buffer | undefined> {
    const pieces: Uint8Array[] = [];
    for (let length = 0; length <= this.#most; ) {
      const piece = await this.#bytes.piece(this.#most);
      if (piece === undefined) return undefined;
      const end = piece.indexOf(NEWLINE);
      pieces.push(end < 0 ? piece : piece.subarray(0, end));
      length += piece.length;
      if (end < 0) continue;
      this.#bytes.unread(piece.subarray(end + 1));
      return Buffer.concat(pieces);
    }
    throw this.#tooLarge();
  }

  #tooLarge(): HttpError {
    return new HttpError(413, 'event_too_large', `The event is larger than ${this.#most} bytes`);
  }
}

/** Parses JSON. @throws HttpError for bytes that are not JSON in UTF-8 */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'invalid_json', 'The event is not valid JSON in UTF-8');
  }
}

/** @returns the event in its wire format */
export function eventBytes(type: string, data: object = {}, payload?: Uint8Array): Buffer {
  const bytes = Buffer.from(JSON.stringify(data));
  const head = { type, data_length: bytes.length, ...(payload && { payload_length: payload.length }) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes, ...(payload ? [payload] : [])]);
}
