import type { Schema } from '../kit/schema.ts';

/** A command with options. `login` stands for `logout` as well, and `stop` for `pause` and `resume`. */
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
 * What changes with the value of an option. No option is without it, so that none is forgotten in a key.
 * - `run`: nothing that is heard; or who speaks, which the identity of the voice says.
 * - `text`: what is spoken, and the tags. The keys of the cache and of a row have the text itself.
 * - `voice`: the sound of a segment. It is in the key of the cache and in that of a row.
 * - `finish`: the file, but not the sound that is kept. It is in the key of a row only.
 */
export type Affects = 'run' | 'text' | 'voice' | 'finish';

/** The groups of the short help: what people do, in the order in which they come to it. */
export const GROUPS = ['Text', 'Voice', 'Sound', 'Service', 'Run'] as const;
type Group = (typeof GROUPS)[number];

/** An HTTP interface of a service. `tts` asks the first; `tts serve` has both. */
export type Face = 'tts' | 'openai';

/** A field in the body of a request. */
export interface WireField {
  /** As in `config.sample_rate`. */
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired?: true;
  /** What OpenAPI says of it. */
  readonly description: string;
}

export type Wire = Readonly<Partial<Record<Face, WireField>>>;

/** What differs where another command than `speak` takes the option. */
interface Form {
  readonly flags?: string;
  readonly help: string;
  readonly repeats?: true;
}

/** All that is known of an option: commander, the check of config files, help, manual, completions, docs and keys are loops over it. */
export interface Option<T = unknown> {
  readonly schema: Schema<T>;
  /** The flag in commander's syntax. Without it, the option is set elsewhere. */
  readonly flags?: string;
  /** The commands that take the flag. `tts config` takes all that `speak` takes. */
  readonly commands: readonly CommandName[];
  readonly forms?: Readonly<Partial<Record<CommandName, Form>>>;
  readonly env?: string;
  /** Help shows it in place of `env` where several variables count. */
  readonly envShown?: string;
  /** The key in a config file. */
  readonly key?: string;
  /** Help shows it in place of `key`. */
  readonly keyShown?: string;
  /** Whose config file may set it; anybody's without it. What leaves, runs or is deleted on a machine is the user's alone to say. */
  readonly setBy?: 'user' | ((value: NoInfer<T>) => boolean);
  readonly fallback?: NoInfer<T>;
  /** Help shows it in place of `fallback`. */
  readonly otherwise?: string;
  readonly help: string;
  /** The short help has it in place of `help`, which is too long for a line. */
  readonly brief?: string;
  /** Where the short help lists an option of a run. */
  readonly group?: Group;
  /** It has a line of its own there; others are named. */
  readonly hasLine?: true;
  readonly affects: Affects;
  readonly wire?: Wire;
  /** Neither the value nor a part of it is shown. */
  readonly isSecret?: true;
  /** What the flag means without a value, as it would be typed. */
  readonly preset?: string;
  /** The flag may be given several times. */
  readonly repeats?: true;
  /** Joins the values of several places, the strongest first. Without it, the strongest place counts. */
  merge?(values: readonly T[]): T;
  /** Resolves the names of files that a config file in this folder gives. */
  relativeTo?(value: NoInfer<T>, folder: string): T;
  startsProgram?(value: NoInfer<T>): boolean;
  /** A wrong value in a message. */
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

/** `commands` may be left out where `speak` is the only one, and where there is no flag. */
type Row<T> = Omit<Option<T>, 'commands'> & Partial<Pick<Option, 'commands'>>;

/** Keeps the type of the value, and what `keyOf` and `valuesIn` ask for. */
export function option<T, A extends Affects, const W extends Wire = NoWire>(
  row: Row<T> & OptionTypes<A, W> & Fallback<T>,
): Option<T> & OptionTypes<A, W> & Fallback<T>;
export function option<T, A extends Affects, const W extends Wire = NoWire>(
  row: Row<T> & OptionTypes<A, W>,
): Option<T> & OptionTypes<A, W>;
export function option<T>(row: Row<T>): Option<T> {
  return { commands: row.flags === undefined ? [] : ['speak'], ...row };
}

/** The value without any setting, for help; `undefined` for a switch. */
export function defaultOf({ otherwise, fallback }: Option): string | undefined {
  return (
    otherwise ?? (fallback === undefined || typeof fallback === 'boolean' ? undefined : String(fallback))
  );
}

/** @returns `--speaker` for `-s, --speaker <no|name>` */
export function longFlag({ flags = '' }: Pick<Option, 'flags'>): string {
  return /--[a-z0-9-]+/.exec(flags)?.[0] ?? '';
}
