import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const ffmpeg = isThere('ffmpeg');
/** Fewer than 1024 make an `.aac` that nobody knows as one. */
const FRAMES = 20_000;

it('A batch writes each format that the endings name, and proves the next time that nothing changed.', async () => {
  const { url, requests } = await serveBytes(complete(plainWav(sound(2 * FRAMES))));
  const box = new Sandbox();
  const ofFfmpeg = ['b.m4b', 'c.opus', 'd.flac', 'f.m4a', 'g.ogg', 'h.aac'];
  const files = ['a.mp3', 'e.wav', ...(ffmpeg ? ofFfmpeg : [])].sort();
  box.file('p.csv', `id,text\n${files.map((file) => `${file},The text of ${file[0]}.\n`).join('')}`);
  const args = ['batch', 'p.csv', '-o', '{id}'];
  const made = await box.tts(args, { env: named(url) });
  expect(made).toMatchObject({ status: 0 });
  expect(box.list()).toEqual([...files, 'p.csv', 'tts-batch.jsonl']);
  for (const file of ffmpeg ? files : []) {
    const more = decoded(box.path(file), 22_050).length - FRAMES;
    expect(more, file).toBeGreaterThanOrEqual(0);
    expect(more, file).toBeLessThan(/\.(?:m4[ab]|aac|ogg)$/.test(file) ? 1024 : 1);
  }

  const asked = () => requests.filter(({ method }) => method === 'POST');
  expect(asked()).toHaveLength(files.length);
  const again = await box.tts(args, { env: named(url) });
  expect(again.stderr).toContain(`0 made, ${files.length} unchanged`);
  expect(asked()).toHaveLength(files.length);
});
