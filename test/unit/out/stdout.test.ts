import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { stdoutSink } from '../../../src/out/pipe.ts';
import { wav } from '../../../src/sound/encode/wav.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { plainWav, sound, speechFormat } from '../sound/wav-builder.ts';

const pcm = sound(1000);

function speech() {
  const samples = async function* () {
    yield pcm;
  };
  return untagged({ format: speechFormat, bytes: undefined, pcm: samples() });
}

/** A file that holds some bytes, opened as a shell does for `>`. */
function file(content: string) {
  const path = join(emptyFolder(), 'out');
  const fd = openSync(path, 'w');
  onTestFinished(() => closeSync(fd));
  writeSync(fd, content);
  return { fd, path };
}

describe('standard output', () => {
  it('that is a terminal gets no audio', () => {
    const { fd } = file('');
    expect(() => stdoutSink({ fd, isTTY: true }, wav)).toThrow(
      expect.objectContaining({ exitCode: ExitCode.output }),
    );
  });

  it('that is a file holds the WAV after what stands there, and stays open for more', async () => {
    const { fd, path } = file('before');
    const sink = stdoutSink({ fd, isTTY: false }, wav);
    expect(sink.isLive).toBe(false);
    await sink.write(speech(), new AbortController().signal);
    writeSync(fd, 'after');
    const all = Buffer.concat([Buffer.from('before'), plainWav(pcm), Buffer.from('after')]);
    expect(readFileSync(path)).toEqual(all);
  });

  it.each([
    ['a file', () => openSync(file('').path, 'w')],
    ['a device', () => openSync('/dev/null', 'w')],
  ])('without sound still takes words: %s', async (_, open) => {
    const fd = open();
    onTestFinished(() => closeSync(fd));
    await stdoutSink({ fd, isTTY: false }, wav).discard();
    expect(fstatSync(fd).mode).toBeGreaterThan(0);
    expect(writeSync(fd, 'words')).toBe(5);
  });
});
