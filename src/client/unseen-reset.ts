import type { Socket } from 'node:net';

/**
 * The reset of a connection that seems to have ended in order: where it comes close behind the last bytes, libuv makes an
 * end of it. The system knows better: whoever was reset has no peer any more. Node remembers the address of a peer, so
 * nobody may have asked for it before. Over TLS it is not asked for: of a socket within another there is none.
 */
export function unseenReset(connection: Socket | undefined): Error | undefined {
  if (!connection || connection.destroyed || 'encrypted' in connection) return undefined;
  if (connection.remoteAddress !== undefined) return undefined;
  return Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' });
}
