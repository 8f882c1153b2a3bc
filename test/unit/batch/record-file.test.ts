import { expect, it } from 'vitest';
import { keyedHash, RecordFile } from '../../../src/batch/table.ts';

interface Named {
  readonly name: string;
  readonly order: number;
}

const reads = (records: RecordFile<Named>) => {
  let count = 0;
  const at = records.at.bind(records);
  records.at = (number) => {
    count += 1;
    return at(number);
  };
  return () => count;
};

it('The last record of a name is found without looking at each that has it.', () => {
  using records = new RecordFile<Named>(({ name }) => name);
  const count = reads(records);
  for (let order = 0; order < 6000; order += 1) records.add({ name: 'same', order });
  for (let time = 0; time < 6000; time += 1) expect(records.find(0, 'same')).toBe(5999);
  expect(count()).toBeLessThan(20_000);
});

it('Names with one hash of FNV-1a do not meet.', () => {
  // They were found by search: all have the hash 0 in its lower 16 bits.
  const fnv = (text: string) =>
    [...text].reduce((hash, c) => Math.imul(hash ^ c.charCodeAt(0), 0x01000193), 0x811c9dc5);
  const names: string[] = [];
  for (let number = 0; names.length < 100; number += 1)
    if ((fnv(`n${number}`) & 0xffff) === 0) names.push(`n${number}`);
  const hash = keyedHash();
  expect(new Set(names.map((name) => hash(name) & 0xffff)).size).toBeGreaterThan(95);
});

it('A hash depends on each unit of a text, on its length and on the key.', () => {
  const [one, other] = [keyedHash(Buffer.alloc(8)), keyedHash(Buffer.alloc(8, 1))];
  const texts = ['', '\0', '\0\0', 'a', 'b', 'ab', 'ba', 'abc', 'abd', 'xbc', '\u0161bc'];
  expect(new Set(texts.map(one)).size).toBe(texts.length);
  expect(texts.map(one)).toEqual(texts.map(one));
  expect(one('a')).not.toBe(other('a'));
});
