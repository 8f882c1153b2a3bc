import type { Script } from './byte-server.ts';

export type Headers = Readonly<Record<string, string | number>>;

/** A status line and headers, with the empty line after them. */
export function head(status: number, headers: Headers = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`;
}

/** One chunk of a chunked body; an empty one ends it. */
export function httpChunk(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')]);
}

/** Answers with a body of known length. */
export function answer(status: number, body: Uint8Array | string = '', headers: Headers = {}): Script {
  const bytes = Buffer.from(body);
  return (wire) =>
    wire.write(
      Buffer.concat([Buffer.from(head(status, { 'Content-Length': bytes.length, ...headers })), bytes]),
    );
}

/** Answers 200 with a WAV in one piece. */
export function complete(wav: Uint8Array, headers: Headers = {}): Script {
  return answer(200, wav, { 'Content-Type': 'audio/wav', ...headers });
}

/** Answers 200 with a chunked body, in pieces of one size. */
export function streamed(wav: Uint8Array, pieceBytes = wav.length): Script {
  return async (wire) => {
    await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Transfer-Encoding': 'chunked' }));
    for (let at = 0; at < wav.length; at += pieceBytes)
      await wire.write(httpChunk(wav.subarray(at, at + pieceBytes)));
    await wire.write(httpChunk(''));
  };
}

/** Answers each request with the next script, and all further ones with the last. */
export function inTurn(...scripts: readonly Script[]): Script {
  return (wire, request, number) => scripts[Math.min(number, scripts.length) - 1]?.(wire, request, number);
}

/** Never answers. */
export const silent: Script = () => {};
