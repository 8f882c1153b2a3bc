import type { ClientEvent, NumberedText, RetryPolicy } from '../kit/retry.ts';
import type { Setting } from '../options/load.ts';
import type { Speech } from '../sound/pcm.ts';
import type { KeptShape } from './cache.ts';
import type { Trying } from './resilient.ts';
import type { ServiceSpeaker } from './speakers.ts';

/** All that decides on the sound of a voice, besides the text. */
export interface VoiceShape extends KeptShape {
  /** True if no rate was asked for. The sound has the rate of the engine then, and `sampleRate` only stands for it. */
  readonly hasOwnRate?: boolean;
  /** It is heard at another speed, which the sound that is kept does not have. */
  readonly speed?: number | undefined;
  /** It stands for the `stream` of the settings. Sound that is kept serves both. */
  readonly stream?: boolean | undefined;
}

/** A voice speaks the texts of a run. Two wishes for the same voice give the same object. */
export interface Voice {
  /** The name of the voice, or its number where it has none. */
  readonly label: string;
  /** What the voice is called; `undefined` for one of a service, which has a number. */
  readonly name: string | undefined;
  /** A tag of BCP 47, as far as it is known before the voice speaks. */
  readonly language: string | undefined;
  readonly kind: 'service' | 'engine' | 'espeak' | 'built-in';
  /** The longest text of a request, in code points. */
  readonly maxChars: number;
  /** Hz, as far as it is known before the voice speaks. */
  readonly sampleRate: number | undefined;
  /** How fast it is heard; `undefined` is as it speaks. */
  readonly speed: number | undefined;
  /** Texts that it speaks at once. */
  readonly atOnce: number;
  readonly shape: VoiceShape;
  /**
   * @returns `undefined` if the service sends the sound elsewhere
   * @throws TtsError, here and while the sound is read
   */
  speak(text: NumberedText, signal: AbortSignal): Promise<Speech | undefined>;
  /** True if the sound of the text may be in the cache; false while the cache is not open. */
  isKept(text: Omit<NumberedText, 'index'>): boolean;
  /** The body of a request as it is sent. */
  request(text: string): string;
}

/** A voice as somebody names it. The settings of the run fill in the rest. */
export interface Wish {
  readonly speaker?: Setting<string | number> | undefined;
  readonly sampleRate?: Setting<number> | undefined;
  readonly instructions?: Setting<string> | undefined;
  readonly speed?: Setting<number> | undefined;
}

/** Later voices of a large engine have no number. */
export interface ListedVoice extends Omit<ServiceSpeaker, 'no'> {
  readonly no?: number;
  /** The name of the engine that brings it. */
  readonly engine?: string | undefined;
}

export type VoiceEvent =
  | ClientEvent
  | {
      readonly type: 'cache';
      readonly index: number;
      readonly found: 'hit' | 'miss';
    };

/** All voices of a run. They share connections, limits and the cache. */
export interface Voices extends AsyncDisposable {
  /** @throws TtsError (usage) for an unknown speaker, or one that cannot do what is wished */
  of(wish?: Wish): Promise<Voice>;
  /**
   * A further voice of a text. It may be one of this program or its engines besides the service of the run, and takes only
   * those settings of the run that it can do.
   * @param mayAskService false where the service of the run is not meant: then a number is one of this program
   * @throws TtsError (usage) for an unknown speaker
   */
  cast(speaker: Setting<string | number>, mayAskService?: boolean): Promise<Voice>;
  /** @param shape of a voice that was found before, or of a listed speaker */
  as(shape: VoiceShape): Voice;
  /**
   * @returns `undefined` for a service without a list
   * @throws TtsError
   */
  list(policy?: Partial<RetryPolicy>): Promise<readonly ListedVoice[] | undefined>;
}

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
