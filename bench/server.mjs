// The service of the benchmarks. It answers from memory, so that only the client is measured.
import { createServer } from 'node:http';

/** Bytes of 20 ms at 22,050 Hz. */
const FRAME_BYTES = 882;
const FRAMES = 100;
const FRAME_MS = 20;
const SLOW_MS = 200;
const QUICK_MS = 50;

function wav(dataBytes, declared = dataBytes) {
  const bytes = Buffer.alloc(44 + dataBytes);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(Math.min(declared + 36, 0xffff_ffff), 4);
  bytes.write('WAVEfmt ', 8);
  for (const [at, value] of [
    [16, 16],
    [24, 22_050],
    [28, 44_100],
  ])
    bytes.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ])
    bytes.writeUInt16LE(value, at);
  bytes.write('data', 36);
  bytes.writeUInt32LE(declared, 40);
  for (let at = 44; at < bytes.length; at++) bytes[at] = (at * 7) & 0xff;
  return bytes;
}

/** Six seconds: a much shorter sound would seem to lack a part of the sentence. */
const long = wav(6 * 44_100);
const bodies = {
  small: wav(64 << 10),
  large: wav(256 << 20),
  chunked: wav(50 << 20),
  minutes: wav(600 * 44_100),
};

function sendChunked(response, body) {
  let at = 0;
  const more = () => {
    while (at < body.length) {
      const piece = body.subarray(at, at + 16_384);
      at += piece.length;
      if (!response.write(piece)) return response.once('drain', more);
    }
    response.end();
  };
  more();
}

/** Sends a header, then a frame every 20 ms that contains the time of its sending. */
function sendFrames(response) {
  response.write(wav(0, 0xffff_ffff));
  let sent = 0;
  const timer = setInterval(() => {
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeBigUInt64LE(process.hrtime.bigint(), 0);
    response.write(frame);
    if (++sent < FRAMES) return;
    clearInterval(timer);
    response.end();
  }, FRAME_MS);
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const what = request.url.split('/')[1];
    response.setHeader('content-type', 'audio/wav');
    if (what === 'frames') return sendFrames(response);
    if (request.method === 'GET') return response.writeHead(404).end();
    if (what === 'slow') return setTimeout(() => response.end(bodies.small), SLOW_MS);
    if (what === 'quick') return setTimeout(() => response.end(long), QUICK_MS);
    const body = bodies[what];
    if (what === 'chunked') return sendChunked(response, body);
    response.setHeader('content-length', body.length);
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
