/** All of a request besides its text. */
export interface RequestFields {
  readonly speaker: number;
  readonly stream?: boolean | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly callbackUrl?: string | undefined;
}

/** Unset fields are not sent. */
export function requestBody(
  text: string,
  { speaker, stream, sampleRate, instructions, callbackUrl }: RequestFields,
): string {
  const config = { use_streaming_response: stream, sample_rate: sampleRate, instructions };
  const configured = Object.values(config).some((value) => value !== undefined);
  return JSON.stringify({
    text,
    speaker_no: speaker,
    config: configured ? config : undefined,
    callback_url: callbackUrl,
  });
}
