/** Checks the reference of a model: a WAV with the voice that the model imitates. */
import { createReadStream, statSync } from 'node:fs';
import { checksumOf } from '../kit/checksum.ts';
import { codeOf, TtsError, usageError } from '../kit/error.ts';
import { frameBytes, secondsOf } from '../sound/pcm.ts';
import { sampleReader } from '../sound/samples.ts';
import { readWav, WavError } from '../sound/wav.ts';

/** Seconds of a reference. A shorter one does not show a voice, and the model uses no more of a longer one. */
const [SHORTEST, LONGEST] = [3, 30];

/** Fraction of full scale. A lower peak means silence, or a microphone that was too far away. */
const LOWEST_PEAK = 0.05;

/**
 * @param who the setting to name in messages: `speakers.me`
 * @throws TtsError (usage) for a file that is not a WAV with one channel, of 3 to 30 s, with a voice that can be heard
 */
export async function checkedReference(
  path: string,
  who: string,
): Promise<{ readonly path: string; readonly sum: string }> {
  const refuse = (what: string) =>
    usageError(
      `${who}: the reference ${path} ${what}`,
      'it has to be a WAV with one channel, 3 to 30 s of one voice that speaks clearly',
    );
  try {
    if (!statSync(path).isFile()) throw refuse('is not a file');
    const { format, pcm } = await readWav(createReadStream(path));
    if (format.channels !== 1) throw refuse(`has ${format.channels} channels`);
    const [read, width] = [sampleReader(format), frameBytes(format)];
    let [bytes, peak] = [0, 0];
    for await (const piece of pcm) {
      const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
      for (let at = 0; at + width <= piece.length; at += width)
        peak = Math.max(peak, Math.abs(read(view, at)));
      bytes += piece.length;
      if (secondsOf(format, bytes) > LONGEST) throw refuse(`is longer than ${LONGEST} s`);
    }
    if (secondsOf(format, bytes) < SHORTEST) throw refuse(`is shorter than ${SHORTEST} s`);
    if (peak < LOWEST_PEAK) throw refuse('is next to silent');
  } catch (error) {
    if (error instanceof WavError) throw refuse(`cannot be read: ${error.message}`);
    if (!(error instanceof TtsError)) throw refuse(`cannot be read (${codeOf(error)})`);
    throw error;
  }
  return { path, sum: await checksumOf(path) };
}
