/** Who speaks, and where. `src/voices/` has what implements these types. */
import type { TtsError } from '../kit/error.ts';
import type { Speech } from './pcm.ts';

/** What a request says of its sound, besides text and voice, by the names of the options. What is `undefined` is not sent. */
export interface Fields {
  /** Hz. */
  readonly sampleRate: number | undefined;
  readonly instructions: string | undefined;
  /** The sound is sent while it is made. It sounds the same, so that the cache serves both. */
  readonly stream?: boolean | undefined;
  /** A service sends the sound there. */
  readonly callbackUrl?: string | undefined;
}

/** A field that not every voice follows; the others are for the service alone. `src/voices/sources.ts` has a row for each. */
export type Field = Exclude<keyof Fields, 'stream' | 'callbackUrl'>;

/** One voice of one source. */
export interface Voice {
  readonly source: VoiceSource;
  readonly no: number;
  /** A service may know a voice by its number only. */
  readonly name: string | undefined;
  /** A tag of BCP 47, or espeak-ng's own, as far as it is known before the voice speaks. */
  readonly language: string | undefined;
  /** Further tags that the voice is listed under. */
  readonly alsoSpeaks?: readonly string[] | undefined;
  readonly gender?: 'woman' | 'man' | 'neutral' | undefined;
  /** A tag of BCP 47: the voice gets numbers in words of that language. Without it, it reads them itself. */
  readonly numbers?: string | undefined;
  /** The name that the voice shares with itself in other languages. */
  readonly style?: string | undefined;
  /** The same style in all its languages, where it has several. */
  readonly siblings?: (() => readonly Voice[]) | undefined;
  /** What a service or a config file calls voices that follow the same fields: `neo.one`, `Mermish`. */
  readonly kind: string | undefined;
  /** Hz, where no rate is asked for, and as far as it is known before the voice speaks. */
  readonly sampleRate: number | undefined;
  /** The fields that it follows; `undefined` where only the service knows. */
  readonly follows: readonly Field[] | undefined;
  /** With the number, all that shapes the sound besides text and fields: the address of a service, the hash of a model. */
  readonly identity: string;
}

/** What lists of a run call the voice: its number. Those of espeak-ng differ between machines, so that the name says more. */
export function labelOf({ source, no, name }: Voice): string {
  return source.kind === 'espeak' && name !== undefined ? name : String(no);
}

/**
 * A place that speaks: the built-in voices, espeak-ng, an installed model, a program or a server of the user, a service. Limit,
 * retry, proof and cache are functions from a source to a source.
 */
export interface VoiceSource {
  readonly kind: 'built-in' | 'espeak' | 'engine' | 'service';
  /** Messages call it so. */
  readonly name: string;
  /** The longest text of a request, in code points. */
  readonly maxChars: number;
  /** The number of texts that it is asked for at once. */
  readonly atOnce: number;
  /** Starts what the voice speaks with, so that its first text does not wait for that. */
  open(voice: Voice): Promise<void>;
  /**
   * Resolves with the first of the sound.
   * @returns `undefined` if the sound is sent elsewhere
   * @throws TtsError here, and while the sound is read
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<Speech | undefined>;
  /** True if the sound may be in the cache. It answers at once, as it looks at names only; false while the cache is not open. */
  has(utterance: Pick<Utterance, 'text' | 'voice' | 'fields'>): boolean;
  close(): Promise<void>;
}

/** A text in its turn. */
interface NumberedText {
  /** Clean. */
  readonly text: string;
  /** The same as it stands in the input. The voices of this program look at its lines themselves. */
  readonly written?: string | undefined;
  /** The place of the text among those of its run. */
  readonly index: number;
  /**
   * The place among the texts of all rows of a batch, or of all clients: the earliest goes first. An error then says nothing
   * about the others.
   */
  readonly order?: number | undefined;
  /** True where another voice speaks the text if this one gives up. */
  readonly hasFallback?: boolean | undefined;
  /** True where its sound is heard while it comes. */
  readonly isHeardLive?: boolean | undefined;
}

/** One text for one voice. */
export interface Utterance extends NumberedText {
  readonly voice: Voice;
  readonly fields: Fields;
  report(event: VoiceEvent): void;
}

/** A voice with all that is asked of it: who speaks a segment. Two equal wishes give the same object. */
export interface Speaker {
  readonly voice: Voice;
  readonly fields: Fields;
  /** How fast it is heard; `undefined` is as it speaks. */
  readonly speed: number | undefined;
  /** The longest text of a segment, in code points. */
  readonly maxChars: number;
  /** True if the sound of the text may be in the cache. */
  isKept(text: { readonly text: string }): boolean;
}

/** @returns Hz of its sound, as far as they are known before it speaks */
export function rateOf({ fields, voice }: Speaker): number | undefined {
  return fields.sampleRate ?? voice.sampleRate;
}

export type VoiceEvent =
  | ({
      readonly type: 'request';
      /** It names who speaks, where no service is asked. */
      readonly by?: string;
      /** It is missing where no service is asked. */
      readonly post?: { readonly url: URL; readonly body: string };
    } & Pick<NumberedText, 'text' | 'index'>)
  | {
      readonly type: 'answer';
      readonly index: number;
      /** It is missing for a voice of this program. */
      readonly status?: number;
      readonly milliseconds: number;
    }
  | { readonly type: 'cache'; readonly index: number; readonly found: 'hit' | 'miss' }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  /**
   * The sound of a voice did not fit its text. `in parts`: the text was then spoken in smaller parts. `again`: it was spoken again.
   * `doubtful`: the sound stays as it is, since that did not help.
   */
  | {
      readonly type: 'cut';
      readonly message: string;
      readonly how: 'in parts' | 'again' | 'late' | 'heard' | 'doubtful';
    }
  | { readonly type: 'other take' }
  | { readonly type: 'ignored'; readonly instructions: string }
  | { readonly type: 'leftover'; readonly bytes: number };
