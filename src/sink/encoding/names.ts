/** The formats that sound is written in. */
export const ENCODINGS = ['wav', 'mp3', 'alaw', 'ulaw', 's16le'] as const;

export type EncodingName = (typeof ENCODINGS)[number];
