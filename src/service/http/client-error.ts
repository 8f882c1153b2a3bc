import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Refusal } from '../refusal.ts';
import { errorBody } from './refuse.ts';

/** What Node's parser and clock have against a client, and what it is told. */
const refusals: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal(408, 'request_timeout', 'The request took too long to arrive'),
  HPE_HEADER_OVERFLOW: new Refusal(431, 'headers_too_large', 'The headers are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Refusal(413, 'body_too_large', 'The chunk extensions are too large'),
};
const malformed = new Refusal(400, 'malformed_request', 'This is not a valid HTTP request');

/** Answers what never became a request, and closes the connection. */
export function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = refusals[error.code ?? ''] ?? malformed;
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
