import { keyHint } from '../nearest.ts';
import { describedValue, type Kind, number, speaker, type ValueFault } from './kind.ts';
import { isObject } from './special-kinds.ts';

interface Pairs<T> {
  /** Others are refused; by default all words are names. */
  readonly names?: readonly string[];
  readonly value: Kind<T>;
  /** It completes "as in …" in a message. */
  readonly example: string;
}

/** Each value has a name. Text is written as `name=value,name=value`, also in several lines; the last value of a name counts. */
function pairs<T>({ names, value, example }: Pairs<T>): Kind<ReadonlyMap<string, T>> {
  const faultIn = ([name, raw]: Pair): ValueFault | undefined => {
    const hint = `as in ${example}`;
    if (name === '' || raw === undefined)
      return { what: `${describedValue(name)} is not a name with a value`, hint };
    if (names && !names.includes(name))
      return { what: `unknown name ${describedValue(name)}`, hint: keyHint(name, names) };
    if (read(value, raw) !== undefined) return undefined;
    const what = `${describedValue(raw)} is not allowed for ${describedValue(name)}; expected ${value.allowed}`;
    return { what, hint };
  };
  const parse = (data: unknown) => {
    const all = pairsIn(data);
    if (!all?.length || all.some((pair) => faultIn(pair))) return undefined;
    return new Map(all.map(([name, raw]) => [name, read(value, raw) as T]));
  };
  return {
    allowed: `names with their values, as in ${example}`,
    text: parse,
    data: parse,
    fault: (data) => pairsIn(data)?.map(faultIn).find(Boolean),
  };
}

type Pair = readonly [name: string, raw: unknown];

function pairsIn(data: unknown): readonly Pair[] | undefined {
  if (isObject(data)) return Object.entries(data);
  if (typeof data !== 'string' || data.trim() === '') return undefined;
  return data.split(/[,\n]/).map((pair) => {
    const [name = '', ...rest] = pair.split('=');
    return [name.trim(), rest.length === 0 ? undefined : rest.join('=').trim()];
  });
}

function read<T>(kind: Kind<T>, raw: unknown): T | undefined {
  return typeof raw === 'string' ? kind.text(raw) : kind.data(raw);
}

/** Seconds of silence by the kind of border. */
export const pauses = pairs({
  names: ['chapter', 'scene', 'heading', 'paragraph', 'sentence'],
  value: number({ min: 0, max: 60, unit: 'seconds' }),
  example: 'heading=1,scene=2',
});

/** Voices by the names of a dialogue. */
export const voices = pairs({ value: speaker, example: 'Alice=anna,Bob=7,*=2' });
