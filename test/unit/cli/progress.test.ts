import { expect, it } from 'vitest';
import { DownloadProgress } from '../../../src/cli/voices-install.ts';

const MB = 1e6;

it('The line of a download has the name, what came, the speed of the last three seconds, and the time that is left.', () => {
  const progress = new DownloadProgress();
  expect(progress.render(80)).toBe('looking');
  progress.note('model.onnx', 0, 600 * MB, 0);
  expect(progress.render(80)).toBe('model.onnx 0.0 of 600.0 MB');
  progress.note('model.onnx', 100 * MB, 600 * MB, 1000);
  expect(progress.render(80)).toBe('model.onnx 100.0 of 600.0 MB 100.0 MB/s 5 s left');
  for (const second of [2, 3, 4, 5, 6])
    progress.note('model.onnx', (100 + second) * MB, 600 * MB, second * 1000);
  expect(progress.render(80)).toBe('model.onnx 106.0 of 600.0 MB 1.0 MB/s 9 min left');
  expect(progress.render(20)).toBe('model.onnx 106.0 of ');
  progress.note('voices.json', 5 * MB, undefined, 7000);
  expect(progress.render(80)).toBe('voices.json 5.0 MB');
});
