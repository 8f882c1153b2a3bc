import { expect, test } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { Answers, messageIn } from '../../../src/run/conversation.ts';
import { collect } from '../sound/body.ts';

const { signal } = new AbortController();

/** The answers of a pipe that is written to piece by piece. */
function conversation() {
  const pieces = new AsyncQueue<Uint8Array>();
  const source = { name: '-', bytes: () => pieces };
  const answers = new Answers(source);
  const drops = new Drops();
  answers.divide(drops);
  const write = (text: string) => void pieces.push(Buffer.from(text));
  const next = async () => (await collect(answers.source.bytes(signal))).toString();
  return { answers, drops, write, next, end: () => pieces.end() };
}

test('An answer is what came up to its end, and lines and characters count on.', async () => {
  const { answers, write, next, end } = conversation();
  write('{"text":"Ünd 😊"}\n\n{"text":" one\\r\\n","end":true}\r\n{"end":true}\n{"te');
  write('xt":"two"}');
  end();
  expect(await next()).toBe('Ünd 😊 one\r\n');
  expect(answers.passed).toEqual({ characters: 10, lines: 1 });
  expect([await next(), await next(), answers.goesOn]).toEqual(['', 'two', false]);
});

test('A stop drops what has come, and what comes afterwards is the next answer.', async () => {
  const { drops, answers, write, next, end } = conversation();
  let stops = 0;
  drops.listen(() => {
    stops += 1;
  });
  const heard = next();
  write('{"text":"one "}\n{"text":"not heard"}\n{"stop":true}\n{"text":"two"}\n');
  expect(await heard).not.toContain('two');
  end();
  expect([await next(), stops]).toEqual(['two', 1]);
  expect(answers.passed.characters).toBe('one not heardtwo'.length);
});

test.each(['hello', '[]', '{"text":1}', '{"end":"yes"}', '{"stop":true,"now":true}', 'null'])(
  'A line that is no message is an error with its number: %s',
  (line) => {
    expect(() => messageIn(line, 3)).toThrow('stdin, line 3 is not a message');
  },
);
