import { describe, expect, it } from 'vitest';
import { whileOpen } from '../../../src/speech/connection.ts';

/** Two things of which the second, opened within the first, cannot be closed in peace. */
function nested(use: () => Promise<string>) {
  const closed: string[] = [];
  const outer = { close: async () => void closed.push('outer') };
  const inner = {
    async close() {
      closed.push('inner');
      throw new Error('closing');
    },
  };
  return { closed, result: whileOpen(outer, () => whileOpen(inner, use)) };
}

describe('what was opened', () => {
  it('is closed once its use is over, the outer one also where the inner one fails at that', async () => {
    const { closed, result } = nested(async () => 'used');
    await expect(result).rejects.toThrow('closing');
    expect(closed).toEqual(['inner', 'outer']);
  });

  it('is closed where its use fails, which is what is told', async () => {
    const { closed, result } = nested(() => Promise.reject(new Error('using')));
    await expect(result).rejects.toThrow('using');
    expect(closed).toEqual(['inner', 'outer']);
  });
});
