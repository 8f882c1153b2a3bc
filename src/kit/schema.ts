import * as v from 'valibot';
import { keyHint } from './words.ts';

/**
 * Says which values are valid. Data of JSON or YAML is checked unchanged; the text of a flag, a variable or a cell becomes
 * data by `fromText` first. A message completes a sentence that begins with the name of the value. The value may be shown
 * only if the message begins with "must": that of a secret does not.
 */
export type Schema<T = unknown> = v.GenericSchema<unknown, T>;
export type ValueOf<S extends Schema> = v.InferOutput<S>;

export interface Problem {
  readonly kind: 'unknown' | 'missing' | 'wrong';
  /** The path inside the value, as in `config.sample_rate`; empty for the value itself. */
  readonly path: string;
  /** The end of a sentence, as in `must be 8000 or more`. */
  readonly problem: string;
  /** The wrong value. */
  readonly found: unknown;
}

/** @returns the value as the schema transforms it, or the first problem */
export function check<T>(schema: Schema<T>, data: unknown): { readonly value: T } | Problem {
  const { success, output, issues } = v.safeParse(schema, data, { abortEarly: true });
  if (success) return { value: output };
  const [issue] = issues;
  return { kind: kindOf(issue), path: v.getDotPath(issue) ?? '', problem: issue.message, found: issue.input };
}

/** For the key of an object, valibot expects "never" if the key is unknown, and its name if it is missing. */
function kindOf({ expected, input, path }: v.BaseIssue<unknown>): Problem['kind'] {
  if (path?.at(-1)?.origin !== 'key') return 'wrong';
  if (expected === 'never') return 'unknown';
  return input === undefined ? 'missing' : 'wrong';
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export function number({ min, max }: Range) {
  return v.pipe(v.number('must be a number'), v.minValue(min, atLeast(min)), v.maxValue(max, atMost(max)));
}

export function whole({ min, max }: Range) {
  const message = 'must be a whole number';
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(min, atLeast(min)),
    v.maxValue(max, atMost(max)),
  );
}

function atLeast(min: number): string {
  return `must be ${min} or more`;
}

function atMost(max: number): string {
  return `must be ${max} or less`;
}

export function toggle() {
  return v.boolean('must be true or false');
}

/** @param pattern without flags, so that it can become a part of a JSON Schema */
export function text(pattern = /\S/, message = 'must be a text that is not blank') {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

export function choice<const T extends string>(...names: readonly T[]) {
  return v.picklist(names, `must be ${names.length > 1 ? 'one of ' : ''}${names.join(', ')}`);
}

/** @param read returns `undefined` for a text that is no such value */
export function textAs<T>(
  read: (text: string) => T | undefined,
  message: string | ((text: string) => string),
) {
  return v.pipe(
    v.string(typeof message === 'string' ? message : message('')),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: typeof message === 'string' ? message : message(dataset.value) });
      return NEVER;
    }),
  );
}

export function list<T>(item: Schema<T>) {
  return v.array(item, 'must be a list');
}

/** Accepts one value or a list of values, and always makes a list. */
export function oneOrMore<T>(item: Schema<T>, message: string) {
  const some = v.pipe(v.array(item, message), v.minLength(1, message));
  return v.union(
    [
      some,
      v.pipe(
        item,
        v.transform((value: T) => [value]),
      ),
    ],
    message,
  );
}

/** A map of values whose names the user chooses. */
export function named<T>(name: v.GenericSchema<string, string>, value: Schema<T>, message: string) {
  return v.pipe(
    v.record(name, value, message),
    v.transform((given): ReadonlyMap<string, T> => new Map(Object.entries(given))),
  );
}

/** Makes a large schema, which few runs need, when it is first used. */
export function later<T>(make: () => Schema<T>) {
  let made: Schema<T> | undefined;
  return v.lazy((): Schema<T> => {
    made ??= make();
    return made;
  });
}

/** @param problem returns the message for a value whose parts are valid but do not go together */
export function checked<S extends Schema>(schema: S, problem: (value: ValueOf<S>) => string | undefined) {
  return v.pipe(
    schema,
    v.rawCheck<ValueOf<S>>(({ dataset, addIssue }) => {
      const message = dataset.typed ? problem(dataset.value) : undefined;
      if (message !== undefined) addIssue({ message });
    }),
  );
}

type Fields = Readonly<Record<string, Schema>>;

/** An object with no other keys. Fields that may be missing are `optional`. */
export function object<const F extends Fields>(fields: F, message = 'must be an object') {
  return v.strictObject(fields, ({ expected, input, path }) => {
    if (path === undefined) return message;
    return expected === 'never'
      ? `is not known: ${keyHint(String(input), Object.keys(fields))}`
      : 'is missing';
  });
}

/** An object that may have other keys, which are dropped. */
export function openObject<const F extends Fields>(fields: F) {
  return v.object(fields, ({ path }) => (path === undefined ? 'must be an object' : 'is missing'));
}

export function optional<T>(schema: Schema<T>) {
  return v.exactOptional(schema);
}

/** The parts of a schema that `fromText` and `choicesOf` read. */
interface Parts {
  readonly type: string;
  readonly options?: readonly (Schema | string)[];
  readonly item?: Schema;
  readonly value?: Schema;
  readonly entries?: Fields;
  readonly wrapped?: Schema;
}

/** The words that a value may be, for completions. */
export function choicesOf(schema: Schema): readonly string[] | undefined {
  const { type, options } = schema as Parts;
  return type === 'picklist' ? (options as readonly string[]) : undefined;
}

/** A value that JSON clients may also write as text, as in `"1.25"`. */
export function orAsText<T>(schema: Schema<T>, message: string) {
  const text = v.pipe(
    v.string(),
    v.transform((given) => fromText(schema, given)),
    schema,
  );
  return v.union([schema, text], message);
}

const TOGGLES = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/;

/**
 * Turns text into data for the schema to check. If that is not possible it stays text, which the schema refuses. Names with
 * values are written as `name=value,name=value`.
 * @param text several texts for a flag that was given several times; for a single value, the last one counts
 */
export function fromText(schema: Schema, text: string | readonly string[]): unknown {
  const { type, options, item, value, entries, wrapped } = schema as Parts;
  if (wrapped) return fromText(wrapped, text);
  const texts = [text].flat();
  const last = texts.at(-1) ?? '';
  switch (type) {
    case 'number':
      return NUMBER.test(last.trim()) ? Number(last) : last;
    case 'boolean':
      return TOGGLES.get(last.trim().toLowerCase()) ?? last;
    case 'picklist':
      return last.trim().toLowerCase();
    case 'array':
      return texts.map((each) => (item ? fromText(item, each) : each));
    case 'union':
      return firstOf(options as readonly Schema[], texts) ?? last;
    case 'record':
      return pairsIn(texts, () => value) ?? last;
    case 'strict_object':
      return pairsIn(texts, (name) => entries?.[name]) ?? last;
    default:
      return last;
  }
}

/** @returns `undefined` for a text that no schema accepts */
function firstOf(schemas: readonly Schema[], texts: readonly string[]): unknown {
  const read = schemas.map((schema) => [schema, fromText(schema, texts)] as const);
  return read.find(([schema, data]) => v.is(schema, data))?.[1];
}

function pairsIn(
  texts: readonly string[],
  schemaOf: (name: string) => Schema | undefined,
): object | undefined {
  const pairs = texts.flatMap((text) => text.split(/[,\n]/)).map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = (pair ?? []).map((part) => part.trim());
      const schema = schemaOf(name);
      return [name, schema ? fromText(schema, value) : value];
    }),
  );
}
