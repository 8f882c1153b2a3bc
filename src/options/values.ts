/** What the values of options are for besides the run: keys, and bodies of requests. Each is a loop over the rows. */
import * as v from 'valibot';
import { object, openObject, optional, type Schema, type ValueOf } from '../kit/schema.ts';
import type { Affects, Face, WireField } from './option.ts';
import { type Name, names, rowOf, type rows } from './rows.ts';

type Rows = typeof rows;

/** The names of the options that affect this. */
type Affecting<A extends Affects> = { [N in Name]: Rows[N]['affects'] extends A ? N : never }[Name];

/** The options that change the sound of a voice. */
export const VOICE_OPTIONS = names.filter(
  (name) => rowOf(name).affects === 'voice',
) as readonly Affecting<'voice'>[];

/**
 * The values that make one sound another than the next, by the names of their options. Those that are not set are left out, so
 * that a new option changes no key where it is not used.
 * @param values of one utterance or one row, and not of the run: each voice may have its own. None can be forgotten: all have to
 * be there, if only as `undefined`
 */
export function keyOf<A extends Affects>(
  values: Readonly<Record<Affecting<A>, unknown>>,
  ...affects: readonly A[]
): Readonly<Record<string, unknown>> {
  const affecting = names.filter((name) => (affects as readonly Affects[]).includes(rowOf(name).affects));
  const all = affecting.map((name) => [name, (values as Readonly<Record<string, unknown>>)[name]]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

type SchemaOn<F extends Face, N extends Name> = Rows[N] extends {
  readonly wire?: { readonly [K in F]: { readonly schema: infer S extends Schema } };
}
  ? S
  : never;

/** The values of all options that a face has fields for, by the names of the options. */
type WireValues<F extends Face> = {
  readonly [N in Name as SchemaOn<F, N> extends never ? never : N]: ValueOf<SchemaOn<F, N>> | undefined;
};

/** The fields of a face, in the order of the table. */
function wireFields(face: Face): readonly (WireField & { readonly name: Name })[] {
  return names.flatMap((name) => {
    const field = rowOf(name).wire?.[face];
    return field === undefined ? [] : [{ name, ...field }];
  });
}

/**
 * The schema of a request's body: the fields of options, and those of the face itself.
 * @param own as `text`, which is no option
 * @param isOpen for a face whose clients send fields of others, which are left alone, and null for what they leave out
 */
export function bodySchema<Own extends Readonly<Record<string, Schema>>>(
  face: Face,
  own: Own,
  isOpen = false,
): Schema<{ readonly [N in keyof Own]: ValueOf<Own[N]> }> {
  const fields: Tree = { ...own };
  for (const { path, schema, isRequired, description } of wireFields(face)) {
    const described = v.pipe(schema, v.description(description));
    const missing = isOpen ? v.nullish(described) : optional(described);
    put(fields, path, isRequired ? described : missing);
  }
  return schemaOf(fields, isOpen ? openObject : object) as ReturnType<typeof bodySchema<Own>>;
}

/** The values of options in a body that was checked; null is none. */
export function valuesIn<F extends Face>(face: F, body: object): WireValues<F> {
  const values = wireFields(face).map(({ name, path }) => [name, at(body, path) ?? undefined]);
  return Object.fromEntries(values) as WireValues<F>;
}

/** The body of a request to a service. Values that are not set are not sent. */
export function bodyOf(text: string, values: Readonly<Record<string, unknown>>): string {
  const body: Tree = { text };
  for (const { name, path } of wireFields('tts'))
    if (values[name] !== undefined) put(body, path, values[name]);
  return JSON.stringify(body);
}

/** Fields by name; a field with others inside is a tree. */
interface Tree {
  [field: string]: unknown;
}

function put(tree: Tree, path: string, value: unknown): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) tree[first] = value;
  else {
    tree[first] ??= {};
    put(tree[first] as Tree, rest.join('.'), value);
  }
}

function at(tree: unknown, path: string): unknown {
  return path.split('.').reduce((inner, field) => (inner as Tree | null | undefined)?.[field], tree);
}

function schemaOf(
  fields: Tree,
  make: (fields: Readonly<Record<string, Schema>>) => Schema<object>,
): Schema<object> {
  const schemas = Object.entries(fields).map(([name, each]) => {
    const inner = each as Schema | Tree;
    return [name, inner.kind === 'schema' ? (inner as Schema) : optional(schemaOf(inner as Tree, make))];
  });
  return make(Object.fromEntries(schemas));
}
