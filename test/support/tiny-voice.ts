import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { wavHeader } from '../../src/sound/encode/wav.ts';

// Voices of a few kilobytes for sherpa-onnx: ONNX models, encoded by hand as protocol buffers
// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), that turn each character into a piece of a sine.

/** True if sherpa-onnx-node is installed; tests that need it are skipped otherwise. */
export function hasSherpa(): boolean {
  try {
    createRequire(import.meta.url).resolve('sherpa-onnx-node');
    return true;
  } catch {
    return false;
  }
}

/** Samples per character. */
export const FRAMES_PER_CHARACTER = 800;
/** Hz. */
export const TINY_RATE = 16_000;
const TINY_VOICES = 3;

/** The waveform of a character, which is multiplied by its number. */
const SINE = Float32Array.from(
  { length: FRAMES_PER_CHARACTER },
  (_, at) => (0.5 * Math.sin((2 * Math.PI * at) / 40)) / 64,
);

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

const number = (field: number, value: number) => Buffer.from([...varint(field * 8), ...varint(value)]);

function bytes(field: number, content: Uint8Array | string): Buffer {
  const body = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body]);
}

const INT64 = 7;
const FLOAT = 1;

function tensor(name: string, type: number, shape: readonly number[], raw: Uint8Array): Buffer {
  return Buffer.concat([
    ...shape.map((size) => number(1, size)),
    number(2, type),
    bytes(8, name),
    bytes(9, raw),
  ]);
}

function value(name: string, type: number, shape: readonly (number | string)[]): Buffer {
  const sizes = shape.map((size) => bytes(1, typeof size === 'number' ? number(1, size) : bytes(2, size)));
  const kind = Buffer.concat([number(1, type), bytes(2, Buffer.concat(sizes))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, kind))]);
}

function node(operator: string, inputs: readonly string[], output: string, attribute?: Uint8Array): Buffer {
  const named = inputs.map((input) => bytes(1, input));
  return Buffer.concat([
    ...named,
    bytes(2, output),
    bytes(4, operator),
    ...(attribute ? [bytes(5, attribute)] : []),
  ]);
}

const int64s = (...values: number[]) => new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer);

const floats = (name: string, shape: readonly number[], ...values: number[]) =>
  tensor(name, FLOAT, shape, new Uint8Array(Float32Array.from(values).buffer));

/** An integer attribute of an operator. */
const attribute = (name: string, amount: number) =>
  Buffer.concat([bytes(1, name), number(3, amount), number(20, 2)]);

const TO_FLOAT = attribute('to', FLOAT);

/** The length of a style vector of Kitten and Kokoro. */
const STYLE = 4;

/** Names and shapes of the inputs by family of models. */
const INPUTS = {
  characters: [
    value('x', INT64, [1, 'L']),
    value('x_length', INT64, [1]),
    ...['noise_scale', 'length_scale', 'noise_scale_w'].map((name) => value(name, FLOAT, [1])),
    value('sid', INT64, [1]),
  ],
  piper: [
    value('x', INT64, [1, 'L']),
    value('input_lengths', INT64, [1]),
    value('scales', FLOAT, [3]),
    value('sid', INT64, [1]),
  ],
  inflect: [
    value('x', INT64, [1, 'L']),
    value('x_length', INT64, [1]),
    ...['noise_scale', 'length_scale'].map((name) => value(name, FLOAT, [1])),
  ],
  /** For Kokoro, too. */
  kitten: [value('x', INT64, [1, 'L']), value('style', FLOAT, [1, STYLE]), value('speed', FLOAT, [1])],
};

/** Encodes metadata, which comes at the end of a model. */
export function metadata(entries: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(entries).map(([key, text]) => bytes(14, Buffer.concat([bytes(1, key), bytes(2, text)]))),
  );
}

function tinyModel(
  frontEnd: keyof typeof INPUTS,
  entries: Readonly<Record<string, string>>,
  factor = 'one',
): Buffer {
  const graph = Buffer.concat([
    bytes(1, node('Cast', ['x'], 'f', TO_FLOAT)),
    bytes(1, node('Unsqueeze', ['f', 'axes'], 'u')),
    bytes(1, node('Mul', ['u', 'sine'], 'm')),
    bytes(1, node('Mul', ['m', factor], 'n')),
    bytes(1, node('Reshape', ['n', 'shape'], 'y')),
    bytes(2, 'tiny'),
    bytes(5, tensor('axes', INT64, [1], int64s(2))),
    bytes(5, tensor('sine', FLOAT, [1, 1, FRAMES_PER_CHARACTER], new Uint8Array(SINE.buffer))),
    bytes(5, tensor('one', FLOAT, [1], new Uint8Array(Float32Array.of(1).buffer))),
    bytes(5, tensor('shape', INT64, [2], int64s(1, -1))),
    ...INPUTS[frontEnd].map((input) => bytes(11, input)),
    bytes(12, value('y', FLOAT, [1, 'T'])),
  ]);
  return model(graph, entries);
}

function model(graph: Buffer, entries: Readonly<Record<string, string>> = {}): Buffer {
  const operators = Buffer.concat([bytes(1, ''), number(2, 13)]);
  return Buffer.concat([
    number(1, 8),
    bytes(2, 'test'),
    bytes(7, graph),
    bytes(8, operators),
    metadata(entries),
  ]);
}

/** Encodes a model of these operators, with named constants. */
function modelOf(
  nodes: readonly Buffer[],
  inputs: readonly Buffer[],
  outputs: Buffer | readonly Buffer[],
  constants: readonly Buffer[] = [],
): Buffer {
  const graph = Buffer.concat([
    ...nodes.map((each) => bytes(1, each)),
    bytes(2, 'tiny'),
    ...constants.map((each) => bytes(5, each)),
    ...inputs.map((each) => bytes(11, each)),
    ...[outputs].flat().map((each) => bytes(12, each as Buffer)),
  ]);
  return model(graph);
}

const ESPEAK = { ...{ voice: 'en-us', has_espeak: '1', language: 'English' }, sample_rate: '24000' };

/** The files of a tiny Inflect model, named as in its release, without the data of espeak-ng. */
export function tinyInflect(): Record<string, Buffer> {
  const entries = { ...ESPEAK, comment: 'Inflect', model_type: 'vits', n_speakers: '1', add_blank: '0' };
  return { 'model.onnx': tinyModel('inflect', entries), 'tokens.txt': tokensOf(PIPER_SYMBOLS) };
}

/** The files of a tiny Kitten or Kokoro model. Its sound is multiplied by the speed that the model gets. */
export function tinyStyled(family: 'kitten' | 'kokoro', speakers: string): Record<string, Buffer> {
  const count = speakers.split(',').length;
  const [first, dimensions] = family === 'kitten' ? [1, `1,${STYLE}`] : [510, `510,1,${STYLE}`];
  const entries = {
    ...ESPEAK,
    model_type: family === 'kitten' ? 'kitten-tts' : 'kokoro',
    n_speakers: String(count),
    style_dim: dimensions,
    speaker_names: speakers,
  };
  return {
    'model.onnx': tinyModel('kitten', entries, 'speed'),
    'voices.bin': Buffer.alloc(4 * first * STYLE * count),
    'tokens.txt': tokensOf(PIPER_SYMBOLS),
  };
}

/** Samples per chunk of {@link tinySupertonic}. */
const CHUNK = 64;

/** The files of a tiny Supertonic model with ten speakers: 0.05 s of noise per character. */
export function tinySupertonic(): Record<string, Buffer> {
  const text = value('text_ids', INT64, [1, 'L']);
  const mask = value('text_mask', FLOAT, [1, 1, 'L']);
  const style = (name: string) => value(name, FLOAT, [1, 1, STYLE]);
  const latent = (name: string) => value(name, FLOAT, [1, CHUNK, 'T']);
  const factor = (amount: number) => floats('factor', [1], amount);
  const duration = modelOf(
    [node('ReduceSum', ['text_mask'], 's'), node('Mul', ['s', 'factor'], 'y')],
    [text, style('style_dp'), mask],
    value('y', FLOAT, [1, 1, 1]),
    [factor(0.05)],
  );
  const encoder = modelOf(
    [node('Identity', ['style_ttl'], 'y')],
    [text, style('style_ttl'), mask],
    value('y', FLOAT, [1, 1, STYLE]),
  );
  const steps = ['current_step', 'total_step'].map((name) => value(name, FLOAT, [1]));
  const estimator = modelOf(
    [node('Identity', ['noisy_latent'], 'y')],
    [
      latent('noisy_latent'),
      style('text_emb'),
      style('style_ttl'),
      value('latent_mask', FLOAT, [1, 1, 'T']),
      mask,
      ...steps,
    ],
    latent('y'),
  );
  const vocoder = modelOf(
    [node('Mul', ['latent', 'factor'], 'm'), node('Reshape', ['m', 'shape'], 'y')],
    [latent('latent')],
    value('y', FLOAT, [1, 'S']),
    [factor(0.1), tensor('shape', INT64, [2], int64s(1, -1))],
  );
  const settings = {
    ae: { sample_rate: 44_100, base_chunk_size: CHUNK },
    ttl: { chunk_compress_factor: 1, latent_dim: CHUNK },
  };
  const styles = [10, 1, STYLE, 10, 1, STYLE];
  return {
    'duration_predictor.int8.onnx': duration,
    'text_encoder.int8.onnx': encoder,
    'vector_estimator.int8.onnx': estimator,
    'vocoder.int8.onnx': vocoder,
    'tts.json': Buffer.from(JSON.stringify(settings)),
    'unicode_indexer.bin': Buffer.alloc(4 * 65_536),
    'voice.bin': Buffer.concat([int64s(...styles), Buffer.alloc(2 * 4 * 10 * STYLE)]),
  };
}

/** The files of a tiny Matcha model: an acoustic model with one band, and a vocoder that turns each frame into one sound. */
export function tinyMatcha(): Record<string, Buffer> {
  const mel = value('mel', FLOAT, [1, 1, 'T']);
  const entries = { ...ESPEAK, model_type: 'matcha-tts', n_speakers: '1', use_eos_bos: '0', pad_id: '0' };
  const acoustic = modelOf(
    [node('Cast', ['x'], 'f', TO_FLOAT), node('Unsqueeze', ['f', 'axes'], 'mel')],
    INPUTS.inflect,
    mel,
    [tensor('axes', INT64, [1], int64s(1))],
  );
  const vocoder = modelOf(
    [
      node('Reshape', ['mel', 'column'], 'c'),
      node('Mul', ['c', 'sine'], 'm'),
      node('Reshape', ['m', 'row'], 'y'),
    ],
    [mel],
    value('y', FLOAT, [1, 'S']),
    [
      tensor('column', INT64, [3], int64s(1, -1, 1)),
      floats('sine', [1, 1, FRAMES_PER_CHARACTER], ...SINE),
      tensor('row', INT64, [2], int64s(1, -1)),
    ],
  );
  return {
    'model-steps-3.onnx': Buffer.concat([acoustic, metadata(entries)]),
    'hifigan_v2.onnx': Buffer.concat([vocoder, metadata({ model_type: 'hifigan' })]),
    'tokens.txt': tokensOf(PIPER_SYMBOLS),
  };
}

/** The sample rate of Pocket in Hz. */
export const POCKET_RATE = 24_000;
/** The lengths of an embedding and of a latent frame, which the runtime requires. */
const EMBEDDING = 1024;
const LATENT = 32;

/**
 * The files of a tiny Pocket model, without its decoder and its voices: {@link FRAMES_PER_CHARACTER} samples per byte of a
 * text, and a few more, as loud as the reference.
 */
export function tinyPocket(): Record<string, Buffer> {
  const embeddings = (name: string) => value(name, FLOAT, [1, 'L', EMBEDDING]);
  const wide = tensor('wide', INT64, [3], int64s(1, 1, EMBEDDING));
  const encoder = modelOf(
    [node('Abs', ['audio'], 'a'), node('ReduceMean', ['a'], 'm'), node('Expand', ['m', 'wide'], 'y')],
    [value('audio', FLOAT, [1, 1, 'N'])],
    embeddings('y'),
    [wide],
  );
  const conditioner = modelOf(
    [
      node('Cast', ['token_ids'], 'f', TO_FLOAT),
      node('Unsqueeze', ['f', 'axes'], 'u'),
      node('Mul', ['u', 'zero'], 'm'),
      node('Expand', ['m', 'wide'], 'y'),
    ],
    [value('token_ids', INT64, [1, 'L'])],
    embeddings('y'),
    [tensor('axes', INT64, [1], int64s(2)), floats('zero', [1], 0), wide],
  );
  const flow = modelOf(
    // The velocity of a straight path from the noise to the wanted value.
    [node('Sub', ['c', 'x'], 'd'), node('Sub', ['one', 's'], 'r'), node('Div', ['d', 'r'], 'y')],
    [
      value('c', FLOAT, [1, 1, 1]),
      ...['s', 't'].map((name) => value(name, FLOAT, [1, 1])),
      value('x', FLOAT, [1, LATENT]),
    ],
    value('y', FLOAT, [1, 1, LATENT]),
    [floats('one', [1], 1)],
  );
  return {
    'lm_flow.int8.onnx': flow,
    'lm_main.int8.onnx': pocketLanguageModel(),
    'encoder.onnx': encoder,
    'text_conditioner.onnx': conditioner,
    ...pocketVocabulary(),
  };
}

/** A model whose state counts down the tokens left to say, and keeps the loudness of the reference. */
function pocketLanguageModel(): Buffer {
  const states = (prefix: string) => [
    value(`${prefix}left`, INT64, [1]),
    value(`${prefix}level`, FLOAT, [1, 1, 1]),
  ];
  return modelOf(
    [
      ...['sequence', 'embeddings'].flatMap((name) => [
        node('Shape', [name], `${name}_shape`),
        node('Gather', [`${name}_shape`, 'second'], `${name}_length`),
      ]),
      node('Sub', ['embeddings_length', 'sequence_length'], 'more'),
      node('Add', ['left', 'more'], 'new_left'),
      node('Cast', ['new_left'], 'count', TO_FLOAT),
      node('Mul', ['count', 'minus'], 'ends'),
      // Padded, since an empty list has no maximum.
      node('Concat', ['embeddings', 'silence'], 'padded', attribute('axis', 1)),
      node('ReduceMax', ['padded'], 'loudest'),
      node('Max', ['level', 'loudest'], 'new_level'),
      node('Identity', ['new_level'], 'conditioning'),
    ],
    [
      value('sequence', FLOAT, [1, 'S', LATENT]),
      value('embeddings', FLOAT, [1, 'L', EMBEDDING]),
      ...states(''),
    ],
    [value('conditioning', FLOAT, [1, 1, 1]), value('ends', FLOAT, [1]), ...states('new_')],
    [
      tensor('second', INT64, [1], int64s(1)),
      floats('minus', [1], -10),
      floats('silence', [1, 1, EMBEDDING], ...new Float32Array(EMBEDDING)),
    ],
  );
}

/** A vocabulary with a token per byte. */
function pocketVocabulary(): Record<'vocab.json' | 'token_scores.json', Buffer> {
  const tokens = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const json = (of: (byte: number) => number) =>
    Buffer.from(JSON.stringify(Object.fromEntries(tokens.map((token, byte) => [token, of(byte)]))));
  return { 'vocab.json': json((byte) => byte), 'token_scores.json': json(() => -1) };
}

/** The decoder of {@link tinyPocket}, which is downloaded from another repository. */
export function tinyPocketDecoder(): Buffer {
  return modelOf(
    [
      node('MatMul', ['latent', 'sum'], 'a'),
      node('Mul', ['a', 'sine'], 'm'),
      node('Reshape', ['m', 'row'], 'y'),
    ],
    [value('latent', FLOAT, [1, 'F', LATENT])],
    value('y', FLOAT, [1, 1, 'S']),
    [
      floats('sum', [LATENT, 1], ...new Float32Array(LATENT).fill(64 / LATENT)),
      floats('sine', [1, 1, FRAMES_PER_CHARACTER], ...SINE),
      tensor('row', INT64, [3], int64s(1, 1, -1)),
    ],
  );
}

/** A voice of Pocket: a WAV with a second of a constant level, from 0 to 1. */
export function tinyReference(level: number): Buffer {
  const pcm = new Int16Array(POCKET_RATE).fill(Math.round(level * 32_767));
  const format = { encoding: 'integer', sampleRate: POCKET_RATE, channels: 1, bitsPerSample: 16 } as const;
  return Buffer.concat([wavHeader(format, 2 * pcm.length), Buffer.from(pcm.buffer)]);
}

/**
 * Writes a voice into a folder, as users would have it.
 * @param factor the input of the model by which the sound is multiplied
 * @returns the folder
 */
export function writeTinyVoice(
  folder: string,
  entries: Partial<typeof METADATA> = {},
  factor: 'one' | 'noise_scale' | 'length_scale' = 'one',
): string {
  const all = { ...METADATA, ...entries, comment: 'tiny', frontend: 'characters' };
  const model = tinyModel('characters', all, factor);
  return writeVoice(folder, model, CHARACTERS);
}

/** Writes a voice with Piper's front end, which turns words into phonemes of {@link FRAMES_PER_CHARACTER} samples each. */
export function writeTinyPiper(folder: string): string {
  const model = tinyModel('piper', { ...METADATA, comment: 'piper', voice: 'en-us', has_espeak: '1' });
  return writeVoice(folder, model, PIPER_SYMBOLS);
}

/** The model of a Piper voice as Piper publishes it, without metadata. */
export function rawTinyPiper(): Buffer {
  return tinyModel('piper', {});
}

const METADATA = {
  sample_rate: String(TINY_RATE),
  n_speakers: String(TINY_VOICES),
  language: 'English',
  add_blank: '0',
  use_eos_bos: '0',
  model_type: 'vits',
};
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz .,';

/** The samples with which the voice of {@link writeTinyVoice} speaks a text. */
export function tinySound(text: string): Buffer {
  const pieces = [...text.toLowerCase()].map((each) => {
    const samples = SINE.map((factor) => factor * CHARACTERS.indexOf(each));
    return Int16Array.from(samples, (sample) => Math.round(sample * 32_768));
  });
  return Buffer.concat(pieces.map(({ buffer }) => new Uint8Array(buffer)));
}

/** Symbols for padding, the start and the end of a sentence, and espeak-ng's English phonemes. */
export const PIPER_SYMBOLS = "_^$ !',-.:;?abcdefhijklmnoprstuvwxzæðŋɐɑɒɔəɚɛɜɡɪɹɾʃʊʌʒʔˈˌːθᵻ";

function writeVoice(folder: string, model: Buffer, tokens: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.onnx'), model);
  writeFileSync(join(folder, 'tokens.txt'), tokensOf(tokens));
  return folder;
}

function tokensOf(symbols: string): Buffer {
  return Buffer.from([...symbols].map((each, id) => `${each} ${id}\n`).join(''));
}
