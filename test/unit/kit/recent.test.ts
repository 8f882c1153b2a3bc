import { expect, it } from 'vitest';
import { Recent } from '../../../src/kit/wait.ts';

it('keeps what was used among the last thousand, however often, and forgets the rest.', () => {
  const recent = new Recent<number>();
  recent.set('once', 1);
  for (let use = 0; use < 10_000; use += 1) {
    recent.set('always', 2);
    recent.set(`row ${use}`, use);
    expect(recent.get('always')).toBe(2);
    expect(recent.get(`row ${Math.max(0, use - 900)}`)).toBe(Math.max(0, use - 900));
  }
  expect(recent.get('once')).toBeUndefined();
  expect(recent.get('row 1')).toBeUndefined();
});
