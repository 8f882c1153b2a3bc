/**
 * The events of the Wyoming protocol (https://github.com/OHF-Voice/wyoming): a line of JSON with the type, then as many bytes of
 * further data in JSON and of payload as the line says.
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

/** Reads events, and never holds more than one. What comes as payload is left out: no event that is for a voice has one. */
export class EventReader {
  readonly #bytes: ByteReader;
  readonly #most: number;

  /** @param most bytes of a line, of data and of a payload */
  constructor(bytes: AsyncIterable<Uint8Array>, most: number) {
    this.#bytes = new ByteReader(bytes);
    this.#most = most;
  }

  /**
   * @returns `undefined` at the end; a torn last event is dropped
   * @throws HttpError for a line that is not an event, and for one that is too large; then the rest means nothing
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

  /** Reads to the end of what the other side sends, so that it sees what it was sent. */
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

/** @throws HttpError for bytes that are not JSON in UTF-8 */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'invalid_json', 'The event is not valid JSON in UTF-8');
  }
}

/** @returns the event as it goes over the wire */
export function eventBytes(type: string, data: object = {}, payload?: Uint8Array): Buffer {
  const bytes = Buffer.from(JSON.stringify(data));
  const head = { type, data_length: bytes.length, ...(payload && { payload_length: payload.length }) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes, ...(payload ? [payload] : [])]);
}
