// Rows of the table of docs/speed.md about speaking while a model still writes, and about conversations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './measure.mjs';

/** Milliseconds between the words that the model writes. */
const TOKEN_MS = 50;
const SENTENCES = 15;
const ROUNDS = 9;
const milliseconds = { unit: 'ms', digits: 0 };

/** A service that records when each text arrived. It answers with a tenth of a second of silence. */
async function noting() {
  const came = new Map();
  const wav = Buffer.alloc(44 + 4410);
  wav.write(
    'RIFF\x5e\x11\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x22\x56\0\0\x44\xac\0\0\x02\0\x10\0data\x3a\x11\0\0',
    'latin1',
  );
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    came.set(JSON.parse(body).text, performance.now());
    response.setHeader('content-type', 'audio/wav').end(wav);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { came, server, url: `http://127.0.0.1:${server.address().port}` };
}

/** The median time from the writing of a full stop to the request with its sentence. */
async function stopToRequest({ tts, env }, format) {
  const { came, server, url } = await noting();
  const [command, ...args] = tts('-q', '--player', 'cat', '--format', format, '-s', '3', '--base-url', url);
  const child = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
  const closed = once(child, 'close');
  const written = new Map();
  for (let number = 0; number < SENTENCES; number++) {
    const sentence = `This is the short sentence number ${number + 1}.`;
    for (const word of sentence.split(' ')) {
      child.stdin.write(`${number === 0 && word === 'This' ? '' : ' '}${word}`);
      if (word.endsWith('.')) written.set(sentence, performance.now());
      await sleep(TOKEN_MS);
    }
  }
  child.stdin.end();
  await closed;
  server.close();
  // Without the first ones, which wait for the start of the program, and the last one, which waits for the end of the text.
  const waits = [...written].slice(3, -1).map(([sentence, at]) => came.get(sentence) - at);
  return median(waits);
}

/** Starts a conversation with the built-in voice. `told(event)` resolves with the time of the next such event. */
async function converse({ tts, withoutService }) {
  const [command, ...args] = tts('-q', '--assistant', '--input', 'jsonl', '--events', '3', '--player', 'cat');
  const child = spawn(command, args, { ...withoutService, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] });
  const waiting = [];
  createInterface({ input: child.stdio[3] }).on('line', (line) => {
    const at = performance.now();
    const index = waiting.findIndex(({ event }) => event === JSON.parse(line).event);
    if (index >= 0) waiting.splice(index, 1)[0].resolve(at);
  });
  return {
    child,
    say: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    told: (event) => new Promise((resolve) => waiting.push({ event, resolve })),
    async end() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

const childOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1);

async function gone(pid) {
  while (existsSync(`/proc/${pid}`)) await sleep(1);
  return performance.now();
}

/** The longest time until the player is gone. @param stop a signal, or 'a stop' for the message */
async function stopToSilence(at, stop) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { child, say, told, end } = await converse(at);
    const playing = told('playing');
    say({ text: 'This is a sentence that takes a while to be heard. And' });
    await playing;
    const player = childOf(child.pid);
    const begun = performance.now();
    if (stop === 'a stop') say({ stop: true });
    else child.kill(stop);
    times.push((await gone(player)) - begun);
    if (stop === 'a stop') await end();
  }
  return Math.max(...times);
}

/** The median time from a stop to the first sound of the next answer. */
async function stopToSound(at) {
  const { say, told, end } = await converse(at);
  const times = [];
  for (let round = -1; round < ROUNDS; round++) {
    const playing = told('playing');
    const begun = performance.now();
    if (round >= 0) say({ stop: true });
    say({ text: 'Sure, I can help with that. And then' });
    const heard = (await playing) - begun;
    if (round >= 0) times.push(heard);
    await sleep(200);
  }
  await end();
  return median(times);
}

export const talkRows = [
  ...['text', 'markdown'].map((format) => ({
    what: `full stop written to request sent, a token each 50 ms, ${format}`,
    most: { 20: 150 },
    ...milliseconds,
    measure: (at) => stopToRequest(at, format),
  })),
  ...['a stop', 'SIGTERM'].map((stop) => ({
    what: `${stop} to silence, the longest of ${ROUNDS}`,
    most: { 20: 50 },
    ...milliseconds,
    measure: (at) => stopToSilence(at, stop),
  })),
  {
    what: "a stop to the next answer's first byte, the built-in voice warm",
    most: { 20: 350 },
    ...milliseconds,
    measure: stopToSound,
  },
];
