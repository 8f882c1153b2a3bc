import type { Socket } from 'node:net';
import { kParser } from 'undici/lib/core/symbols.js';

interface Parser {
  execute(bytes: Buffer): void;
  readMore(): void;
}

/** A socket that undici's parser is fed from. */
export interface Source extends Socket {
  /** Nothing is handed on: also not by undici, see .config/mended.ts. */
  rests?: boolean;
  readonly [kParser]?: Parser | null;
}

/**
 * Hands to undici's parser what its socket received, without the way through the socket's stream: an event, two reads and
 * three turns of the queue, which keep a short piece for 0.1 ms. What lies in the stream comes first.
 * @returns whether the socket is to receive more
 */
export function feed(socket: Source, piece: Buffer): boolean {
  const parser = socket[kParser];
  if (!parser || socket.readableLength > 0) return socket.push(piece);
  parser.execute(piece);
  return true;
}

/**
 * Receives no more for now. undici would pause its parser instead, which fails where the other side closes the connection
 * just then, and would go through all that waits once more at each pause.
 */
export function rest(socket: Source): void {
  socket.rests = true;
  socket.pause();
}

/** Receives again. */
export function goOn(socket: Source): void {
  if (!socket.rests) return;
  socket.rests = false;
  socket.resume();
  // Not now: this may be the parser's own call.
  queueMicrotask(() => socket[kParser]?.readMore());
}
