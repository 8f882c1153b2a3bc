import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wav, wavHeader } from '../../../src/sound/encode/wav.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { plainWav, sound, speechFormat } from './wav-builder.ts';

const format = speechFormat;
const { signal } = new AbortController();

/** A file that is open for writing. */
function file() {
  const path = join(emptyFolder(), 'out');
  const fd = openSync(path, 'wx+');
  onTestFinished(() => closeSync(fd));
  return { fd, path, name: 'out' };
}

function read(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, 0));
}

describe('a recording', () => {
  it('has exact sizes at the end, after what the file holds already, whatever was known before', async () => {
    const pcm = sound(1001);
    for (const bytes of [undefined, 1001]) {
      const out = file();
      writeSync(out.fd, 'before');
      const track = untagged({ format, bytes, pcm: pieces(pcm) });
      const written = await wav.record({ ...out, start: 6 }, track, signal);
      expect(written).toEqual({ bytes: 1001, writtenBytes: 1046 });
      expect(read(out.fd, 2000)).toEqual(Buffer.concat([Buffer.from('before'), plainWav(pcm)]));
    }
  });

  it('that cannot be put right later says at its beginning what is known by then', async () => {
    const pcm = sound(1000);
    for (const bytes of [undefined, 1000]) {
      const out = file();
      const track = untagged({ format, bytes, pcm: pieces(pcm) });
      await wav.record({ ...out, start: undefined }, track, signal);
      expect(read(out.fd, 2000)).toEqual(Buffer.concat([wavHeader(format, bytes), pcm]));
    }
  });
});

async function* pieces(pcm: Uint8Array) {
  yield pcm.subarray(0, 400);
  yield pcm.subarray(400);
}
