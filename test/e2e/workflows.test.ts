import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';

const PARAGRAPHS = 12;
const book = Array.from({ length: PARAGRAPHS }, (_, at) => `Paragraph ${at + 1} of the book.`).join('\n\n');

/** A service that speaks until the quota of this many requests is used up. */
async function withQuota(requests: number) {
  const account = { left: requests };
  const server = await serveBytes((wire, request, number) => {
    account.left -= 1;
    const { text } = request.json as { text: string };
    const spent = answer(402, '{"error":{"message":"the quota is used up"}}');
    return (account.left < 0 ? spent : complete(wavOf(text)))(wire, request, number);
  });
  return { server, account };
}

describe('a name or a language that only the service knows', () => {
  const list = { speakers: [{ speaker_no: 7, no: 7, name: 'Ada', kind: 'neo.one', language: 'en-GB' }] };

  it.each(['ada', 'en', 'EN-gb'])(
    'is refused with the number that the service lists, and nothing is paid: %s',
    async (name) => {
      const server = await serveBytes((wire, request, number) => {
        const script = request.path.endsWith('/speakers')
          ? answer(200, JSON.stringify(list))
          : complete(wavOf('hi'));
        return script(wire, request, number);
      });
      const env = named(server.url);
      const run = await new Sandbox().run(['hi', '-s', name, '-o', 'a.wav'], { env });
      expect(run.status).toBe(2);
      expect(run.stderr).toContain(`no speaker is called "${name}"`);
      expect(run.stderr).toMatch(/\nhint: .* lists Ada as 7: -s 7, or name it/);
      expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
      await new Sandbox().run(['hi', '-s', name, '--dry-run'], { env });
      expect(server.requests).toHaveLength(1);
    },
  );
});

describe('a book with a quota that ends in the middle', () => {
  const args = [
    '-f',
    'book.txt',
    '-o',
    'book.wav',
    '--max-chars',
    '40',
    '--paragraph-pause',
    '0',
    '--concurrency',
    '1',
  ];

  it('says what is kept, and goes on the next day without paying for anything twice', async () => {
    const box = new Sandbox();
    box.file('book.txt', book);
    const { server, account } = await withQuota(5);
    const env = named(server.url, { TTS_CACHE: '1' });
    const first = await box.run(args, { env });
    expect(first.status).toBe(4);
    expect(first.stderr).toMatch(
      /hint: .*; it stopped at segment 6 of 12: the same command reuses what is in the cache\n$/,
    );
    expect(box.list()).toEqual(['book.txt']);
    const again = await box.run([...args, '--json'], { env });
    const { error } = JSON.parse(again.stderr);
    expect(error).toMatchObject({ exitCode: 4, done: 5, total: 12, line: 11 });
    const spent = server.requests.length;
    account.left = 100;
    const next = await box.run(args, { env });
    expect(next).toMatchObject({ status: 0 });
    expect(server.requests.length - spent).toBe(PARAGRAPHS - 5);
    expect(textOf(wholePcm(box.read('book.wav'))).replace(/\s/g, '')).toBe(book.replace(/\s/g, ''));
  });

  it('says nothing of the cache where nothing is kept', async () => {
    const box = new Sandbox();
    box.file('book.txt', book);
    const { server } = await withQuota(5);
    const run = await box.run([...args, '--no-cache'], { env: named(server.url, { TTS_CACHE: '1' }) });
    expect(run.status).toBe(4);
    expect(run.stderr).not.toContain('cache');
  });

  it('is told segment by segment with --verbose', async () => {
    const box = new Sandbox();
    box.file('book.txt', book);
    const { server } = await withQuota(100);
    const env = named(server.url, { TTS_CACHE: '1' });
    const first = await box.run([...args, '-v'], { env });
    expect(first.stderr).toMatch(/segment 2 "Paragraph 2 of the book\.": POST http/);
    expect(first.stderr).toMatch(/segment 2: status 200 after \d+ ms/);
    expect((await box.run([...args, '-v'], { env })).stderr).toMatch(/segment 12: in the cache/);
  });
});
