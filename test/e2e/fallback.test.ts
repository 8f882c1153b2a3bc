import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { named, Sandbox } from '../support/run.ts';
import type { TextServer } from '../support/text-server.ts';

const FIELDS = Object.keys(JSON.parse(readFileSync('docs/events.schema.json', 'utf8')).properties);

function eventsIn(box: Sandbox) {
  const lines = box.read('events.jsonl').toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

test('The service dies in the middle of an answer: the text is whole, another voice goes on, and the status says so.', async () => {
  const server: TextServer = await serveText({
    fault: () => (/Answer|first/.test(server.texts.at(-1) ?? '') ? undefined : '500'),
  });
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const answer = '# Answer\n\nThe first one. The **second** one. The third one. The last one.\n';
  const args = ['--assistant', '--json', '--fallback', 'slt', '--player', player.command];
  const run = await box.tts(args, { env: named(server.url), stdin: answer });
  const { fallback, played } = JSON.parse(run.stderr);
  expect({ status: run.status, shown: run.stdout.toString(), played }).toEqual({
    status: 9,
    shown: answer,
    played: true,
  });
  const { voice, from, line, broken, error } = fallback;
  expect({ voice, from, line, broken, exitCode: error.exitCode }).toEqual({
    voice: 'slt',
    from: 'The second one.',
    line: 3,
    broken: null,
    exitCode: 7,
  });
  // Each of the last three sentences takes half a second at least, at 22,050 Hz and 2 bytes.
  expect(player.heard().length).toBeGreaterThan(3 * 22_050);
});

test('A stream that stops is given up after the patience, and its sentence is not said twice.', async () => {
  const server: TextServer = await serveText({
    fault: () => (server.texts.at(-1)?.includes('second') ? 'stop' : undefined),
  });
  const box = new Sandbox();
  const args = ['--stream', '--fallback', '1', '--patience', '2', '--events', 'events.jsonl'];
  const stdin = 'The first one. The second sentence breaks. The last one.';
  const run = await box.tts(args, { env: named(server.url), stdin });
  expect(run.stderr).toMatch(
    /^tts: (?:warning: )?no sound came within 2 s; the rest of "The second sentence breaks." is missing, and 1 speaks from "The last one." on\n$/,
  );
  expect(run.status).toBe(9);
  expect(run.stdout.length).toBeGreaterThan(22_050);
  const events = eventsIn(box).filter(({ event }) => event !== 'queued' && event !== 'playing');
  expect(events.map(({ event, index }) => [event, index])).toEqual([
    ['spoken', 0],
    ['broken', 1],
    ['fallback', 2],
    ['spoken', 2],
  ]);
  const [, broken, fallback] = events;
  expect(broken).toMatchObject({ estimated: true });
  expect(broken.heard).toBeGreaterThanOrEqual(broken.start);
  expect(broken.heard).toBeLessThan(broken.end);
  expect(fallback).toMatchObject({ voice: '1', error: 'no sound came within 2 s', exitCode: 5 });
  for (const line of events) expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(line)));
});

test('Where nothing listens, one quick retry is made, and the other voice speaks.', async () => {
  const box = new Sandbox();
  const { command } = fakePlayer(box, 'plays');
  const env = named('http://127.0.0.1:9', { TTS_RETRIES: '3', TTS_PLAYER: command });
  const args = ['-v', '--play', '--fallback', 'slt', '--events', 'events.jsonl', 'Hello there.'];
  const { status, stderr } = await box.tts(args, { env });
  expect({ status, tries: stderr.match(/another try in .*/gu) }).toEqual({
    status: 9,
    tries: ['another try in 0.1 s'],
  });
  expect(eventsIn(box)).toMatchObject([
    { event: 'queued' },
    { event: 'fallback', index: 0, text: 'Hello there.', voice: 'slt', exitCode: 6 },
    { event: 'playing' },
    { event: 'spoken' },
  ]);
});

test('A file has one voice, unless it may have gaps.', async () => {
  const server = await serveText({ fault: () => '429' });
  const box = new Sandbox();
  box.file('.ttsrc.json', '{"fallback": "slt"}');
  const file = await box.tts(['hello', '-o', 'a.wav'], { env: named(server.url) });
  expect({ status: file.status, list: box.list() }).toEqual({ status: 4, list: ['.ttsrc.json'] });
  const kept = await box.tts(['hello', '-o', 'a.wav', '--keep-going'], { env: named(server.url) });
  expect({ status: kept.status, list: box.list() }).toEqual({ status: 9, list: ['.ttsrc.json', 'a.wav'] });
  expect(kept.stderr).toMatch(/slt speaks from "hello" on/);
});
