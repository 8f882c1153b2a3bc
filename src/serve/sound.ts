/** The sound of one request, while it is made or complete. */
import { EngineError, type EngineFault, OWN_RATE } from '../engines/engine.ts';
import { NamelessFile } from '../kit/descriptor.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { chained, yieldToEventLoop } from '../kit/wait.ts';
import { wavHeader } from '../sound/encode/wav.ts';
import { bareFormat, type PcmFormat, silentPieces } from '../sound/pcm.ts';

/** What an engine makes of one request. */
export interface Sound {
  readonly format: PcmFormat;
  /** True if the engine surely speaks the text. Otherwise it may still refuse it. */
  readonly isSure: boolean;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * Waits for the first samples of sound that an engine may still refuse, so that the answer can be an error.
 * @param onSound is called when the first samples are there
 * @throws the error of an engine before its first samples
 */
export async function begun({ isSure, pcm }: Sound, onSound: () => void): Promise<AsyncIterable<Uint8Array>> {
  const pieces = pcm[Symbol.asyncIterator]();
  const first = pieces.next();
  first.catch(() => {}); // not every case awaits it
  await (isSure ? Promise.race([first, yieldToEventLoop()]) : first);
  async function* all() {
    const { done, value } = await first;
    if (!done) onSound();
    yield* chained(done ? [] : [value], pieces);
  }
  return all();
}

/** All voices read these: espeak-ng spells foreign letters, but not foreign digits. */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** A voice does not speak the letters of a control sequence. */
const SEQUENCES = ['\u001b', '\u009b'];

/**
 * @param language the language of the voice
 * @returns false if only the engine knows
 */
export function isSurelySpeakable(text: string, language = 'und'): boolean {
  if (language === 'und' || SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

const SILENCE_SECONDS = 0.1;

/** True for a text with something that is said, be it by another voice. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * Clients try a key with a single full stop, and send pieces of a chat that are an emoji or three dots. A text without a letter
 * and a digit that the voice cannot read becomes a short silence.
 * @param leaveOut is called for what the voice cannot read; then a text with words becomes a silence, too
 */
export async function soundOrSilence(
  text: string,
  sound: Promise<Sound>,
  leaveOut?: (error: unknown) => void,
): Promise<Sound> {
  if (hasWords(text) && !leaveOut) return sound;
  const assertUnreadable = (error: unknown) => {
    if (!isUnreadable(error)) throw error;
    leaveOut?.(error);
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
  return failureOf(error)?.kind === 'unsupported text';
}

/** The error of a text in which nothing is to be spoken. */
export const BLANK = usageError('Nothing of the text is to be spoken', 'send a text with words');

const FAULTS: Partial<Readonly<Record<ExitCode, EngineFault>>> = {
  [ExitCode.usage]: 'unsupported text',
  [ExitCode.timeout]: 'late',
  [ExitCode.connection]: 'unreachable',
  [ExitCode.output]: 'no storage',
};

/** @returns what an engine or a service said; `undefined` for a defect */
export function failureOf(error: unknown): EngineError | undefined {
  if (error instanceof EngineError) return error;
  if (!(error instanceof TtsError)) return undefined;
  const { message, exitCode, retry, concernsThisTextOnly, cause } = error;
  if (cause instanceof EngineError) return cause;
  if (retry?.busy) return new EngineError('busy', message, { status: retry.status, retryAfter: retry.after });
  const fault = FAULTS[exitCode] ?? (concernsThisTextOnly ? 'unsupported text' : 'refused');
  return new EngineError(fault, message, { status: retry?.status });
}

/** Sound that is complete, and can be read several times. */
export interface StoredSound {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  dispose(): void;
}

/** Bytes of one sound in memory. A longer one goes to a file. */
const MOST = 4 * 2 ** 20;

/** Bytes of all stored sound in memory together. */
const MOST_OF_ALL = 64 * 2 ** 20;

let inMemory = 0;

/** @throws TtsError (output); the errors of the sound */
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
      if (bytes <= MOST && inMemory <= MOST_OF_ALL) continue;
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

/** Waits for the whole sound. Its WAV has exact sizes. */
export async function storeWav({ format, pcm }: Sound): Promise<StoredSound> {
  const stored = await storeSound(pcm);
  const header = wavHeader(format, stored.bytes);
  return { ...stored, bytes: header.length + stored.bytes, read: () => headed(header, stored.read()) };
}

/** Puts a header in front of samples. */
export async function* headed(
  header: Uint8Array,
  pcm: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield header;
  yield* pcm;
}
