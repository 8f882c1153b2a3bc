import { expect, it } from 'vitest';
import { decoded } from '../support/decoded.ts';
import { isThere } from '../support/programs.ts';
import { serveRows, wavOf } from '../support/row-service.ts';
import { named, Sandbox } from '../support/run.ts';

const ffmpeg = isThere('ffmpeg');

it('A batch writes each format that the endings name, and proves the next time that nothing changed.', async () => {
  const { url, requests } = await serveRows();
  const box = new Sandbox();
  const ofFfmpeg = ['b.m4b', 'c.opus', 'd.flac', 'f.m4a', 'g.ogg', 'h.aac'];
  const files = ['a.mp3', 'e.wav', ...(ffmpeg ? ofFfmpeg : [])].sort();
  const textOf = (file: string) => `The text of ${file[0]}.`;
  box.file('p.csv', `id,text\n${files.map((file) => `${file},${textOf(file)}\n`).join('')}`);
  const args = ['batch', 'p.csv', '-o', '{id}'];
  const made = await box.tts(args, { env: named(url) });
  expect(made).toMatchObject({ status: 0 });
  expect(box.list()).toEqual([...files, 'p.csv', 'tts-batch.jsonl']);
  for (const file of ffmpeg ? files : []) {
    const frames = (wavOf(textOf(file)).length - 44) / 2;
    const more = decoded(box.path(file), 22_050).length - frames;
    expect(more, file).toBeGreaterThanOrEqual(0);
    expect(more, file).toBeLessThan(/\.(?:m4[ab]|aac|ogg)$/.test(file) ? 1024 : 1);
  }

  expect(requests).toHaveLength(files.length);
  const again = await box.tts(args, { env: named(url) });
  expect(again.stderr).toContain(`0 made, ${files.length} unchanged`);
  expect(requests).toHaveLength(files.length);
});
