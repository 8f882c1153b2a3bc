import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Scales } from './engine.ts';

/** What the `.onnx.json` of a voice of Piper says. It is a stranger's file: nothing else of it is used. */
export interface PiperConfig {
  /** A tag of BCP 47. */
  readonly language: string;
  readonly languageName: string;
  /** The name of the voice in espeak-ng, which makes phonemes of the text. */
  readonly espeakVoice: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly speakerCount: number;
  /** Names by the numbers of their speakers; those without one are missing. */
  readonly speakerNames: ReadonlyMap<number, string>;
  readonly scales: Scales;
  /** Symbols of one code point, with their numbers. */
  readonly symbols: ReadonlyMap<string, number>;
}

/** Bytes. Those of Piper have 5 to 30 kB. */
export const LONGEST_CONFIG = 1024 * 1024;

const MOST_SPEAKERS = 10_000;
const MOST_SYMBOLS = 1024;
const SCALES = { noiseScale: 0.667, noiseScaleW: 0.8, lengthScale: 1 };

/** @throws Error that says what is wrong with it */
export function readPiperConfig(text: string): PiperConfig {
  const data = objectIn(parsed(text), 'it');
  const phonemes = data.phoneme_type ?? 'espeak';
  if (phonemes !== 'espeak')
    throw new Error(`its phonemes are of the type ${shownValue(phonemes)}, which sherpa-onnx cannot make`);
  const espeakVoice = objectIn(data.espeak, '"espeak"').voice;
  if (typeof espeakVoice !== 'string' || !/^[a-z]{2,3}(-[a-z0-9]{1,8}){0,4}$/i.test(espeakVoice))
    throw new Error('"espeak.voice" is not the name of a voice');
  const speakerCount = numberIn(data.num_speakers ?? 1, 'num_speakers', [0, MOST_SPEAKERS]);
  const language = optionalObject(data.language);
  return {
    language: tagOf(language.code) ?? tagOfEspeak(espeakVoice),
    languageName: nameIn(language.name_english) ?? espeakVoice,
    espeakVoice,
    sampleRate: numberIn(objectIn(data.audio, '"audio"').sample_rate, 'sample_rate', [8000, 48_000]),
    speakerCount: Math.max(1, speakerCount),
    speakerNames: namesIn(optionalObject(data.speaker_id_map), Math.max(1, speakerCount)),
    scales: scalesIn(optionalObject(data.inference)),
    symbols: symbolsIn(objectIn(data.phoneme_id_map, '"phoneme_id_map"')),
  };
}

/** A line of tokens.txt for each symbol. */
export function tokensOf({ symbols }: PiperConfig): string {
  return [...symbols].map(([symbol, id]) => `${symbol} ${id}\n`).join('');
}

/** @returns the tag of BCP 47 of a voice of espeak-ng: `en-GB` of `en-gb-x-rp` */
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

type Data = Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('it is not JSON');
  }
}

function objectIn(data: unknown, name: string): Data {
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new Error(`${name} is missing, or is not an object`);
  return data as Data;
}

function optionalObject(data: unknown): Data {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as Data) : {};
}

function numberIn(value: unknown, name: string, [least, most]: readonly [number, number]): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`"${name}" is ${shownValue(value)}, and not a number from ${least} to ${most}`);
}

function scalesIn({ noise_scale, noise_w, length_scale }: Data): Scales {
  const scale = (value: unknown, usual: number) =>
    typeof value === 'number' && value >= 0 && value <= 10 ? value : usual;
  return {
    noiseScale: scale(noise_scale, SCALES.noiseScale),
    noiseScaleW: scale(noise_w, SCALES.noiseScaleW),
    lengthScale: scale(length_scale, SCALES.lengthScale) || SCALES.lengthScale,
  };
}

function namesIn(map: Data, count: number): Map<number, string> {
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

/** sherpa-onnx ends its process at a symbol of several code points, and a line break would end the line of a symbol. */
function symbolsIn(map: Data): Map<string, number> {
  const symbols = new Map<string, number>();
  for (const [symbol, ids] of Object.entries(map)) {
    const [id] = Array.isArray(ids) ? ids : [];
    if ([...symbol].length !== 1 || /[\r\n]/.test(symbol)) continue;
    symbols.set(symbol, numberIn(id, `phoneme_id_map.${symbol}`, [0, MOST_SYMBOLS - 1]));
  }
  if (symbols.size === 0) throw new Error('"phoneme_id_map" has no symbol');
  return symbols;
}

function shownValue(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 40);
}

/** Bytes at the end of an ONNX file. Its metadata is there. */
const METADATA_BYTES = 64 * 1024;

/** Bytes; the longest values are lists of speakers. */
const LONGEST_VALUE = 16 * 1024;

export function mentions(file: string, word: string): boolean {
  return ends(file, METADATA_BYTES).last.includes(word);
}

/**
 * Reads a value of `metadata_props`: a field with key and value, each of which begins with its length
 * (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 * @returns empty where there is none
 */
export function metadataOf(file: string, key: string): string {
  const { last } = ends(file, METADATA_BYTES);
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

export function ends(file: string, most: number): { first: Buffer; last: Buffer } {
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
