/** The types of voices and their sources, which `src/voices/` implements. */
import type { TtsError } from '../kit/error.ts';
import type { Speech } from './pcm.ts';

/**
 * What a request says about its sound apart from text and voice, named like the options. `undefined` fields are not sent.
 */
export interface Fields {
  /** Hz. */
  readonly sampleRate: number | undefined;
  readonly instructions: string | undefined;
  /** True to send the sound while it is made. The sound is the same, so both ways share the cache. */
  readonly stream?: boolean | undefined;
  /** The URL that a service sends the sound to. */
  readonly callbackUrl?: string | undefined;
}

/** A field that only some voices support; the others concern services only. `src/voices/sources.ts` has a row for each. */
export type Field = Exclude<keyof Fields, 'stream' | 'callbackUrl'>;

/** The gender of a voice, as its maker states it. */
export type Gender = 'woman' | 'man' | 'neutral';

/** One voice of one source. */
export interface Voice {
  readonly source: VoiceSource;
  readonly no: number;
  /** Missing where a service knows a voice by its number only. */
  readonly name: string | undefined;
  /** A BCP 47 tag, or espeak-ng's own, if it is known before the voice speaks. */
  readonly language: string | undefined;
  /** Further language tags that list the voice. */
  readonly alsoSpeaks?: readonly string[] | undefined;
  readonly gender?: Gender | undefined;
  /** A BCP 47 tag: numbers reach the voice as words of that language. Without it, the voice reads digits itself. */
  readonly numbers?: string | undefined;
  /** The name that a voice has in all its languages. */
  readonly style?: string | undefined;
  /** The voices of the same style in all languages, if there are several. */
  readonly siblings?: (() => readonly Voice[]) | undefined;
  /** The group of voices that support the same fields, as a service or a config file calls it: `neo.one`, `Mermish`. */
  readonly kind: string | undefined;
  /** Hz unless a rate is requested, if it is known before the voice speaks. */
  readonly sampleRate: number | undefined;
  /** The fields that the voice supports; `undefined` where only the service knows. */
  readonly supports: readonly Field[] | undefined;
  /**
   * What shapes the sound apart from the voice, the text and the fields: the address of a service, the hash of a model.
   */
  readonly identity: string;
}

/** Returns the voice for keys of cache and batch: by name where numbers differ between machines or runs. */
export function voiceInKeys({ source, no, name }: Voice): string | number | undefined {
  return source.kind === 'engine' || source.kind === 'espeak' ? name : no;
}

/** Returns how a run lists the voice: by number, but by name for espeak-ng, whose numbers differ between machines. */
export function labelOf({ source, no, name }: Voice): string {
  return source.kind === 'espeak' && name !== undefined ? name : String(no);
}

/**
 * Anything that speaks: the built-in voices, espeak-ng, an installed model, a user's program or server, a service. Limit,
 * retry, proof and cache each wrap one source in another.
 */
export interface VoiceSource {
  readonly kind: 'built-in' | 'espeak' | 'engine' | 'service';
  /** The source's name in messages. */
  readonly name: string;
  /** The longest text of a request, in code points. */
  readonly maxChars: number;
  /** The number of texts to request at once. */
  readonly atOnce: number;
  /** Starts what the voice needs, so that its first text does not wait for it. */
  open(voice: Voice): Promise<void>;
  /**
   * Resolves when the sound begins.
   * @returns `undefined` if the sound is sent elsewhere
   * @throws TtsError here, and while the sound is read
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<Speech | undefined>;
  /** True if the sound seems to be in the cache. Looks at names only, so it answers at once; false while the cache is not open. */
  has(utterance: Pick<Utterance, 'text' | 'voice' | 'fields'>): boolean;
  close(): Promise<void>;
}

/** One text for one voice, with its position in the run. */
export interface Utterance {
  /** The cleaned text. */
  readonly text: string;
  /** The text as the input has it. The built-in voices look at its line breaks themselves. */
  readonly written?: string | undefined;
  /** The position of the text in its run. */
  readonly index: number;
  /**
   * The position among the texts of all rows of a batch, or of all clients: the earliest is spoken first. Texts with an
   * order do not fail because of each other.
   */
  readonly order?: number | undefined;
  /** True if another voice speaks the text when this one fails. */
  readonly hasFallback?: boolean | undefined;
  /** True if the sound is played while it is made. */
  readonly isHeardLive?: boolean | undefined;
  readonly voice: Voice;
  readonly fields: Fields;
  report(event: VoiceEvent): void;
}

/** A voice with all that is requested of it, which speaks segments. Equal requests share one object. */
export interface Speaker {
  readonly voice: Voice;
  readonly fields: Fields;
  /** The playback speed; `undefined` for the voice's own. */
  readonly speed: number | undefined;
  /** The longest text of a segment, in code points. */
  readonly maxChars: number;
  /** True if the sound of the text seems to be in the cache. */
  isCached(text: { readonly text: string }): boolean;
}

/** @returns Hz of the speaker's sound, if known before it speaks */
export function rateOf({ fields, voice }: Speaker): number | undefined {
  return fields.sampleRate ?? voice.sampleRate;
}

export type VoiceEvent =
  | ({
      readonly type: 'request';
      /** Names the speaker if no service is asked. */
      readonly by?: string;
      /** Missing if no service is asked. */
      readonly post?: { readonly url: URL; readonly body: string };
    } & Pick<Utterance, 'text' | 'index'>)
  | {
      readonly type: 'answer';
      readonly index: number;
      /** Missing for a built-in voice. */
      readonly status?: number;
      readonly milliseconds: number;
    }
  | { readonly type: 'cache'; readonly index: number; readonly found: 'hit' | 'miss' }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  /**
   * The sound of a voice did not fit its text. `in parts`: the text was then spoken in smaller parts. `again`: it was
   * spoken again. `doubtful`: neither helped, and the sound is used anyway. `late`: later sounds show that it did not fit.
   * `heard`: it was passed on before that was known.
   */
  | {
      readonly type: 'cut';
      readonly message: string;
      readonly how: 'in parts' | 'again' | 'late' | 'heard' | 'doubtful';
    }
  | { readonly type: 'other take' }
  | { readonly type: 'ignored'; readonly instructions: string }
  | { readonly type: 'leftover'; readonly bytes: number };
