/**
 * Abuses `tts serve` on loopback, as hostile and broken clients do: `node abuse.mjs PORT KEY SEED COUNT WYOMING`, where
 * WYOMING is the port of the Wyoming protocol. A busy machine takes longer for the same requests.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [port, key, seed, count, wyoming] = process.argv.slice(2);

const AT_ONCE = 100;

/** The longest time in milliseconds for which a connection stays open. */
const LONGEST_STAY = 1000;

/** The same generator as `randomFrom` in random.ts. */
function randomFrom(start) {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(Number(seed));
const below = (end) => Math.floor(random() * end);
const oneOf = (items) => items[below(items.length)];

/** Only few requests have the key: theirs are spoken, which is work for the processor rather than abuse. */
const keyLine = () => (below(25) === 0 ? `X-API-KEY: ${key}\r\n` : oneOf(['X-API-KEY: wrong\r\n', '']));

function getRequest(keyed) {
  const path = oneOf(['/openapi.json', '/speakers', '/metrics', '/', '/nothing']);
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${keyed}Accept: text/html\r\n\r\n`;
}

function speechRequest(keyed) {
  const text = oneOf(['Hello.', 'Hi.', 'This sentence is longer than the others. '.repeat(1 + below(50))]);
  const body = JSON.stringify({ text, speaker_no: 1, config: { use_streaming_response: random() < 0.5 } });
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST /tts HTTP/1.1\r\nHost: x\r\n${keyed}${type}\r\n${body}`;
}

function openAiRequest(keyed) {
  const input = oneOf(['Hello.', 'This sentence is longer than the others. '.repeat(1 + below(50))]);
  const body = JSON.stringify({
    input,
    voice: oneOf(['alloy', 'slt']),
    response_format: oneOf(['wav', 'pcm', 'mp3']),
  });
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\n${keyed}${type}\r\n${body}`;
}

function tunnelRequest(keyed) {
  return `CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n${keyed}\r\n`;
}

const anyRequest = (keyed) =>
  (below(20) === 0 ? tunnelRequest : oneOf([getRequest, speechRequest, openAiRequest]))(keyed);

function requests(count) {
  const keyed = keyLine();
  return Array.from({ length: count }, () => anyRequest(keyed)).join('');
}

function eventOf(type, data) {
  const further = JSON.stringify(data);
  return `${JSON.stringify({ type, data_length: further.length })}\n${further}`;
}

function wyomingEvent() {
  const text = oneOf(['Hello.', 'This sen', 'tence is longer than the others. '.repeat(1 + below(50))]);
  const voice = oneOf([{ name: 'slt' }, { name: 'nobody' }, {}]);
  const [type, data] = oneOf([
    ['describe', {}],
    ['ping', { text }],
    ['synthesize', { text, voice: {} }],
    ['synthesize-start', { voice }],
    ['synthesize-chunk', { text }],
    ['synthesize-stop', {}],
    ['audio-chunk', { text }],
  ]);
  return below(40) === 0 ? '{"type":"describe","data_length":1e9}\n' : eventOf(type, data);
}

const wyomingEvents = (count) =>
  eventOf('synthesize-start', {}) + Array.from({ length: count }, wyomingEvent).join('');

/** Used only rarely, since all texts are spoken: the protocol has no key. */
const wyomingAbuses = {
  async flood(socket) {
    socket.resume().write(wyomingEvents(2 + below(50)));
    await sleep(below(LONGEST_STAY));
  },
  async reset(socket) {
    socket.resume().write(wyomingEvents(1 + below(10)));
    await sleep(below(50));
    socket.resetAndDestroy();
  },
  async slowReader(socket) {
    for (let at = 0; at < 20; at += 1) socket.write(wyomingEvents(10));
    await sleep(below(LONGEST_STAY));
  },
  async tornEvent(socket) {
    const whole = wyomingEvents(2);
    socket.resume().write(whole.slice(0, 1 + below(whole.length - 1)));
    await sleep(below(LONGEST_STAY));
    if (below(2) === 0) socket.end();
  },
};

const abuses = {
  async pipelining(socket) {
    socket.resume().write(requests(2 + below(oneOf([9, 50]))));
    await sleep(below(50));
  },
  async reset(socket) {
    socket.resume().write(requests(1 + below(10)));
    await sleep(below(50));
    socket.resetAndDestroy();
  },
  async slowReader(socket) {
    socket.write(requests(1 + below(10)));
    await sleep(below(LONGEST_STAY));
  },
  async halfRequest(socket) {
    const whole = requests(1);
    socket.resume().write(whole.slice(0, 1 + below(whole.length - 1)));
    await sleep(below(LONGEST_STAY));
    if (below(2) === 0) socket.end();
  },
};

async function abuse() {
  const [to, all] = below(5) === 0 ? [wyoming, wyomingAbuses] : [port, abuses];
  const socket = connect(Number(to), '127.0.0.1').on('error', () => {});
  await oneOf(Object.values(all))(socket);
  socket.destroy();
}

let left = Number(count);
async function abuseInTurn() {
  for (; left > 0; left -= 1) await abuse();
}

await Promise.all(Array.from({ length: AT_ONCE }, abuseInTurn));
