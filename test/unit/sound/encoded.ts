import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processHost } from '../../../src/kit/host.ts';
import { fileSink } from '../../../src/out/file.ts';
import { encodingOf } from '../../../src/sound/encode/encodings.ts';
import type { Chapter, PcmFormat, Tags, Track } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/** A tone of 330 Hz. */
export function tone(frames: number, { sampleRate, channels } = FORMAT): Buffer {
  const samples = Int16Array.from({ length: frames * channels }, (_, at) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 330 * Math.floor(at / channels)) / sampleRate)),
  );
  return Buffer.from(samples.buffer);
}

export interface Sound {
  readonly pcm?: Buffer;
  readonly format?: PcmFormat;
  readonly tags?: Tags;
  readonly chapters?: readonly Chapter[];
  /** The sound ends with this error. */
  readonly error?: Error;
}

export function trackOf({
  pcm = tone(30_000),
  format = FORMAT,
  tags = {},
  chapters = [],
  error,
}: Sound): Track {
  async function* pieces() {
    for (let at = 0; at < pcm.length; at += 9600) yield pcm.subarray(at, at + 9600);
    if (error) throw error;
  }
  return { format, bytes: undefined, pcm: pieces(), tags, chapters: () => chapters };
}

interface How {
  /** The folder of ffmpeg. */
  readonly path?: string;
  readonly timeoutMs?: number;
  readonly warn?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Writes a file as `-o` does.
 * @returns its folder
 */
export async function write(name: string, sound: Sound = {}, how: How = {}): Promise<string> {
  const folder = emptyFolder();
  await writeInto(folder, name, sound, how);
  return folder;
}

export async function writeInto(
  folder: string,
  name: string,
  sound: Sound = {},
  how: How = {},
): Promise<void> {
  const host = processHost(process);
  const { path = process.env.PATH ?? '', timeoutMs = 20_000, signal = new AbortController().signal } = how;
  const encoding = encodingOf(name, {
    programs: { env: { ...process.env, PATH: path }, platform: process.platform },
    timeoutMs,
    ...(how.warn && { warn: how.warn }),
  });
  const file = { name, path: join(folder, name), old: undefined, clobber: true, writer: host };
  await encoding.assertReady();
  await fileSink(file, encoding, false).write(trackOf(sound), signal);
}

/**
 * Makes a program `ffmpeg`.
 * @param listing what it does when it is asked for its encoders
 * @param body the rest of the script of sh; `$FFMPEG` is the true one
 * @returns its folder
 */
export function fakeFfmpeg(body: string, listing = 'exec "$FFMPEG" "$@"'): string {
  const folder = join(emptyFolder(), 'bin');
  mkdirSync(folder);
  const script = `#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin
FFMPEG=$(command -v ffmpeg)
case "$*" in *-encoders*) ${listing};; esac
${body}
`;
  writeFileSync(join(folder, 'ffmpeg'), script);
  chmodSync(join(folder, 'ffmpeg'), 0o755);
  return folder;
}

export function list(folder: string): string[] {
  return readdirSync(folder).sort();
}
