/** The sound of one request, streamed or stored. */
import { EngineError, type EngineFault, OWN_RATE } from '../engines/engine.ts';
import { NamelessFile } from '../kit/descriptor.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { chained, yieldToEventLoop } from '../kit/wait.ts';
import { wavHeader } from '../sound/encode/wav.ts';
import { bareFormat, type PcmFormat, silentPieces } from '../sound/pcm.ts';

/** The sound that an engine makes for one request. */
export interface Sound {
  readonly format: PcmFormat;
  /** True if the engine is sure to speak the text; false if it may refuse it before its first samples. */
  readonly isSure: boolean;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * Waits for the first samples if the engine may still refuse the text, so that the response can be an error.
 * @param onSound called when the first samples arrive
 * @throws the error of an engine before its first samples
 */
export async function awaitStart(
  { isSure, pcm }: Sound,
  onSound: () => void,
): Promise<AsyncIterable<Uint8Array>> {
  const pieces = pcm[Symbol.asyncIterator]();
  const first = pieces.next();
  first.catch(() => {}); // prevents an unhandled rejection if sure sound is never read
  await (isSure ? Promise.race([first, yieldToEventLoop()]) : first);
  async function* all() {
    const { done, value } = await first;
    if (!done) onSound();
    yield* chained(done ? [] : [value], pieces);
  }
  return all();
}

/** Every voice reads these. */
const ENGLISH = /[a-z0-9]/i;
/** Voices of espeak-ng spell foreign letters, but not foreign digits. */
const OTHER = /\p{L}/u;

/** Characters that start a terminal control sequence, whose letters are not spoken. */
const SEQUENCES = ['\u001b', '\u009b'];

/**
 * @param language the language of the voice
 * @returns true if a voice of this language is sure to speak the text; false if only the engine knows
 */
export function isSurelySpeakable(text: string, language = 'und'): boolean {
  if (language === 'und' || SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

const SILENCE_SECONDS = 0.1;

/** True for a text with a letter or a digit of any script, whether or not the voice at hand can read it. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * Replaces a text without letters and digits that the voice cannot read by a short silence: clients test a key with a single
 * full stop, and send an emoji or three dots of a chat.
 * @param onUnreadable called if the voice cannot read the text; with it, a text with words becomes silence, too
 */
export async function soundOrSilence(
  text: string,
  sound: Promise<Sound>,
  onUnreadable?: (error: unknown) => void,
): Promise<Sound> {
  if (hasWords(text) && !onUnreadable) return sound;
  const assertUnreadable = (error: unknown) => {
    if (!isUnreadable(error)) throw error;
    onUnreadable?.(error);
  };
  const { format, pcm, isSure } = await sound.catch((error: unknown) => {
    assertUnreadable(error);
    return shortSound();
  });
  return { format, isSure, pcm: orSilence(pcm, format, assertUnreadable) };
}

export function shortSound(): Sound {
  const format = bareFormat(OWN_RATE);
  return { format, isSure: true, pcm: shortSilence(format) };
}

async function* orSilence(
  pcm: AsyncIterable<Uint8Array>,
  format: PcmFormat,
  assertUnreadable: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pcm;
  } catch (error) {
    assertUnreadable(error);
    yield* shortSilence(format);
  }
}

async function* shortSilence(format: PcmFormat): AsyncGenerator<Uint8Array> {
  yield* silentPieces(format, SILENCE_SECONDS);
}

function isUnreadable(error: unknown): boolean {
  const kind = failureOf(error)?.kind;
  return kind === 'unsupported text' || kind === 'rejected';
}

/** The error for a text in which there is nothing to speak. */
export const BLANK = usageError('There is nothing to speak in the text', 'send a text with words');

const FAULT_OF_EXIT_CODE: Partial<Readonly<Record<ExitCode, EngineFault>>> = {
  [ExitCode.usage]: 'unsupported text',
  [ExitCode.timeout]: 'late',
  [ExitCode.connection]: 'unreachable',
  [ExitCode.output]: 'no storage',
};

/** @returns the error of an engine or a service; `undefined` for a defect of this program */
export function failureOf(error: unknown): EngineError | undefined {
  if (error instanceof EngineError) return error;
  if (!(error instanceof TtsError)) return undefined;
  const { message, exitCode, retry, concernsThisTextOnly, cause } = error;
  if (cause instanceof EngineError) return cause;
  if (retry?.busy) return new EngineError('busy', message, { status: retry.status, retryAfter: retry.after });
  const fault = FAULT_OF_EXIT_CODE[exitCode] ?? (concernsThisTextOnly ? 'rejected' : 'refused');
  return new EngineError(fault, message, { status: retry?.status });
}

/** Complete sound, which can be read several times. */
export interface StoredSound {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  dispose(): void;
}

/** Bytes of one sound kept in memory; longer sound goes to a file. */
const MAX_BYTES_OF_ONE = 4 * 2 ** 20;

/** Bytes of all stored sound kept in memory; beyond that, further sound goes to files. */
const MAX_BYTES_OF_ALL = 64 * 2 ** 20;

let inMemory = 0;

/** Stores the whole sound. @throws TtsError (output) if the file cannot be written; the errors of the sound */
export async function storeSound(sound: AsyncIterable<Uint8Array>): Promise<StoredSound> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let file: NamelessFile | undefined;
  const forget = () => {
    inMemory -= pieces.reduce((sum, { length }) => sum + length, 0);
    pieces = [];
  };
  const dispose = () => {
    forget();
    file?.[Symbol.dispose]();
  };
  try {
    for await (const piece of sound) {
      bytes += piece.length;
      if (file) {
        file.write(piece);
        continue;
      }
      pieces.push(piece);
      inMemory += piece.length;
      if (bytes <= MAX_BYTES_OF_ONE && inMemory <= MAX_BYTES_OF_ALL) continue;
      file = new NamelessFile('sound');
      for (const each of pieces) file.write(each);
      forget();
    }
    file?.flush();
  } catch (error) {
    dispose();
    throw error;
  }
  async function* read() {
    if (file) yield* file.read(1);
    else yield* pieces;
  }
  return { bytes, read, dispose };
}

/** Stores the whole sound as a WAV with exact sizes in its header. */
export async function storeWav({ format, pcm }: Sound): Promise<StoredSound> {
  const stored = await storeSound(pcm);
  const header = wavHeader(format, stored.bytes);
  return { ...stored, bytes: header.length + stored.bytes, read: () => withHeader(header, stored.read()) };
}

/** Yields a header, then the samples. */
export async function* withHeader(
  header: Uint8Array,
  pcm: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield header;
  yield* pcm;
}
