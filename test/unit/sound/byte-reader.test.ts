import { expect, it } from 'vitest';
import { ByteReader } from '../../../src/sound/samples.ts';
import { inPieces } from './body.ts';

it('The position counts what is consumed, also after bytes that were given back.', async () => {
  const reader = new ByteReader(inPieces(Buffer.from('0123456789'), 3));
  expect((await reader.peek(5)).toString()).toBe('01234');
  expect(reader.position).toBe(0);
  const taken = await reader.take(7);
  expect(reader.position).toBe(7);
  reader.unread(taken.subarray(2));
  expect(reader.position).toBe(2);
  expect((await reader.take(100)).toString()).toBe('23456789');
  expect(reader.position).toBe(10);
});
