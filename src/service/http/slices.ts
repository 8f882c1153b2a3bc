import type { Socket } from 'node:net';

/** About ninety short requests fit. */
const SLICE_BYTES = 4096;

/**
 * Node parses all requests that one piece of a connection holds, even if the first of them closes the connection,
 * and a piece has up to 64 KiB. In small slices, many pipelined requests are cheap to refuse.
 *
 * The server must have put its own listener for data on the socket.
 */
export function readInSlices(socket: Socket): void {
  const listeners = socket.listeners('data');
  socket.removeAllListeners('data');
  socket.on('data', (piece: Buffer) => {
    for (const parse of listeners) parse.call(socket, piece.subarray(0, SLICE_BYTES));
    // The rest comes back as data of its own, at once or when the socket is resumed.
    if (piece.length > SLICE_BYTES && !socket.destroyed) socket.unshift(piece.subarray(SLICE_BYTES));
  });
}
