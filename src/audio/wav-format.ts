import type { PcmFormat } from './pcm.ts';
import { WavError } from './wav-error.ts';

/** As much of a `fmt ` chunk as says something: WAVEFORMATEXTENSIBLE. */
export const FORMAT_BYTES = 40;

const PCM = 0x0001;
const FLOAT = 0x0003;
const EXTENSIBLE = 0xfffe;

/** KSDATAFORMAT_SUBTYPE_*: a format tag of two bytes, then these fourteen. */
const SUBFORMAT_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex');

/** Tags from Microsoft's mmreg.h that a speech service may plausibly send. */
const CODECS: Readonly<Record<number, string>> = {
  2: 'Microsoft ADPCM',
  6: 'A-law',
  7: 'mu-law',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  80: 'MPEG audio',
  85: 'MP3',
  255: 'AAC',
};

const MAX_CHANNELS = 64;
const MAX_SAMPLE_RATE = 768_000;

/**
 * The format that a `fmt ` chunk describes. Its byte rate and block align are not believed: both follow from the
 * rest, and services get them wrong.
 *
 * @param chunk the first {@link FORMAT_BYTES} bytes of the chunk's content, or all where it is shorter
 * @throws WavError `unsupported`
 */
export function parseFormat(chunk: Buffer): PcmFormat {
  if (chunk.length < 16) throw new WavError('unsupported', `WAV with a fmt chunk of ${chunk.length} bytes`);
  const tag = formatTag(chunk);
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  if (tag !== PCM && tag !== FLOAT) {
    throw new WavError('unsupported', `WAV with ${CODECS[tag] ?? `codec ${tag}`} in it instead of PCM`);
  }
  if (channels < 1 || channels > MAX_CHANNELS) {
    throw new WavError('unsupported', `WAV with ${channels} channels`);
  }
  if (sampleRate < 1 || sampleRate > MAX_SAMPLE_RATE) {
    throw new WavError('unsupported', `WAV with a sample rate of ${sampleRate} Hz`);
  }
  if (tag === FLOAT ? bits !== 32 : bits < 1 || bits > 32) {
    throw new WavError('unsupported', `WAV with ${bits}-bit ${tag === FLOAT ? 'float' : 'integer'} samples`);
  }
  return {
    encoding: tag === FLOAT ? 'float' : 'integer',
    sampleRate,
    channels,
    bitsPerSample: Math.ceil(bits / 8) * 8,
  };
}

function formatTag(chunk: Buffer): number {
  const tag = chunk.readUInt16LE(0);
  if (tag !== EXTENSIBLE) return tag;
  if (chunk.length < FORMAT_BYTES) {
    throw new WavError('unsupported', `WAV with an extensible fmt chunk of only ${chunk.length} bytes`);
  }
  if (!chunk.subarray(26, FORMAT_BYTES).equals(SUBFORMAT_TAIL)) {
    throw new WavError(
      'unsupported',
      `WAV with the unknown subformat ${chunk.toString('hex', 24, FORMAT_BYTES)}`,
    );
  }
  return chunk.readUInt16LE(24);
}
