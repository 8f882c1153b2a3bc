import { afterEach, describe, expect, it } from 'vitest';
import { parseFault } from '../../src/service/exchange/fault-spec.ts';
import { KEY, startToneService, type ToneService } from '../support/tone-service.ts';

let tones: ToneService;
afterEach(() => tones.close());

const start = async (...specs: string[]) => {
  tones = await startToneService({ faults: specs.map(parseFault) });
};
const words = 'one two three four';
const pcmBytes = 15 * 200;
const complete = { text: words, speaker_no: 2 };
const streamed = { ...complete, config: { use_streaming_response: true } };

/** Everything that comes over a bare socket for one request, head and body apart. */
async function rawSpeak(body: object): Promise<{ head: string; body: Buffer }> {
  const json = JSON.stringify(body);
  const socket = tones.connect();
  socket.write(
    `POST /tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  const all = Buffer.concat(pieces);
  const end = all.indexOf('\r\n\r\n');
  return { head: all.subarray(0, end).toString(), body: all.subarray(end + 4) };
}

describe('a fault', () => {
  it('answers with a status, so many times, and then no more', async () => {
    await start('status=429,times=2,retry-after=7');
    for (const _ of [1, 2]) {
      const { status, headers, json } = await tones.speak(complete);
      expect([status, headers['retry-after'], json.error.code]).toEqual([429, '7', 'fault']);
    }
    expect((await tones.speak(complete)).status).toBe(200);
  });

  it('meets only the texts that it names', async () => {
    await start('status=500,match=two', 'status=404,match=seven');
    expect((await tones.speak(complete)).status).toBe(500);
    expect((await tones.speak({ ...complete, text: 'seven' })).status).toBe(404);
    expect((await tones.speak({ ...complete, text: 'eight' })).status).toBe(200);
  });

  it('meets none or all at the ends of the rate', async () => {
    await start('status=500,rate=0');
    expect((await tones.speak(complete)).status).toBe(200);
    await tones.close();
    await start('status=500,rate=1');
    expect((await tones.speak(complete)).status).toBe(500);
  });

  it('does not hide what a request does wrong', async () => {
    await start('status=500');
    expect((await tones.speak({ text: 'x' })).status).toBe(422);
  });

  it('delays an answer', async () => {
    await start('delay=300ms');
    const begin = performance.now();
    expect((await tones.speak(complete)).status).toBe(200);
    expect(performance.now() - begin).toBeGreaterThan(290);
  });

  it('hangs until the client or the service has had enough', async () => {
    await start('hang');
    const impatient = tones.speak(complete, { signal: AbortSignal.timeout(200) });
    await expect(impatient).rejects.toThrow();
    const hung = tones.speak(complete);
    hung.catch(() => {});
    await expect.poll(tones.health).toMatchObject({ requests: 1 });
    await tones.service.close(20_000);
    await expect(hung).rejects.toThrow();
  });

  it('hangs no longer than the service, for a request whose body comes late either', async () => {
    await start('hang');
    const send = await tones.announce(complete);
    const closed = tones.service.close(60_000);
    expect(await send()).toBe('');
    await closed;
  });

  it('drops the connection behind so many bytes, complete or streamed', async () => {
    await start('drop-after=1k');
    const whole = await rawSpeak(complete);
    expect(whole.head).toContain(`Content-Length: ${44 + pcmBytes}`);
    expect(whole.body.length).toBe(1024);
    const { body } = await rawSpeak(streamed);
    expect(body.toString('latin1').endsWith('0\r\n\r\n')).toBe(false);
    expect(body.length).toBeGreaterThanOrEqual(1024);
    expect(body.length).toBeLessThan(1100);
    await expect.poll(() => tones.engine.active).toBe(0);
    await expect(tones.speak(complete)).rejects.toThrow();
  });

  it('truncates: HTTP ends well, but half of the promised samples are missing', async () => {
    await start('truncate');
    for (const request of [complete, streamed]) {
      const { status, bytes } = await tones.speak(request);
      expect([status, bytes.length, bytes.readUInt32LE(40)]).toEqual([200, 44 + pcmBytes / 2, pcmBytes]);
    }
  });

  it.each([
    ['zero', 0],
    ['max', 0xffff_ffff],
  ])('writes %s into both sizes', async (name, size) => {
    await start(`wav-header=${name}`);
    for (const request of [complete, streamed]) {
      const { bytes } = await tones.speak(request);
      expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40), bytes.length]).toEqual([
        size,
        size,
        44 + pcmBytes,
      ]);
    }
  });

  it('puts a header in front of every piece, or leaves all out', async () => {
    await start('wav-header=per-chunk,match=one', 'wav-header=none,match=bare');
    for (const request of [complete, streamed]) {
      const { bytes } = await tones.speak(request);
      expect(bytes.toString('latin1').split('RIFF').length - 1).toBe(4);
      expect(bytes.length).toBe(4 * 44 + pcmBytes);
      expect(bytes.readUInt32LE(40)).toBe(600);
    }
    const { bytes } = await tones.speak({ ...complete, text: 'bare' });
    expect(bytes).toEqual(Buffer.from(new Int16Array(400).fill(2).buffer));
  });

  it('claims another content type, and combines with others', async () => {
    await start('content-type=text/html', 'truncate', 'status=503,times=1');
    expect((await tones.speak(complete)).status).toBe(503);
    const { headers, bytes } = await tones.speak(complete);
    expect([headers['content-type'], bytes.length]).toEqual(['text/html', 44 + pcmBytes / 2]);
  });
});
