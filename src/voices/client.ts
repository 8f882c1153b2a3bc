import type { Speech } from '../audio/pcm.ts';
import type { RequestFields } from '../client/request-body.ts';
import type { NumberedText } from '../client/retry.ts';
import type { Trying } from '../client/tries.ts';

export interface ClientOptions extends Omit<Trying, 'name' | 'ask' | 'explain'> {
  /** The largest number of texts that are spoken at once. */
  readonly atOnce: number;
  readonly timeoutMs: number;
  /** The version of Node, as the host has it. */
  readonly runtime: string;
}

/** What some voices speak through: a service, or an engine of this program. They share its limit. */
export interface Client {
  /**
   * @returns `undefined` if the sound goes elsewhere
   * @throws TtsError, here and while the sound is read
   */
  speak(text: NumberedText, fields: RequestFields, signal: AbortSignal): Promise<Speech | undefined>;
  close(): Promise<void>;
}
