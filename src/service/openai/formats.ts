import type { PcmFormat } from '../../audio/pcm.ts';
import type { EncodingName } from '../../sink/encoding/names.ts';

interface Row {
  readonly encoding: EncodingName;
  readonly mediaType: string;
  /** Hz. The interface promises it for bare samples; other formats keep the rate of the voice. */
  readonly sampleRate?: number;
}

/** The values of `response_format`, with the encodings that serve them. */
export const FORMATS = {
  mp3: { encoding: 'mp3', mediaType: 'audio/mpeg' },
  wav: { encoding: 'wav', mediaType: 'audio/wav' },
  pcm: { encoding: 's16le', mediaType: 'audio/pcm', sampleRate: 24_000 },
  flac: { encoding: 'flac', mediaType: 'audio/flac' },
  opus: { encoding: 'opus', mediaType: 'audio/ogg' },
  aac: { encoding: 'aac', mediaType: 'audio/aac' },
} as const satisfies Record<string, Row>;

export type ResponseFormat = keyof typeof FORMATS;

export const RESPONSE_FORMATS = Object.keys(FORMATS) as ResponseFormat[];

/** @returns the format of the samples that go into the encoding */
export function formatFor({ sampleRate }: Row, format: PcmFormat): PcmFormat {
  return sampleRate === undefined ? format : { ...format, sampleRate };
}
