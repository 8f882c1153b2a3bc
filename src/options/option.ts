import type { Schema } from '../kit/schema.ts';

/** A command with options. `login` also means `logout`, and `stop` also means `pause` and `resume`. */
export type CommandName =
  | 'speak'
  | 'batch'
  | 'serve'
  | 'speakers'
  | 'voices'
  | 'cache'
  | 'login'
  | 'doctor'
  | 'mcp'
  | 'stop';

/**
 * What the value of an option changes. Required, so that no option is forgotten in a key.
 * - `run`: nothing in the sound; or the speaker, which is in the keys as the identity of the voice.
 * - `text`: the spoken text, or the tags. Cache keys and row keys contain the text itself.
 * - `voice`: the sound of a segment. In cache keys and row keys.
 * - `finish`: the file, but not the cached sound. In row keys only.
 */
export type Affects = 'run' | 'text' | 'voice' | 'finish';

/** The groups of the short help, in the order in which a user needs them. */
export const GROUPS = ['Text', 'Voice', 'Sound', 'Service', 'Run'] as const;
type Group = (typeof GROUPS)[number];

/** An HTTP interface of a service. As a client, `tts` uses the first; `tts serve` offers both. */
export type ApiName = 'tts' | 'openai';

/** A field in the body of a request. */
export interface WireField {
  /** The path in the body: `config.sample_rate`. */
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired?: true;
  /** The description in the OpenAPI document. */
  readonly description: string;
}

export type Wire = Readonly<Partial<Record<ApiName, WireField>>>;

/** Replaces parts of an option for a command other than `speak`. */
interface Form {
  readonly flags?: string;
  readonly help: string;
  readonly repeats?: true;
}

/** One option. Parser, config check, help, manual, completions, docs and keys are all derived from these rows. */
export interface Option<T = unknown> {
  readonly schema: Schema<T>;
  /** The flag in commander's syntax. Without it, the option is set by environment or config only. */
  readonly flags?: string;
  /** The commands that take the flag. `tts config` takes all flags of `speak`. */
  readonly commands: readonly CommandName[];
  readonly forms?: Readonly<Partial<Record<CommandName, Form>>>;
  readonly env?: string;
  /** Shown in help instead of `env` if several variables count. */
  readonly envShown?: string;
  /** The key in a config file. */
  readonly key?: string;
  /** Shown in help instead of `key`. */
  readonly keyShown?: string;
  /** Whose config files may set it; default: all. Only users decide what is sent, run or deleted on their machine. */
  readonly setBy?: 'user' | ((value: NoInfer<T>) => boolean);
  readonly fallback?: NoInfer<T>;
  /** Shown in help instead of `fallback`. */
  readonly otherwise?: string;
  readonly help: string;
  /** The group of the option in the short help. */
  readonly group?: Group;
  /** The line in the short help: true if `help` fits there. Without it, the option is only named there. */
  readonly shortHelp?: string | true;
  readonly affects: Affects;
  readonly wire?: Wire;
  /** True if no part of the value may be shown. */
  readonly isSecret?: true;
  /** The value, as typed, that the flag has without one. */
  readonly preset?: string;
  /** The flag may be given several times. */
  readonly repeats?: true;
  /** Merges the values of several places, the strongest first. Without it, only the strongest place counts. */
  merge?(values: readonly T[]): T;
  /** Resolves file names in a value from a config file in `folder`. */
  relativeTo?(value: NoInfer<T>, folder: string): T;
  startsProgram?(value: NoInfer<T>): boolean;
  /** Returns how a message shows a wrong value. */
  shown?(raw: unknown): string;
}

interface Fallback<T> {
  readonly fallback: NoInfer<T>;
}

interface OptionTypes<A extends Affects, W extends Wire> {
  readonly affects: A;
  readonly wire?: W;
}

type NoWire = Readonly<Record<never, never>>;

/** An option as written in the table: without `commands`, it belongs to `speak` if it has a flag. */
type Row<T> = Omit<Option<T>, 'commands'> & Partial<Pick<Option, 'commands'>>;

/** Makes a row, and keeps the types that `keyOf` and `valuesIn` need. */
export function option<T, A extends Affects, const W extends Wire = NoWire>(
  row: Row<T> & OptionTypes<A, W> & Fallback<T>,
): Option<T> & OptionTypes<A, W> & Fallback<T>;
export function option<T, A extends Affects, const W extends Wire = NoWire>(
  row: Row<T> & OptionTypes<A, W>,
): Option<T> & OptionTypes<A, W>;
export function option<T>(row: Row<T>): Option<T> {
  return { commands: row.flags === undefined ? [] : ['speak'], ...row };
}

/** Returns the default as shown in help; `undefined` for a switch. */
export function defaultOf({ otherwise, fallback }: Option): string | undefined {
  return (
    otherwise ?? (fallback === undefined || typeof fallback === 'boolean' ? undefined : String(fallback))
  );
}

/** @returns `--speaker` for `-s, --speaker <no|name>` */
export function longFlag({ flags = '' }: Pick<Option, 'flags'>): string {
  return /--[a-z0-9-]+/.exec(flags)?.[0] ?? '';
}
