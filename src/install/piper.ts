import { appendFileSync, constants, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PiperConfig, readPiperConfig, tokensOf } from '../engine/model/piper-config.ts';
import { ExitCode, TtsError } from '../error.ts';

/** Names of the files of a voice of Piper in its folder. */
export const MODEL = 'model.onnx';
export const SETTINGS = 'model.onnx.json';

/**
 * Reads the settings of a voice of Piper, which may be a stranger's.
 * @throws TtsError (service)
 */
export function piperSettings(text: string, name: string): PiperConfig {
  try {
    return readPiperConfig(text);
  } catch (cause) {
    throw new TtsError(`${name} cannot be used: ${(cause as Error).message}`, {
      exitCode: ExitCode.service,
      hint: 'choose another voice: tts voices lists those that are known to work',
      cause,
    });
  }
}

/**
 * Writes what sherpa-onnx needs of a raw voice of Piper: its model with metadata, and its symbols.
 * @returns the bytes after the original model
 */
export function writePiperModel(onnx: string, config: PiperConfig, folder: string): Buffer {
  const model = join(folder, MODEL);
  const metadata = metadataOf(config);
  copyFileSync(onnx, model, constants.COPYFILE_FICLONE);
  appendFileSync(model, metadata);
  writeFileSync(join(folder, 'tokens.txt'), tokensOf(config), { mode: 0o600 });
  return metadata;
}

/** `metadata_props` is the repeated field 14 of a model, so that entries may follow at its end. */
function metadataOf({ languageName, espeakVoice, speakerCount, sampleRate }: PiperConfig): Buffer {
  const entries = {
    model_type: 'vits',
    comment: 'piper',
    language: languageName,
    voice: espeakVoice,
    version: 1,
    has_espeak: 1,
    has_g2pw: 0,
    n_speakers: speakerCount,
    sample_rate: sampleRate,
  };
  return Buffer.concat(
    Object.entries(entries).map(([key, value]) =>
      field(14, Buffer.concat([field(1, key), field(2, String(value))])),
    ),
  );
}

/** A field of protocol buffers that begins with its length. */
function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
