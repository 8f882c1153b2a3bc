/** The sound of one request, complete or under way, and what its client may know of errors in it. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError, type EngineFault, queueFull } from '../engines/engine.ts';
import { unwritable } from '../kit/folders.ts';
import { wavHeader } from '../sound/encode/wav.ts';
import type { PcmFormat } from '../sound/pcm.ts';
import { type Log, Refusal } from './http.ts';

/** What an engine makes of one request. */
export interface Sound {
  readonly format: PcmFormat;
  /** True if the engine surely speaks the text. Otherwise it may still refuse it. */
  readonly speakable: boolean;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/** Sound that is complete. */
export interface StoredSound {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** Bytes. A longer sound goes to a file. */
const MOST = 4 * 1024 * 1024;

/** Bytes. All stored sound in memory together is not longer. */
const MOST_OF_ALL = 64 * 1024 * 1024;

const READ_SIZE = 256 * 1024;

let kept = 0;

/** @throws Refusal 507 if the temporary folder takes no more; the errors of the sound */
export async function storeSound(sound: AsyncIterable<Uint8Array>): Promise<StoredSound> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of sound) {
      pieces.push(piece);
      bytes += piece.length;
      kept += piece.length;
      if (file === undefined && bytes <= MOST && kept <= MOST_OF_ALL) continue;
      file ??= await openNamelessFile().catch(refuseStorage);
      for (const part of take(pieces)) await file.writeFile(part).catch(refuseStorage);
    }
  } catch (error) {
    take(pieces);
    await file?.close();
    throw error;
  }
  return file === undefined ? inMemory(pieces, bytes) : inFile(file, bytes);
}

function take(pieces: Uint8Array[]): Uint8Array[] {
  kept -= pieces.reduce((sum, { length }) => sum + length, 0);
  return pieces.splice(0);
}

function inMemory(pieces: Uint8Array[], bytes: number): StoredSound {
  async function* read() {
    yield* pieces;
  }
  return { bytes, read, dispose: async () => void take(pieces) };
}

function inFile(file: FileHandle, bytes: number): StoredSound {
  async function* read() {
    for (let position = 0; position < bytes; ) {
      const length = Math.min(READ_SIZE, bytes - position);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error(`The stored sound ended at ${position} of ${bytes} bytes`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return { bytes, read, dispose: () => file.close() };
}

/** RFC 4918, section 11.5. */
const INSUFFICIENT_STORAGE = 507;

function refuseStorage(cause: unknown): never {
  throw new Refusal(INSUFFICIENT_STORAGE, 'storage_failed', unwritable(tmpdir(), cause).message);
}

/** The file loses its name at once: it has no other reader. */
async function openNamelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `tts-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** Waits for the whole sound. Its WAV has exact sizes. */
export async function storeWav({ format, pcm }: Sound): Promise<StoredSound> {
  const stored = await storeSound(pcm);
  const header = wavHeader(format, stored.bytes);
  return {
    bytes: header.length + stored.bytes,
    read: () => headed(header, stored.read()),
    dispose: () => stored.dispose(),
  };
}

/** Puts a header in front of samples. */
export async function* headed(
  header: Uint8Array,
  pcm: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield header;
  yield* pcm;
}

const ANSWERS: Readonly<Record<EngineFault, readonly [status: number, code: string]>> = {
  'unsupported text': [422, 'unsupported_text'],
  busy: [503, 'busy'],
  broken: [500, 'engine_failed'],
  failed: [502, 'engine_failed'],
  late: [504, 'engine_late'],
  unreachable: [502, 'engine_unreachable'],
  refused: [502, 'engine_failed'],
  'no storage': [507, 'storage_failed'],
};

/** A busy engine keeps its own status. */
function ofEngine({ kind, message, retryAfter, status: own }: EngineError): Refusal {
  const [status, code] = ANSWERS[kind];
  const field = kind === 'unsupported text' ? 'text' : undefined;
  return new Refusal(kind === 'busy' ? (own ?? status) : status, code, message, { field, retryAfter });
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof EngineError) return ofEngine(error);
  return new Refusal(500, 'internal_error', 'The service failed on this request');
}

/**
 * Words of an engine may quote its key, and those of a full folder name it. A refusal of a field has the service's own
 * words.
 */
function withoutInnerWords({ status, code, message, field, retryAfter }: Refusal): Refusal {
  const isBusy = status === 429 || status === 503;
  const said = isBusy ? queueFull().message : 'The voice failed; the log of the service says why';
  return new Refusal(status, code, field === undefined ? said : message, { field, retryAfter });
}

/** @returns what the client may know of an error that ended its sound; the log gets the rest */
export function forClient(error: unknown, id: string, { log }: { readonly log: Log | undefined }): unknown {
  if (!(error instanceof EngineError || error instanceof Refusal)) return error;
  const refusal = refusalOf(error);
  const known = withoutInnerWords(refusal);
  if (known.message !== error.message) log?.({ event: 'engine', id, reason: error.message });
  return known;
}
