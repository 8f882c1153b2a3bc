import { usageError } from '../../error.ts';
import type { Origin, Settings } from '../../settings/resolve.ts';
import { rules } from '../../settings/rules.ts';
import type { Stage } from '../../text/live.ts';
import { Dialogue, OTHERS } from '../../text/marks/dialogue.ts';
import { Marks, placeText } from '../../text/marks/marks.ts';
import type { Piece, Place } from '../../text/piece.ts';
import type { Limit, Segment } from '../../text/segment.ts';
import type { Voice, VoiceShape, Voices } from '../../voices/voice.ts';

export interface CastPlan {
  /** It is set if brackets are marks. */
  readonly Marks: typeof Marks | undefined;
  /** It is set if lines may begin with names. */
  readonly dialogue: (() => Stage<Piece, Piece>) | undefined;
  /**
   * It is missing where nobody is to speak.
   * @throws TtsError (usage) for an unknown voice
   */
  readonly roleOf?: (name: string, place: Place) => Promise<Limit>;
}

/** A voice in a text, under the name that the text gives it. */
export interface Role extends Limit {
  readonly voice: Voice;
  readonly name: string;
}

/** The role that speaks a segment; `undefined` is the voice of the run, whose name the text does not give. */
export function roleIn({ voice }: Pick<Segment, 'voice'>): Role | undefined {
  return 'voice' in voice ? (voice as Role) : undefined;
}

type CastSettings = Pick<Settings, 'marks' | 'voices'>;

/** The number of names that are remembered. */
const MOST_ROLES = 10_000;

/** What a text without speakers needs: its marks and names are taken out. */
export function textCast(
  { marks, voices }: CastSettings,
  onName: (name: string) => void = () => {},
  onUnlisted: (name: string) => void = () => {},
): Omit<CastPlan, 'roleOf'> {
  return {
    Marks: marks.value ? Marks : undefined,
    dialogue: voices && (() => new Dialogue(voices.value.keys(), onName, onUnlisted)),
  };
}

/** Finds the voices that a text names. */
export class Cast {
  readonly plan: CastPlan;
  /** What is wrong with the names of the dialogue has been told. */
  areNamesTold = false;
  readonly #voices: Pick<Voices, 'cast'>;
  /** The voices of the dialogue by their names. */
  readonly #named = new Map<string, Voice>();
  readonly #said = new Set<string>();
  /** Names that begin lines and are not listed, with the number of their lines. */
  readonly #unlisted = new Map<string, number>();
  readonly #roles = new Map<string, Role>();
  readonly #all = new Set<Voice>();

  /** @throws TtsError (usage) for an unknown voice of the dialogue */
  static async open(settings: CastSettings, voices: Pick<Voices, 'cast'>): Promise<Cast> {
    const cast = new Cast(settings, voices);
    const { value: named = [], origin } = settings.voices ?? {};
    for (const [name, speaker] of named)
      cast.#named.set(
        name,
        await cast.#find(speaker, { ...origin, name: `${origin?.name}, ${name}` } as Origin),
      );
    return cast;
  }

  private constructor(settings: CastSettings, voices: Pick<Voices, 'cast'>) {
    this.#voices = voices;
    this.plan = {
      ...textCast(
        settings,
        (name) => this.#said.add(name),
        (name) => this.#countUnlisted(name),
      ),
      roleOf: (name, place) => this.#roleOf(name, place),
    };
  }

  /** All that were found so far. */
  get all(): readonly Voice[] {
    return [...this.#all];
  }

  /** The names of the dialogue that the text did not have so far. */
  get absent(): readonly string[] {
    return [...this.#named.keys()].filter((name) => name !== OTHERS && !this.#said.has(name));
  }

  /** The names of no voice that the text had so far, with the number of their lines, the most frequent first. */
  get unlisted(): readonly (readonly [name: string, lines: number])[] {
    return [...this.#unlisted].sort(([, a], [, b]) => b - a);
  }

  /** The text is read once more. */
  recount(): void {
    this.#unlisted.clear();
  }

  get hasDialogue(): boolean {
    return this.plan.dialogue !== undefined;
  }

  #countUnlisted(name: string): void {
    const count = this.#unlisted.get(name) ?? 0;
    if (count > 0 || this.#unlisted.size < MOST_ROLES) this.#unlisted.set(name, count + 1);
  }

  /** What decides on the sound of a voice that was found before. */
  shapeOf(name: string): VoiceShape | undefined {
    return (this.#named.get(name.startsWith(OTHERS) ? OTHERS : name) ?? this.#roles.get(name)?.voice)?.shape;
  }

  async #roleOf(name: string, place: Place): Promise<Role> {
    const role = this.#roles.get(name) ?? (await this.#cast(name, place));
    if (this.#roles.size >= MOST_ROLES) this.#roles.clear();
    this.#roles.set(name, role);
    return role;
  }

  async #cast(name: string, place: Place): Promise<Role> {
    const isOther = name.startsWith(OTHERS);
    const named = this.#named.get(isOther ? OTHERS : name);
    if (named) return asRole(named, isOther ? name.slice(OTHERS.length) : name);
    const origin: Origin = { place: 'option', name: placeText(place) };
    const value = rules.speaker.kind.text(name);
    if (value !== undefined) return asRole(await this.#find(value, origin), name);
    throw usageError(`${origin.name}: "${name}" is no voice`, 'name one by its number or name, as -s does');
  }

  async #find(value: string | number, origin: Origin): Promise<Voice> {
    const voice = await this.#voices.cast({ value, origin });
    this.#all.add(voice);
    return voice;
  }
}

function asRole(voice: Voice, name: string): Role {
  const { maxChars, isKept } = voice;
  return { maxChars, isKept, voice, name };
}
