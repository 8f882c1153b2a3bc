import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { processHost } from '../../../src/kit/host.ts';
import { fileSink } from '../../../src/out/file.ts';
import { tee } from '../../../src/out/tee.ts';
import type { Encoding } from '../../../src/sound/encode/encoding.ts';
import type { Track } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { collect } from '../sound/body.ts';
import { speechFormat } from '../sound/wav-builder.ts';

/** Writes the samples, then the tags and chapters as JSON, as a format does that has them at its end. */
const chaptersLast: Encoding = {
  name: 'chapters-last',
  assertReady: async () => {},
  async record({ path }, track) {
    const pcm = await collect(track.pcm);
    const bytes = Buffer.concat([pcm, Buffer.from(JSON.stringify([track.tags, track.chapters()]))]);
    writeFileSync(path, bytes);
    return { bytes: pcm.length, writtenBytes: bytes.length };
  },
};

const chapter = { title: 'One', level: 1, start: 0, end: 2 };

/** A track whose chapter is known when its sound has ended. */
function track(error?: Error): Track {
  const chapters: (typeof chapter)[] = [];
  async function* pcm() {
    yield Buffer.from('abcd');
    chapters.push(chapter);
    if (error) throw error;
  }
  return {
    format: speechFormat,
    bytes: undefined,
    pcm: pcm(),
    tags: { title: 'A book' },
    chapters: () => chapters,
  };
}

const LAST = JSON.stringify([{ title: 'A book' }, [chapter]]);
const { signal } = new AbortController();

function setUp(keepsPartial: boolean) {
  const cwd = emptyFolder();
  const file = {
    name: 'out.last',
    path: join(cwd, 'out.last'),
    old: undefined,
    clobber: true,
    writer: processHost(process),
  };
  return { cwd, sink: fileSink(file, { encoding: chaptersLast, keepsPartial }) };
}

describe('a file', () => {
  it.each([true, false])(
    'gets tags, and the chapters at the end; keeps what is partial: %j',
    async (keepsPartial) => {
      const { cwd, sink } = setUp(keepsPartial);
      const delivery = await sink.write(track(), signal);
      expect(delivery).toEqual({ bytes: 4, writtenBytes: 4 + LAST.length, readerLeft: false });
      expect(readFileSync(join(cwd, 'out.last'), 'utf8')).toBe(`abcd${LAST}`);
    },
  );

  it('gets them besides another sink', async () => {
    const [one, other] = [setUp(false), setUp(false)];
    await tee(one.sink, other.sink).write(track(), signal);
    for (const { cwd } of [one, other])
      expect(readFileSync(join(cwd, 'out.last'), 'utf8')).toBe(`abcd${LAST}`);
  });

  it('keeps what came before an error under another name, where that is asked for', async () => {
    const { cwd, sink } = setUp(true);
    const error = new TtsError('broken', { exitCode: ExitCode.connection, hint: 'mend it' });
    await expect(sink.write(track(error), signal)).rejects.toMatchObject({
      message: 'broken',
      exitCode: ExitCode.connection,
      hint: 'mend it; out.partial.last has the audio before it',
    });
    expect(readdirSync(cwd)).toEqual(['out.partial.last']);
    expect(readFileSync(join(cwd, 'out.partial.last'), 'utf8')).toBe(`abcd${LAST}`);
  });

  it('leaves nothing after an error otherwise', async () => {
    const { cwd, sink } = setUp(false);
    await expect(sink.write(track(new Error('broken')), signal)).rejects.toThrow('broken');
    expect(readdirSync(cwd)).toEqual([]);
  });
});
