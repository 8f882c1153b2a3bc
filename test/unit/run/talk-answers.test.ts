import { expect, test } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { plain } from '../../../src/read/plain.ts';
import type { Source } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { Answers } from '../../../src/run/conversation.ts';
import { RunText } from '../../../src/run/text.ts';
import { Places } from '../../../src/text/places.ts';
import type { Rest, Segment } from '../../../src/text/segment.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { silent } from '../../support/speaker.ts';

const { signal } = new AbortController();

/** A pipe that is written to piece by piece. */
function piped() {
  const pieces = new AsyncQueue<Uint8Array>();
  const source = { name: '-', isLive: true, size: undefined, bytes: () => pieces, again: undefined };
  const write = (text: string) => pieces.push(Buffer.from(text));
  return { source, write, end: () => pieces.end() };
}

function opened(...sources: readonly Source[]) {
  return RunText.open(
    {
      sources: () => sources.map((source) => ({ source, reader: plain })),
      stages: [],
      role: asRole(silent),
      pace: 'by output',
      cutsParagraphs: false,
    },
    signal,
  );
}

const textsOf = async (segments: AsyncIterable<Segment | Rest>) => {
  const texts: string[] = [];
  for await (const each of segments) if (each.kind === 'segment') texts.push(each.text);
  return texts;
};

async function conversation(drops = new Drops()) {
  const { source, ...pipe } = piped();
  const text = await opened(source);
  const segments = text.segments(true, signal, { drops, places: new Places() })[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = (await segments.next()) as { value: Segment | undefined };
    return value && [value.index, value.text, value.span?.start, value.place.line];
  };
  return { ...pipe, next, drops };
}

test('A form feed ends an answer, and the next one goes on at once.', async () => {
  const { write, end, next } = await conversation();
  write('One without end\n\fTwo, and so on ');
  expect(await next()).toEqual([0, 'One without end', 0, 1]);
  write('for ever\f\f');
  expect(await next()).toEqual([1, 'Two, and so on for ever', 17, 2]);
  write('Ünd 😊 three.');
  end();
  expect(await next()).toEqual([2, 'Ünd 😊 three.', 42, 2]);
  expect(await next()).toBeUndefined();
});

test('A drop ends an answer, and lets go of all that has come.', async () => {
  const { write, end, next, drops } = await conversation();
  write('One. Two. And then a lot of ');
  expect(await next()).toEqual([0, 'One.', 0, 1]);
  drops.now();
  const coming = next();
  drops.now();
  write('New. ');
  expect(await coming).toEqual([1, 'New.', 28, 1]);
  write('Lost.');
  end();
  expect(await next()).toEqual([2, 'Lost.', 33, 1]);
  drops.now();
  expect(await next()).toBeUndefined();
});

test('A drop passes what stands after the form feed of a piece that is being read.', async () => {
  const { source, write } = piped();
  const answers = new Answers(source);
  const drops = new Drops();
  answers.divide(drops);
  write('One.\fTwo.');
  const bytes = answers.source.bytes(signal)[Symbol.asyncIterator]();
  expect((await bytes.next()).value).toEqual(Buffer.from('One.'));
  drops.now();
  await bytes.return?.();
  expect(answers.passed).toEqual({ characters: 9, lines: 0 });
});

test('What comes in the same turn of the event loop as a drop is new, however long that takes.', async () => {
  const { write, next, drops } = await conversation();
  const coming = next();
  await new Promise((resolve) => setImmediate(resolve));
  write('New. ');
  for (let microtask = 0; microtask < 20; microtask += 1) await null;
  const begun = performance.now();
  while (performance.now() - begun < 20);
  drops.now();
  expect(await coming).toEqual([0, 'New.', 0, 1]);
});

test('A full block is one of a document, and its form feeds are pages; an archive has none.', async () => {
  const page = `${'Some words in a line.\n'.repeat(200)}\f`;
  for (const [text, count] of [
    [page + page, 1],
    [`${page.slice(0, 400)}\f${page}`, 2],
    ['PK\f\f', 1],
  ] as const) {
    const { source, write, end } = piped();
    const answers = new Answers(source);
    answers.divide(new Drops());
    write(text);
    end();
    let read = 0;
    let bytes = 0;
    do {
      read += 1;
      for await (const piece of answers.source.bytes(signal)) bytes += piece.length;
    } while (answers.goesOn);
    expect([read, bytes]).toEqual([count, text.length - count + 1]);
  }
});

test('A text after a conversation has places and lines of its own.', async () => {
  const { source, write, end } = piped();
  write('One.\n\fTwo.\n');
  end();
  const text = await opened(source, { ...wordsSource('After.'), name: 'b.txt' });
  const found: unknown[] = [];
  for await (const each of text.segments(true, signal, { drops: new Drops(), places: new Places() }))
    if (each.kind === 'segment') found.push([each.text, each.span?.start, each.place.line]);
  expect(found).toEqual([
    ['One.', 0, 1],
    ['Two.', 6, 2],
    ['After.', 0, 1],
  ]);
});

test('An error of the pipe is told, also after a form feed that is read later.', async () => {
  const broken = new Error('the pipe broke');
  async function* bytes() {
    yield Buffer.from('One.\f');
    throw broken;
  }
  const answers = new Answers({ ...piped().source, bytes });
  answers.divide(new Drops());
  const read: string[] = [];
  const reading = (async () => {
    do for await (const piece of answers.source.bytes(signal)) read.push(`${piece}`);
    while (answers.goesOn);
  })();
  await expect(reading).rejects.toBe(broken);
  expect(read).toEqual(['One.']);
});

test('A text that can be read again is the same each time, also after another one.', async () => {
  const stdin = { ...wordsSource('Second.'), name: '-' };
  const text = await opened(wordsSource('First.'), stdin);
  for (const isHeardLive of [true, false, true])
    expect((await textsOf(text.segments(isHeardLive, signal))).join('\n\n')).toBe('First.\n\nSecond.');
});
