/** The formats that sound is written in. */
export const ENCODINGS = [
  'wav',
  'mp3',
  'm4b',
  'm4a',
  'aac',
  'opus',
  'ogg',
  'flac',
  'alaw',
  'ulaw',
  's16le',
] as const;

export type EncodingName = (typeof ENCODINGS)[number];
