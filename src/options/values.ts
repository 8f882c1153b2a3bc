/** Derives cache keys and request bodies from the option rows. */
import * as v from 'valibot';
import { object, openObject, optional, type Schema, type ValueOf } from '../kit/schema.ts';
import type { Affects, ApiName, WireField } from './option.ts';
import { type Name, names, type Rows, rowOf } from './rows.ts';

/** The names of the options with this `affects`. */
type Affecting<A extends Affects> = { [N in Name]: Rows[N]['affects'] extends A ? N : never }[Name];

/** The options that change the sound of a voice. */
export const VOICE_OPTIONS = names.filter(
  (name) => rowOf(name).affects === 'voice',
) as readonly Affecting<'voice'>[];

/**
 * Returns the option values that distinguish one sound from another, by option name. Unset values are left out, so that a
 * new option does not change existing keys.
 * @param values of one utterance or row, as each voice may have its own. The type requires every option, if only as
 *   `undefined`, so that none is forgotten
 */
export function keyOf<A extends Affects>(
  values: Readonly<Record<Affecting<A>, unknown>>,
  ...affects: readonly A[]
): Readonly<Record<string, unknown>> {
  const affecting = names.filter((name) => (affects as readonly Affects[]).includes(rowOf(name).affects));
  const all = affecting.map((name) => [name, (values as Readonly<Record<string, unknown>>)[name]]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

type SchemaOn<F extends ApiName, N extends Name> = Rows[N] extends {
  readonly wire?: { readonly [K in F]: { readonly schema: infer S extends Schema } };
}
  ? S
  : never;

/** The values of the options that have a field in this interface, by option name. */
type WireValues<F extends ApiName> = {
  readonly [N in Name as SchemaOn<F, N> extends never ? never : N]: ValueOf<SchemaOn<F, N>> | undefined;
};

/** Returns the fields of an interface, in the order of `rows`. */
function wireFields(api: ApiName): readonly (WireField & { readonly name: Name })[] {
  return names.flatMap((name) => {
    const field = rowOf(name).wire?.[api];
    return field === undefined ? [] : [{ name, ...field }];
  });
}

/**
 * Makes the schema of a request body from the fields of options and the interface's own fields.
 * @param own fields that are not options, such as `text`
 * @param isOpen true to ignore unknown fields, and to accept null for a missing value
 */
export function bodySchema<Own extends Readonly<Record<string, Schema>>>(
  api: ApiName,
  own: Own,
  isOpen = false,
): Schema<{ readonly [N in keyof Own]: ValueOf<Own[N]> }> {
  const fields: Tree = { ...own };
  for (const { path, schema, isRequired, description } of wireFields(api)) {
    const described = v.pipe(schema, v.description(description));
    const missing = isOpen ? v.nullish(described) : optional(described);
    put(fields, path, isRequired ? described : missing);
  }
  return schemaOf(fields, isOpen ? openObject : object) as ReturnType<typeof bodySchema<Own>>;
}

/** Returns the option values in a checked body; null means not set. */
export function valuesIn<F extends ApiName>(api: F, body: object): WireValues<F> {
  const values = wireFields(api).map(({ name, path }) => [name, at(body, path) ?? undefined]);
  return Object.fromEntries(values) as WireValues<F>;
}

/** Returns the JSON body of a request to a service, without values that are not set. */
export function bodyOf(text: string, values: Readonly<Record<string, unknown>>): string {
  const body: Tree = { text };
  for (const { name, path } of wireFields('tts'))
    if (values[name] !== undefined) put(body, path, values[name]);
  return JSON.stringify(body);
}

/** Fields by name; nested fields are trees. */
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
