/** A voice as the service numbers it. */
export interface Speaker {
  readonly no: number;
  readonly name: string;
  /** `neo.one` speakers honour `sample_rate`, `Mermish` speakers honour `instructions`. */
  readonly kind: 'neo.one' | 'Mermish';
  /** BCP 47, or what espeak-ng has instead. */
  readonly language: string;
  /** The rate in Hz at which the voice is made, before any resampling. */
  readonly sampleRate: number;
}

/** How a voice is to be used; 1 is as it is. */
export interface Style {
  /** Speed: 2 is twice as fast. 0.25 to 4. */
  readonly rate: number;
  /** Factor of the fundamental frequency. 0.5 to 2. */
  readonly pitch: number;
  /** Factor of the amplitude. 0.1 to 2. */
  readonly loudness: number;
  /** Factor of the silence between sentences. 0 to 5. */
  readonly pause: number;
}

export interface Utterance {
  readonly text: string;
  readonly speaker: Speaker;
  /** Hz of the samples wanted. */
  readonly sampleRate: number;
  readonly style: Style;
  /** Never refused because too many wait, and not one of them; whoever asks for it keeps their number small. */
  readonly isPatient?: boolean;
}

/** What speaks: 16-bit mono samples for a text. The service owns the port; flite and espeak-ng stand behind it. */
export interface Engine {
  readonly speakers: readonly Speaker[];
  /** Workers that are alive and ready for work. */
  readonly workers: number;
  /** Utterances that wait until a worker has time for their first segment. */
  readonly queued: number;
  /**
   * Yields samples as each part of the text is ready; an early `return` or the signal stops the synthesis. Nothing
   * happens before the first part is asked for, and refusals come with it: that of a full queue before the event loop
   * turns, so that who hears nothing by then has been admitted.
   *
   * @throws Refusal 422 `unsupported_text` when the text has nothing that the voice can speak, 503 `busy` when the
   * queue is full and it is not patient, 500 `engine_failed` when a worker died; the reason of the signal
   */
  speak(utterance: Utterance, signal: AbortSignal): AsyncIterable<Int16Array>;
  close(): Promise<void>;
}
