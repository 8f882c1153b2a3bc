import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PcmFormat } from '../../src/sound/pcm.ts';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { complete, head, httpChunk, streamed } from '../support/http-bytes.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const UNKNOWN = 0xffffffff;
const RF64_BYTES = 2 ** 32 + 2 ** 20;

const format = (fields: Partial<PcmFormat>): PcmFormat => ({ ...speechFormat, ...fields });
const whole = (pcm: Uint8Array, of = speechFormat) => complete(plainWav(pcm, undefined, of));
const inPieces = (pcm: Uint8Array, of = speechFormat) => streamed(plainWav(pcm, UNKNOWN, of), 777);

const pcm = sound(6000);
const short = whole(pcm);
const floats = format({ encoding: 'float', bitsPerSample: 32, channels: 2, sampleRate: 44_100 });
const bytes8 = format({ bitsPerSample: 8 });
const wide = format({ bitsPerSample: 24, channels: 3, sampleRate: 48_000 });

/** The answer ends in the middle. */
const torn: Script = async (wire) => {
  await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Transfer-Encoding': 'chunked' }));
  await wire.write(httpChunk(plainWav(pcm, UNKNOWN)));
  wire.end();
};

/** The header of the service promises more than 4 GiB, of which it sends the beginning. */
const huge: Script = async (wire) => {
  const ds64 = Buffer.alloc(36);
  ds64.write('ds64\x1c', 'latin1');
  ds64.writeBigUInt64LE(BigInt(RF64_BYTES + 72), 8);
  ds64.writeBigUInt64LE(BigInt(RF64_BYTES), 16);
  const plain = plainWav(sound(200_000), UNKNOWN);
  const header = Buffer.concat([plain.subarray(0, 12), ds64, plain.subarray(12, 44)]);
  header.write('RF64', 'latin1');
  header.writeUInt32LE(UNKNOWN, 4);
  await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Content-Length': 80 + RF64_BYTES }));
  await wire.write(Buffer.concat([header, plain.subarray(44)]));
};

interface Recorded {
  readonly line: string;
  readonly script: Script;
  readonly output?: string;
  /** The `bytes` of `--json`, where the line has it. */
  readonly told?: number;
  readonly sha256: string;
}

/** What version 0.2.0 wrote. */
const recorded: Readonly<Record<string, Recorded>> = {
  'a file of known size': {
    line: 'tts hi --json -o out.wav',
    script: short,
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a file of unknown size': {
    line: 'tts hi --stream --json -o out.wav',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a pipe of known size': {
    line: 'tts hi --json -o - | cat > out.wav',
    script: short,
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a pipe of unknown size': {
    line: 'tts hi --stream --json -o - | cat > out.wav',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'dc5293f70a9171f7',
  },
  'standard output that is a file': {
    line: 'tts hi --stream --json > out.wav',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'standard output that is a file with something in it': {
    line: '(printf before; tts hi --json; printf after) > out.wav',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'a0985b9c9765d0b4',
  },
  'standard output that appends, of known size': {
    line: 'printf before > out.wav; tts hi --json >> out.wav',
    script: whole(sound(999), bytes8),
    told: 1044,
    sha256: 'ff892b28cb5fd495',
  },
  'standard output that appends, of unknown size': {
    line: 'printf before > out.wav; tts hi --stream --json >> out.wav',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'db6c347ac5fd662d',
  },
  'a named pipe': {
    line: 'mkfifo fifo; cat fifo > out.wav & tts hi --json -o fifo; wait',
    script: short,
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a device': {
    line: 'tts hi --json -o /dev/null; : > out.wav',
    script: short,
    told: 6044,
    sha256: 'e3b0c44298fc1c14',
  },
  'a file besides a player': {
    line: 'tts hi --stream --json -o out.wav --player "$PLAYER"',
    script: inPieces(pcm),
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a player besides a file': {
    line: 'tts hi --stream --json -o out.wav --player "$PLAYER"',
    script: inPieces(pcm),
    output: 'plays.cjs.heard',
    told: 6044,
    sha256: 'dc5293f70a9171f7',
  },
  'a player alone': {
    line: 'tts hi --json --player "$PLAYER"',
    script: short,
    output: 'plays.cjs.heard',
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a player of files': {
    line: 'tts hi --stream --json --player "$FILE_PLAYER"',
    script: inPieces(pcm),
    output: 'readsFile.cjs.heard',
    told: 6044,
    sha256: 'e86993175cea37f8',
  },
  'a long file': {
    line: 'tts hi --stream --json -o out.wav',
    script: inPieces(sound(3_000_000)),
    told: 3_000_044,
    sha256: 'b488c68778135379',
  },
  'a long pipe': {
    line: 'tts hi --json | cat > out.wav',
    script: whole(sound(3_000_000)),
    told: 3_000_044,
    sha256: 'b488c68778135379',
  },
  'parts with pauses between them': {
    line: `printf 'One.\\n\\nTwo.' | tts --paragraph-pause 0.25 --json -o out.wav`,
    script: short,
    told: 23_070,
    sha256: 'ab65b3e78dd17b60',
  },
  'a file of floats, stereo': {
    line: 'tts hi --json -o out.wav',
    script: whole(sound(8000), floats),
    told: 8058,
    sha256: '1bff363a16af0f3d',
  },
  'a pipe of floats, stereo': {
    line: 'tts hi --stream --json | cat > out.wav',
    script: inPieces(sound(8000), floats),
    told: 8058,
    sha256: '34d07a0520d6a3a6',
  },
  'a file of 8 bits and odd length': {
    line: 'tts hi --stream --json -o out.wav',
    script: inPieces(sound(1001), bytes8),
    told: 1046,
    sha256: 'a896d8e74397d9b9',
  },
  'a pipe of 8 bits and odd length': {
    line: 'tts hi --json | cat > out.wav',
    script: whole(sound(1001), bytes8),
    told: 1046,
    sha256: 'a896d8e74397d9b9',
  },
  'a file of 24 bits, three channels': {
    line: 'tts hi --json -o out.wav',
    script: whole(sound(9009), wide),
    told: 9054,
    sha256: 'd19d29f012d4b10e',
  },
  'a pipe of 24 bits, three channels': {
    line: 'tts hi --json | cat > out.wav',
    script: whole(sound(9009), wide),
    told: 9054,
    sha256: 'd19d29f012d4b10e',
  },
  'the beginning of a pipe past 4 GiB': {
    line: 'tts hi --stream | head -c 100000 > out.wav',
    script: huge,
    sha256: 'd8fe48b045c83c9f',
  },
  'what came before an error': {
    line: 'tts hi --stream --keep-partial -o out.wav',
    script: torn,
    output: 'out.partial.wav',
    sha256: 'e86993175cea37f8',
  },
  'a row of a batch': {
    line: `printf 'id,text\\na,Hello\\n' > rows.csv; tts batch rows.csv -o '{id}.wav'`,
    script: short,
    output: 'a.wav',
    sha256: 'e86993175cea37f8',
  },
};

describe('the bytes that version 0.2.0 wrote are written', () => {
  it.each(Object.entries(recorded))('%s', async (_, { line, script, output = 'out.wav', ...before }) => {
    const box = new Sandbox();
    const server = await serveBytes(script);
    const env = named(server.url, {
      PLAYER: fakePlayer(box, 'plays').command,
      FILE_PLAYER: `${fakePlayer(box, 'readsFile').command} {}`,
    });
    const { stdout, stderr } = await box.shell(line, { env });
    const told = /"bytes":\s*(\d+)/.exec(`${stdout}${stderr}`)?.[1];
    const sha256 = createHash('sha256').update(box.read(output)).digest('hex').slice(0, 16);
    expect({ ...(told && { told: Number(told) }), sha256 }).toEqual(before);
  });
});
