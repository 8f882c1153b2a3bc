import type { Socket } from 'node:net';
import { kParser } from 'undici/lib/core/symbols.js';

interface Parser {
  readonly paused: boolean;
  execute(bytes: Buffer): void;
}

/**
 * Hands to undici's parser what its socket received, without the way through the socket's stream: an event, two reads and
 * three turns of the queue, which keep a short piece for 0.1 ms. Where the parser rests, or is not there yet, the piece
 * waits in the stream as ever, and so does what comes behind it.
 * @returns whether the socket is to receive more
 */
export function feed(socket: Socket & { readonly [kParser]?: Parser }, piece: Buffer): boolean {
  const parser = socket[kParser];
  if (!parser || parser.paused || socket.readableLength > 0) return socket.push(piece);
  parser.execute(piece);
  return true;
}
