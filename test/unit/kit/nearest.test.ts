import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../src/kit/words.ts';

describe('the nearest name', () => {
  it.each([
    ['serev', ['speakers', 'serve'], 'serve'],
    ['zhs', ['bash', 'zsh', 'fish'], 'zsh'],
    ['markdwn', ['text', 'markdown', 'html'], 'markdown'],
    ['mp33', ['wav', 'mp3', 'm4b'], 'mp3'],
    ['.mp33', ['.wav', '.mp3', '.m4b'], '.mp3'],
    ['crori', ['Māori', 'cori'], 'cori'],
    ['germna', ['Greek', 'German'], 'German'],
    ['xx', ['rms', 'slt', 'de'], undefined],
    ['', [], undefined],
  ])('of %s among %j is %s', (name, candidates, nearest) => {
    expect(nearestName(name, candidates)).toBe(nearest);
  });
});
