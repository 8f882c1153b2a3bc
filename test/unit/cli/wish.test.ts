import { describe, expect, it } from 'vitest';
import { wishOf } from '../../../src/cli/batch.ts';

const where = (field: string) => `p.csv, line 2, column ${field}`;

describe('the wish of a row', () => {
  it('has what the cells say, as strong as options, and nothing else', () => {
    const origin = (field: string) => ({ place: 'option', name: where(field) });
    expect(wishOf({ speaker: 'anna', sampleRate: '8000' }, where)).toEqual({
      speaker: { value: 'anna', origin: origin('speaker') },
      sampleRate: { value: 8000, origin: origin('sampleRate') },
    });
    expect(wishOf({ speaker: '181' }, where).speaker?.value).toBe(181);
    expect(wishOf({}, where)).toEqual({});
  });

  it('names the cell that is not allowed', () => {
    expect(() => wishOf({ sampleRate: 'fast' }, where)).toThrow(
      'p.csv, line 2, column sampleRate: "fast" is not allowed; expected',
    );
  });
});
