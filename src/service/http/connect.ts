import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For a CONNECT, with which Node leaves the connection to itself: an answer over it, which also ends it. */
export function responseOver(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  socket.on('error', () => {}); // its end is what counts
  return response;
}
