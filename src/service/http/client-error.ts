import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange, Log } from './exchange.ts';
import { Refusal } from './refusal.ts';
import { errorBody } from './refuse.ts';
import type { Traffic } from './traffic.ts';

interface ClientError extends NodeJS.ErrnoException {
  /** The last bytes that came. */
  readonly rawPacket?: Buffer;
  /** The number of these bytes that were parsed. */
  readonly bytesParsed?: number;
}

const refusals: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal(408, 'request_timeout', 'The request took too long to arrive'),
  HPE_HEADER_OVERFLOW: new Refusal(431, 'headers_too_large', 'The headers are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Refusal(413, 'body_too_large', 'The chunk extensions are too large'),
};
const malformed = new Refusal(400, 'malformed_request', 'This is not a valid HTTP request');
const unknownMethod = new Refusal(501, 'unknown_method', 'There is no such method');

/** RFC 9110, section 5.6.2, and RFC 9112, section 3, have this form. */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/\d\.\d\r?$/;

/** The refusal follows the answers to earlier requests, and closes the connection. */
export function createRefusing(traffic: Traffic, log: Log | undefined) {
  // The parser reports its error again for further bytes.
  const refused = new WeakSet<Duplex>();
  return async (error: ClientError, socket: Duplex): Promise<void> => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (await traffic.answered(socket)) refuseRaw(error, socket, { torn: traffic.tornOn(socket), log });
    else socket.destroy();
  };
}

interface RefuseContext {
  readonly torn: Exchange | undefined;
  readonly log: Log | undefined;
}

function refuseRaw(error: ClientError, socket: Duplex, { torn, log }: RefuseContext): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const id = torn?.id ?? randomUUID();
  const refusal = refusalOfParser(error);
  const { status } = refusal;
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  if (torn) Object.assign(torn.details, { status, refusal: refusal.code });
  else log?.({ event: 'request', id, status, cut: false, milliseconds: 0, refusal: refusal.code });
}

function refusalOfParser({ code = '', rawPacket, bytesParsed }: ClientError): Refusal {
  if (code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(lineAt(rawPacket, bytesParsed)))
    return unknownMethod;
  return refusals[code] ?? malformed;
}

function lineAt(bytes: Buffer = Buffer.of(), position = 0): string {
  const start = position === 0 ? 0 : bytes.lastIndexOf('\n', position - 1) + 1;
  const end = bytes.indexOf('\n', position);
  return bytes.toString('latin1', start, end < 0 ? bytes.length : end);
}
