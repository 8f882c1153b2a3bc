import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { named, Sandbox } from '../support/run.ts';
import { wavOf } from '../support/text-audio.ts';

/** A service that takes 11 s for the second of two segments. */
async function speakSlowly(...args: string[]) {
  const server = await serveBytes(async (wire, request, number) => {
    if (number === 2) await sleep(11_000);
    const { text } = request.json as { text: string };
    await complete(wavOf(text))(wire, request, number);
  });
  const box = new Sandbox();
  const run = ['First paragraph.\n\nSecond one.', '-o', 'out.wav', '--max-chars', '20', '--concurrency', '1'];
  return box.tts([...run, ...args], { env: named(server.url), showsProgress: true });
}

it('A long run off a terminal says how far it is, and a closing line; -q and a run that is heard do not.', async () => {
  const [plain, quiet, json, heard] = await Promise.all([
    speakSlowly(),
    speakSlowly('-q'),
    speakSlowly('--json'),
    speakSlowly('--player', 'cat', '--play'),
  ]);
  expect(plain.status).toBe(0);
  expect(plain.stderr).toMatch(
    /^tts: 1\/2 segments {2}59 % .*\ntts: out\.wav {2}\d+\.\d s {2}22050 Hz {2}2 segments {2}in \d+ s\n$/,
  );
  expect(quiet).toMatchObject({ status: 0, stderr: '' });
  expect(json).toMatchObject({ status: 0, stderr: '' });
  expect(heard.status).toBe(0);
  expect(heard.stderr).toMatch(/^tts: [^\n]*2 segments {2}in \d+ s\n$/);
});
