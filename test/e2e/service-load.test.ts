import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogRecord } from '../../src/serve/http.ts';
import { heldMemory } from '../support/memory.ts';
import { randomFrom, SEED } from '../support/random.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

let tones: ToneService;
afterEach(() => tones.close());

const hello = { text: 'hello', speaker_no: 1 };

function requestOf(body: object): string {
  const json = JSON.stringify(body);
  const head = ['POST /tts HTTP/1.1', 'Host: x', `X-API-KEY: ${KEY}`, 'Content-Type: application/json'];
  return [...head, `Content-Length: ${json.length}`, '', json].join('\r\n');
}

async function open(): Promise<Socket> {
  const socket = tones.connect();
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('clients that hang up', () => {
  it('leave nothing behind, 1,000 of them, at random moments', async () => {
    const records: LogRecord[] = [];
    tones = await startToneService({ log: (record) => records.push(record) });
    const text = ['one', ...Array.from({ length: 5 }, () => 'slow'), 'x'.repeat(2000)].join(' ');
    const requests = [false, true].map((use_streaming_response) =>
      requestOf({ text, speaker_no: 1, config: { use_streaming_response } }),
    );
    const random = randomFrom(SEED);
    const hangUp = async (index: number) => {
      const socket = await open();
      const request = requests[index % 2] ?? '';
      socket.write(request.slice(0, index % 5 === 0 ? Math.floor(random() * request.length) : undefined));
      await sleep(random() * 250);
      if (index % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    };
    for (let batch = 0; batch < 10; batch++) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => hangUp(index)));
    }
    await expect.poll(() => tones.engine.active).toBe(0);
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    expect((await tones.speak(hello)).status).toBe(200);
    expect(records.filter(({ event }) => event === 'defect')).toEqual([]);
  });

  it('stop the synthesis at once', async () => {
    tones = await startToneService();
    const socket = await open();
    socket.write(requestOf({ text: 'slow '.repeat(1000), speaker_no: 1 }));
    await expect.poll(() => tones.engine.active).toBe(1);
    socket.destroy();
    await expect.poll(() => tones.engine.active).toBe(0);
  });
});

describe('several requests in one breath', () => {
  const listing = `GET /speakers HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\n\r\n`;

  it('are answered one after the other, up to ten', async () => {
    tones = await startToneService();
    const socket = await open();
    let answers = '';
    socket.on('data', (piece) => {
      answers += piece.toString('latin1');
    });
    socket.write(requestOf({ text: 'slow slow slow', speaker_no: 1 }).repeat(2) + listing.repeat(8));
    await expect.poll(() => tones.engine.active).toBe(1);
    expect(tones.engine.utterances.length).toBe(1);
    const types = () => [...answers.matchAll(/^Content-Type: (\S+)\r$/gm)].map(([, type]) => type);
    await expect.poll(types).toEqual(['audio/wav', 'audio/wav', ...Array(8).fill('application/json')]);
    expect(tones.engine.utterances.length).toBe(2);
    socket.destroy();
  });

  it('are not spoken where their client leaves before their turn', async () => {
    const records: LogRecord[] = [];
    tones = await startToneService({ log: (record) => records.push(record) });
    const socket = await open();
    socket.write(requestOf({ text: 'slow '.repeat(1000), speaker_no: 1 }).repeat(6));
    await expect.poll(() => tones.engine.active).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => records.length).toBe(6);
    expect(records).toEqual(Array(6).fill(expect.objectContaining({ status: undefined, cut: true })));
    await expect.poll(() => tones.engine.active).toBe(0);
    expect(tones.engine.utterances.length).toBe(1);
    expect(await tones.health()).toMatchObject({ requests: 0 });
  });

  it('end the connection where more than ten have no answer', async () => {
    tones = await startToneService();
    const socket = await open();
    const closed = once(socket.resume(), 'close');
    socket.write(requestOf({ text: 'stuck', speaker_no: 1 }) + listing.repeat(10));
    await closed;
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    expect(tones.engine.active).toBe(0);
  });

  it('end the connection where a tunnel is wanted before the answers are out', async () => {
    tones = await startToneService();
    const socket = await open();
    const closed = once(socket.resume(), 'close');
    socket.write(`${requestOf({ text: 'stuck', speaker_no: 1 })}CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n`);
    await closed;
    expect((await tones.speak(hello)).status).toBe(200);
    await expect.poll(() => tones.engine.active).toBe(0);
  });
});

describe('slow senders', () => {
  it('hold nothing up, 100 of them, and are told that it took too long', async () => {
    tones = await startToneService({ limits: { headers: 1000, request: 1500 } });
    const request = requestOf(hello);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const socket = await open();
        socket.write(request.slice(0, index % 2 === 0 ? 30 : -20));
        const drip = setInterval(() => socket.write('a'), 200);
        let answer = '';
        socket.on('data', (piece) => {
          answer += piece.toString();
        });
        const closed = once(socket, 'close').finally(() => clearInterval(drip));
        if (index === 99) expect((await tones.speak(hello)).status).toBe(200);
        await closed;
        return answer;
      }),
    );
    // The clock runs out for those that had not sent their headers, and for those that had.
    const told = answers.filter((answer) => /^HTTP\/1\.1 408 .*"request_timeout"/s.test(answer));
    expect(told.length).toBeGreaterThan(90);
    expect((await tones.speak(hello)).status).toBe(200);
  });

  it('that take nothing of a long answer are let go', async () => {
    tones = await startToneService({ limits: { stall: 300 } });
    const socket = await open();
    const text = 'x'.repeat(400_000);
    socket.pause();
    socket.write(requestOf({ text, speaker_no: 1, config: { use_streaming_response: true } }));
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await expect.poll(tones.health).toMatchObject({ requests: 0 });
    socket.destroy();
  });

  it('do not count as stalled while the engine is at work', async () => {
    tones = await startToneService({ limits: { stall: 100 } });
    const { status } = await tones.speak({ text: 'slow '.repeat(10), speaker_no: 1 });
    expect(status).toBe(200);
  });
});

describe('many at once', () => {
  it('are all answered, and memory stays where it was', async () => {
    tones = await startToneService();
    const round = () =>
      Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const config = { use_streaming_response: index % 2 === 0 };
          const { status, bytes } = await tones.speak({ text: 'x'.repeat(index + 1), speaker_no: 1, config });
          expect([status, bytes.length]).toEqual([200, 44 + (index + 1) * 200]);
        }),
      );
    for (let warmUp = 0; warmUp < 3; warmUp++) await round();
    const before = heldMemory();
    for (let i = 0; i < 10; i++) await round();
    // All of the answers together are 40 MB.
    expect(heldMemory() - before).toBeLessThan(10e6);
    expect(await tones.health()).toMatchObject({ requests: 0 });
  });

  it('are closed above the limit of connections, and the others go on', async () => {
    tones = await startToneService({ limits: { connections: 3 } });
    const sockets = await Promise.all([open(), open(), open()]);
    const refused = tones.connect().on('error', () => {});
    await once(refused.resume(), 'close');
    const [first] = sockets;
    first?.write(requestOf(hello));
    const [answer] = (await once(first as Socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of sockets) socket.destroy();
  });
});
