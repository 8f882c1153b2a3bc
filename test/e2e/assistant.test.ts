import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { serveText } from '../support/book.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { named, Sandbox } from '../support/run.ts';

const GUIDE = readFileSync('docs/assistant.md', 'utf8');

test('An answer is shown as it comes and spoken without what nobody wants to hear.', async () => {
  expect(GUIDE).toContain('llm "Tell me a story" | tts --assistant');
  const server = await serveText();
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const run = box.start(['--assistant', '--player', player.command], {
    env: named(server.url),
    stdin: 'open',
  });
  const first =
    '<think>\nThe user greets me, so I greet them in a friendly way.\n</think>\n\n## Answer\nHello **there**. And';
  run.stdin.write(first);
  await vi.waitFor(() => expect(server.texts).toEqual(['Answer.', 'Hello there.']), 5000);
  const rest = ' so on! 😊\n\n<tool_call>{"name":"ls"}</tool_call>\n';
  run.stdin.end(rest);
  const { status, stdout } = await run.ended;
  expect({ status, shown: stdout.toString(), last: server.texts.at(-1) }).toEqual({
    status: 0,
    shown: first + rest,
    last: 'And so on!',
  });
});

test('Where the voice fails, the text goes on, and the status says so.', async () => {
  const run = new Sandbox().start(['--assistant', '--player', '/nowhere/player'], { stdin: 'open' });
  run.stdin.write('Hello there. ');
  await new Promise((resolve) => setTimeout(resolve, 500));
  run.stdin.end('The end.\n');
  const { status, stdout, stderr } = await run.ended;
  expect({ status, shown: stdout.toString() }).toEqual({ status: 8, shown: 'Hello there. The end.\n' });
  expect(stderr.toString()).toContain('/nowhere/player');
});
