import type { Socket } from 'node:net';
import { Writable } from 'node:stream';

/**
 * Looks behind the end of a connection: where a reset comes close behind the last bytes, libuv makes an end of it. The
 * system still knows. There is no peer any more, and whoever writes nevertheless is told of a reset (ECONNRESET), or that
 * there was an end first, behind which a reset matters no more (EPIPE). Node remembers the address of a peer, so nobody may
 * have asked for it before. TLS has an end of its own, and is not looked behind.
 * @param tell is called once: at once for an end, later with the error of a reset
 */
export function lookBehindEnd(connection: Socket, tell: (reset?: Error) => void): void {
  const isGone = connection.remoteAddress === undefined;
  if (!isGone || connection.destroyed || 'encrypted' in connection) {
    tell();
    return;
  }
  // Not the socket's own: that refuses to write behind an end without asking the system.
  Writable.prototype.write.call(connection, '.', 'latin1', (error?: NodeJS.ErrnoException | null) =>
    tell(error?.code === 'ECONNRESET' ? error : undefined),
  );
}
