/** Reads what a model says of itself: the JSON of Piper's voices, and the metadata of ONNX files. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { check, number, text, whole } from '../kit/schema.ts';
import { printable } from '../kit/words.ts';
import type { Scales } from './engine.ts';

/** The contents of the `.onnx.json` of a Piper voice, all checked, since the file is untrusted. */
export interface PiperConfig {
  /** A BCP 47 tag. */
  readonly language: string;
  readonly languageName: string;
  /** The voice of espeak-ng that turns the text into phonemes. */
  readonly espeakVoice: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly speakerCount: number;
  /** Names by speaker number; speakers without a name are left out. */
  readonly speakerNames: ReadonlyMap<number, string>;
  readonly scales: Scales;
  /** The numbers of the phoneme symbols that have a single code point. */
  readonly symbols: ReadonlyMap<string, number>;
}

/** The largest `.onnx.json` in bytes. Those of Piper have 5 to 30 kB. */
export const LONGEST_CONFIG = 1024 * 1024;

/** @throws Error that says what is wrong with the JSON */
export function readPiperConfig(json: string): PiperConfig {
  const read = check(SETTINGS, parsed(json));
  if ('problem' in read) throw new Error(printable(`${read.path ? `"${read.path}"` : 'it'} ${read.problem}`));
  const { espeak, audio, language, inference, ...settings } = read.value;
  const speakerCount = Math.max(1, settings.num_speakers);
  return {
    language: tagOf(language.code) ?? tagOfEspeak(espeak.voice),
    languageName: nameIn(language.name_english) ?? espeak.voice,
    espeakVoice: espeak.voice,
    sampleRate: audio.sample_rate,
    speakerCount,
    speakerNames: namesIn(settings.speaker_id_map, speakerCount),
    scales: {
      noiseScale: inference.noise_scale,
      noiseScaleW: inference.noise_w,
      lengthScale: inference.length_scale || 1,
    },
    symbols: new Map(Object.entries(settings.phoneme_id_map).map(([symbol, [id]]) => [symbol, id])),
  };
}

const MOST_SPEAKERS = 10_000;
const MOST_SYMBOLS = 1024;

const part = <const F extends v.ObjectEntries>(fields: F) => v.object(fields, 'must be an object');
/** A field that the model can speak without: a wrong value counts as missing. */
const lenient = <S extends v.GenericSchema>(schema: S, otherwise: v.InferOutput<S>) =>
  v.optional(v.fallback(schema, otherwise as never), otherwise as never);
const scale = (usual: number) => lenient(number({ min: 0, max: 10 }), usual);
const whatever = v.record(v.string(), v.unknown());

const SETTINGS = part({
  phoneme_type: v.optional(v.literal('espeak', 'must be "espeak": sherpa-onnx makes no other phonemes')),
  espeak: part({ voice: text(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$/, 'must be the name of a voice') }),
  audio: part({ sample_rate: whole({ min: 8000, max: 48_000 }) }),
  num_speakers: v.optional(whole({ min: 0, max: MOST_SPEAKERS }), 1),
  phoneme_id_map: v.pipe(
    v.record(v.string(), v.unknown(), 'must be an object'),
    v.transform((map) => Object.fromEntries(Object.entries(map).filter(([symbol]) => isSymbol(symbol)))),
    v.record(v.string(), v.looseTuple([whole({ min: 0, max: MOST_SYMBOLS - 1 })], 'must be a list')),
    v.check((map) => Object.keys(map).length > 0, 'must have a symbol'),
  ),
  language: lenient(whatever, {}),
  speaker_id_map: lenient(whatever, {}),
  inference: v.pipe(
    lenient(whatever, {}),
    v.object({ noise_scale: scale(0.667), noise_w: scale(0.8), length_scale: scale(1) }),
  ),
});

/** False for several code points, which make sherpa-onnx exit, and for line breaks, which would break tokens.txt. */
function isSymbol(text: string): boolean {
  return [...text].length === 1 && !/[\r\n]/.test(text);
}

/** The contents of tokens.txt, with a line per symbol. */
export function tokensOf({ symbols }: PiperConfig): string {
  return [...symbols].map(([symbol, id]) => `${symbol} ${id}\n`).join('');
}

/** @returns the BCP 47 tag of an espeak-ng voice: `en-GB` for `en-gb-x-rp` */
export function tagOfEspeak(voice: string): string {
  const [language = 'und', region = ''] = voice.split('-');
  return /^([a-z]{2}|419)$/i.test(region) && region !== 'x'
    ? `${language}-${region.toUpperCase()}`
    : language.toLowerCase();
}

function tagOf(code: unknown): string | undefined {
  return typeof code === 'string' && /^[a-z]{2,3}(_[A-Z]{2})?$/.test(code)
    ? code.replace('_', '-')
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('it is not JSON');
  }
}

function namesIn(map: object, count: number): Map<number, string> {
  const names = new Map<number, string>();
  for (const [name, id] of Object.entries(map)) {
    const said = nameIn(name);
    if (said !== undefined && Number.isInteger(id) && Number(id) >= 0 && Number(id) < count)
      names.set(Number(id), said);
  }
  return names;
}

function nameIn(name: unknown): string | undefined {
  return typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{N}\p{M} _.'()-]{0,59}$/u.test(name)
    ? name
    : undefined;
}

/** Bytes at the end of an ONNX file, where its metadata is. */
const METADATA_BYTES = 64 * 1024;

/** The longest value of metadata in bytes; lists of speakers are long. */
const LONGEST_VALUE = 16 * 1024;

/** True if the word is anywhere in the metadata of an ONNX file. */
export function metadataMentions(file: string, word: string): boolean {
  return fileEnds(file, METADATA_BYTES).last.includes(word);
}

/**
 * Reads a value of `metadata_props`, whose entries are a key and a value, each after its length
 * (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 * @returns the value, or '' if there is none
 */
export function metadataOf(file: string, key: string): string {
  const { last } = fileEnds(file, METADATA_BYTES);
  const name = Buffer.from([0x0a, key.length, ...Buffer.from(key), 0x12]);
  const at = last.lastIndexOf(name);
  if (at < 0) return '';
  let length = 0;
  let from = at + name.length;
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = last[from] ?? 0;
    from += 1;
    length |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return length > LONGEST_VALUE ? '' : last.toString('utf8', from, from + length);
}

/** @returns up to `most` bytes from the start and from the end of a file */
export function fileEnds(file: string, most: number): { first: Buffer; last: Buffer } {
  const fd = openSync(file, 'r');
  try {
    const { size } = statSync(file);
    const length = Math.min(most, size);
    const [first, last] = [Buffer.alloc(length), Buffer.alloc(length)];
    readSync(fd, first, 0, length, 0);
    readSync(fd, last, 0, length, size - length);
    return { first, last };
  } finally {
    closeSync(fd);
  }
}
