import { type TtsError, usageError } from '../error.ts';
import { nearestName } from './nearest.ts';
import type { Origin, Setting } from './origin.ts';
import type { Settings } from './resolve.ts';
import type { NamedSpeaker } from './speakers.ts';

/** A speaker of the built-in service. */
export interface KnownSpeaker {
  readonly no: number;
  readonly name: string;
  readonly kind: string;
}

interface Choice {
  readonly no: number;
  /** As they hold for this speaker. */
  readonly settings: Settings;
}

/** What only speakers of one kind can do. */
const NEEDED_KINDS = { sampleRate: 'neo.one', instructions: 'Mermish' } as const;

/** So many names fit into a hint. */
const MOST_NAMES = 20;

/**
 * The number of the speaker that was asked for, by number or by name, and the settings with its own defaults: these
 * give way to options and the environment only.
 * @param known all speakers of the built-in service, the first for when nobody says; none where another one speaks
 * @throws TtsError (usage) when there is none, no speaker of that name, or one that cannot do what is asked for
 */
export function chooseSpeaker(settings: Settings, known: readonly KnownSpeaker[]): Choice {
  const chosen = find(settings, known);
  const kind = chosen.kind ?? kindOf(chosen.no, [...known, ...(settings.speakers?.value.values() ?? [])]);
  return { no: chosen.no, settings: settingsFor({ ...chosen, kind }, settings) };
}

/** What is known of a speaker, with the name it was asked for by, if it was. */
type Chosen = { readonly [F in keyof NamedSpeaker]: NamedSpeaker[F] | undefined } & {
  readonly no: number;
  readonly name?: string | undefined;
};

/**
 * The settings with a speaker's own defaults.
 * @throws TtsError (usage) where it cannot do what is asked for
 */
export function settingsFor(speaker: Chosen, settings: Settings): Settings {
  const settled = withDefaults(settings, speaker);
  if (speaker.kind !== undefined) assertSupported(settled, { ...speaker, kind: speaker.kind });
  return settled;
}

function find({ speaker, speakers }: Settings, known: readonly KnownSpeaker[]): Chosen {
  if (speaker === undefined) {
    if (known[0]) return { no: known[0].no };
    throw usageError(
      'no speaker is chosen',
      'choose one with --speaker NUMBER, TTS_SPEAKER or "speaker" in a config file',
    );
  }
  const { value: said, origin } = speaker;
  const chosen: Chosen = typeof said === 'number' ? { no: said } : byName(said, origin, speakers, known);
  if (known.length > 0 && !known.some(({ no }) => no === chosen.no))
    throw unknownNumber(chosen, origin, known);
  return chosen;
}

function byName(
  name: string,
  origin: Origin,
  speakers: Settings['speakers'],
  known: readonly KnownSpeaker[],
): Chosen {
  const configured = speakers?.value.get(name);
  if (configured) return { ...configured, name };
  const own = known.find((other) => other.name === name);
  if (own) return { no: own.no, name, kind: own.kind };
  throw unknownName(name, origin, [...(speakers?.value.keys() ?? []), ...known.map((other) => other.name)]);
}

function unknownNumber(
  { no, name }: Chosen,
  { name: origin }: Origin,
  known: readonly KnownSpeaker[],
): TtsError {
  const all = known.map((other) => `${other.no} (${other.name})`).join(', ');
  return usageError(
    `${origin}: the built-in voice has no speaker ${no}${name === undefined ? '' : ` (${name})`}`,
    `name the service that has it with --base-url; there are: ${all}`,
  );
}

function unknownName(name: string, { name: origin }: Origin, names: readonly string[]): TtsError {
  const nearest = nearestName(name, names);
  const shown = names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ', ...' : '');
  const hint =
    names.length > 0
      ? `${nearest ? `did you mean ${nearest}? ` : ''}There are: ${shown}`
      : 'give its number, or name it under "speakers" in a config file';
  return usageError(`${origin}: no speaker is called ${JSON.stringify(name)}`, hint);
}

/** A kind is a fact about a speaker, by whatever way it was asked for. */
export function kindOf(no: number, all: readonly Pick<Chosen, 'no' | 'kind'>[]): string | undefined {
  return all.find((other) => other.no === no && other.kind !== undefined)?.kind;
}

function withDefaults(settings: Settings, { name, sampleRate, instructions }: Chosen): Settings {
  const place = settings.speakers?.origin.place ?? 'project';
  const origin: Origin = { place, name: `the speaker ${name}` };
  return {
    ...settings,
    sampleRate: stronger(settings.sampleRate, sampleRate, origin),
    instructions: stronger(settings.instructions, instructions, origin),
  };
}

/** What a person says now goes before what a file says of the speaker, and that before what a file says of all. */
function stronger<T>(
  said: Setting<T> | undefined,
  own: T | undefined,
  origin: Origin,
): Setting<T> | undefined {
  const isSaidNow = said?.origin.place === 'option' || said?.origin.place === 'environment';
  return own === undefined || isSaidNow ? said : { value: own, origin };
}

function assertSupported(settings: Settings, { no, name, kind }: Chosen & { readonly kind: string }): void {
  for (const [option, needed] of Object.entries(NEEDED_KINDS)) {
    const said = settings[option as keyof typeof NEEDED_KINDS];
    if (!said || kind.toLowerCase() === needed.toLowerCase()) continue;
    const who = name === undefined ? `speaker ${no}` : `speaker ${no} (${name})`;
    throw usageError(
      `${said.origin.name}: ${who} is a ${kind} speaker, and only ${needed} speakers accept ${option === 'sampleRate' ? 'a sample rate' : 'instructions'}`,
      `leave it out, or choose a speaker of the kind ${needed}: tts speakers lists them`,
    );
  }
}
