import { type TtsError, usageError } from '../error.ts';
import { valueHint } from '../hints.ts';
import { nearestName } from '../nearest.ts';
import type { Origin, Setting, Settings } from './resolve.ts';
import type { NamedSpeaker } from './special-kinds.ts';

export interface KnownSpeaker {
  readonly no: number;
  readonly name: string;
  readonly kind: string | undefined;
}

export interface Choice {
  readonly no: number;
  /** It is `undefined` for a number of a service that no config describes. */
  readonly kind: string | undefined;
  readonly settings: Settings;
}

interface Absent {
  /** The end of the hint. */
  readonly remark?: string | undefined;
  /** Names of voices that can be installed. */
  readonly offered?: readonly string[];
}

const NEEDED_KINDS = { sampleRate: 'neo.one', instructions: 'Mermish' } as const;

/**
 * Adds the speaker's own defaults; options and the environment are stronger.
 * @param known the speakers of the built-in service, the default first; empty for another service
 * @param absent what to say of a speaker that is not there
 * @throws TtsError (usage) for an unknown speaker, or one that cannot do what is asked for
 */
export function chooseSpeaker(settings: Settings, known: readonly KnownSpeaker[], absent?: Absent): Choice {
  const chosen = find(settings, known, absent);
  const configured = [...(settings.speakers?.value.values() ?? [])];
  const kind = kindOf(chosen.no, known) ?? chosen.kind ?? kindOf(chosen.no, configured);
  return { no: chosen.no, kind, settings: settingsFor({ ...chosen, kind }, settings, known.length > 0) };
}

/** What a run asks of its speaker, as far as another voice of its text can do it. A voice has its own settings besides. */
export function sharedWith(
  { kind, settings: own }: Choice,
  { sampleRate, instructions, speed }: Pick<Settings, 'sampleRate' | 'instructions' | 'speed'>,
): Pick<Settings, 'sampleRate' | 'instructions' | 'speed'> {
  const can = (needed: string, unknown: boolean) => (kind ? isKind(kind, needed) : unknown);
  const rate = can(NEEDED_KINDS.sampleRate, true) ? sampleRate : undefined;
  const words = can(NEEDED_KINDS.instructions, false) ? instructions : undefined;
  return {
    sampleRate: rate && isGivenNow(rate) ? rate : (own.sampleRate ?? rate),
    instructions: words && isGivenNow(words) ? words : (own.instructions ?? words),
    speed: speed && isGivenNow(speed) ? speed : (own.speed ?? speed),
  };
}

function isKind(kind: string, needed: string): boolean {
  return kind.toLowerCase() === needed.toLowerCase();
}

function isGivenNow({ origin: { place } }: Setting<unknown>): boolean {
  return place === 'option' || place === 'environment';
}

/** True for a known speaker, and where no speaker is asked for. */
export function isAmong(known: readonly KnownSpeaker[], { speaker, speakers }: Settings): boolean {
  if (speaker === undefined) return true;
  const asked = lookUp(speaker.value, speakers, known);
  return known.some(({ no }) => no === asked?.no);
}

type Chosen = { readonly [F in keyof NamedSpeaker]: NamedSpeaker[F] | undefined } & {
  readonly no: number;
  readonly name?: string | undefined;
};

/**
 * @param isBuiltIn true where the built-in voices can speak as well
 * @throws TtsError (usage)
 */
export function settingsFor(speaker: Chosen, settings: Settings, isBuiltIn = false): Settings {
  const settled = withDefaults(settings, speaker);
  if (speaker.kind !== undefined) assertSupported(settled, { ...speaker, kind: speaker.kind }, isBuiltIn);
  return settled;
}

function find({ speaker, speakers }: Settings, known: readonly KnownSpeaker[], absent: Absent = {}): Chosen {
  if (speaker === undefined) {
    if (known[0]) return { no: known[0].no };
    throw usageError(
      'no speaker is chosen',
      'choose one with --speaker NUMBER, TTS_SPEAKER or "speaker" in a config file',
    );
  }
  const { value: name, origin } = speaker;
  const chosen = lookUp(name, speakers, known);
  if (!chosen) {
    const there = [...(speakers?.value.keys() ?? []), ...known.map(({ name }) => name)];
    throw unknownName(String(name), { origin: origin.name, there, ...absent });
  }
  if (known.length === 0 || known.some(({ no }) => no === chosen.no)) return chosen;
  const there = known.map(({ no, name }) => `${no} (${name})`);
  throw unknownNumber(labelOf(chosen), { origin: origin.name, there, ...absent });
}

function lookUp(
  name: string | number,
  speakers: Settings['speakers'],
  known: readonly KnownSpeaker[],
): Chosen | undefined {
  if (typeof name === 'number') return { no: name };
  const configured = speakers?.value.get(name);
  if (configured) return configured.no === undefined ? undefined : { ...configured, no: configured.no, name };
  const own =
    known.find((other) => other.name === name) ??
    known.find((other) => other.name.toLowerCase() === name.toLowerCase());
  return own && { no: own.no, name, kind: own.kind };
}

function labelOf({ no, name }: Chosen): string {
  return name === undefined ? `${no}` : `${no} (${name})`;
}

export function kindOf(no: number, all: readonly Partial<Pick<Chosen, 'no' | 'kind'>>[]): string | undefined {
  return all.find((other) => other.no === no && other.kind !== undefined)?.kind;
}

function withDefaults(settings: Settings, { name, sampleRate, instructions, speed }: Chosen): Settings {
  const place = settings.speakers?.origin.place ?? 'project';
  const origin: Origin = { place, name: `the speaker ${name}` };
  return {
    ...settings,
    sampleRate: stronger(settings.sampleRate, sampleRate, origin),
    instructions: stronger(settings.instructions, instructions, origin),
    speed: stronger(settings.speed, speed, origin),
  };
}

/** A speaker's own value is weaker than options and environment, and stronger than the config. */
function stronger<T>(
  given: Setting<T> | undefined,
  own: T | undefined,
  origin: Origin,
): Setting<T> | undefined {
  return own === undefined || (given && isGivenNow(given)) ? given : { value: own, origin };
}

function assertSupported(
  settings: Settings,
  speaker: Chosen & { readonly kind: string },
  isBuiltIn: boolean,
): void {
  const { kind } = speaker;
  for (const [option, needed] of Object.entries(NEEDED_KINDS)) {
    const given = settings[option as keyof typeof NEEDED_KINDS];
    if (!given || isKind(kind, needed)) continue;
    const what = option === 'sampleRate' ? 'a sample rate' : 'instructions';
    const who = `${given.origin.name}: speaker ${labelOf(speaker)}`;
    // The kinds are words of a service: the voices of this program do not speak of them.
    if (isBuiltIn)
      throw usageError(
        `${who} takes ${option === 'sampleRate' ? 'no sample rate' : 'no instructions'}`,
        option === 'sampleRate'
          ? 'leave it out: only the voices that take instructions have no other rate'
          : 'leave it out, or choose a voice that takes instructions: -s 11 to -s 15, or a service',
      );
    throw usageError(
      `${who} is a ${kind} speaker, and only ${needed} speakers accept ${what}`,
      `leave it out, or choose a speaker of the kind ${needed}: tts speakers lists them`,
    );
  }
}

const MOST_SHOWN = 20;

interface Unknown extends Absent {
  readonly origin: string;
  readonly there: readonly string[];
}

function unknownNumber(who: string, unknown: Unknown): TtsError {
  return usageError(
    `${unknown.origin}: the built-in service has no speaker ${who}`,
    `name the service that has it with --base-url; there are: ${shown(unknown)}`,
  );
}

function unknownName(name: string, unknown: Unknown): TtsError {
  const { origin, there, offered = [] } = unknown;
  const guess = valueHint('speaker', name);
  const nearest = nearestName(name, [...there, ...offered]);
  const install = nearest && !there.includes(nearest) ? `tts voices install ${nearest} brings it. ` : '';
  const hint =
    there.length > 0
      ? `${nearest ? `did you mean ${nearest}? ${install}` : ''}There are: ${shown(unknown)}`
      : 'give its number, or name it under "speakers" in a config file';
  return usageError(`${origin}: no speaker is called ${JSON.stringify(name)}`, guess ?? hint);
}

function shown({ there, remark }: Unknown): string {
  const list = there.slice(0, MOST_SHOWN).join(', ');
  const all = there.length > MOST_SHOWN ? `${list}, ...; tts speakers lists all` : list;
  return remark === undefined ? all : `${all}; ${remark}`;
}

/** What is asked of a voice besides its text. */
export interface Asked {
  readonly sampleRate: number | undefined;
  readonly instructions: string | undefined;
  readonly speed?: number;
}

export function askedBy({
  sampleRate,
  instructions,
  speed,
}: Pick<Settings, 'sampleRate' | 'instructions' | 'speed'>): Asked {
  const asked = { sampleRate: sampleRate?.value, instructions: instructions?.value };
  return speed && speed.value !== 1 ? { ...asked, speed: speed.value } : asked;
}
