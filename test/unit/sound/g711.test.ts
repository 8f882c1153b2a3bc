import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { lawTable } from '../../../src/sound/encode/telephone.ts';
import { isThere } from '../../support/programs.ts';

it.for(['alaw', 'ulaw'] as const)('%s is that of another decoder, to half a step.', async (law, { skip }) => {
  skip(!isThere('ffmpeg'), 'no ffmpeg here');
  const table = lawTable(law);
  const samples = Int16Array.from({ length: 65_536 }, (_, at) => at - 32_768);
  const input = Uint8Array.from(samples, (sample) => table[sample & 0xffff] ?? 0);
  const kind = law === 'alaw' ? 'alaw' : 'mulaw';
  const args = ['-v', 'error', '-f', kind, '-ar', '8000', '-i', '-', '-f', 's16le', '-'];
  const bytes = execFileSync('ffmpeg', args, { input });
  const back = new Int16Array(bytes.buffer, bytes.byteOffset, samples.length);
  const worst = samples.map((sample, at) => Math.abs(sample - (back[at] ?? 0)) - Math.abs(sample) / 31);
  // The smallest step of A-law has 16 values; the loudest samples of µ-law are clipped.
  expect(Math.max(...worst)).toBeLessThan(9);
  const sound = samples.reduce((sum, sample) => sum + sample ** 2, 0);
  const noise = samples.reduce((sum, sample, at) => sum + (sample - (back[at] ?? 0)) ** 2, 0);
  expect(10 * Math.log10(sound / noise)).toBeGreaterThan(36);
});
