import { usageError } from '../kit/error.ts';
import { readSpeaker } from '../options/kinds.ts';
import type { Origin, Settings } from '../options/load.ts';
import type { Reading } from '../read/reading.ts';
import type { Speaker } from '../sound/voice.ts';
import { Dialogue, OTHERS } from '../text/dialogue.ts';
import { Marks, placeText } from '../text/marks.ts';
import { END_BEFORE_ERROR, type Piece, type Place } from '../text/piece.ts';
import type { Role } from '../text/segment.ts';
import type { Stage } from '../text/stage.ts';
import type { Voices } from './catalogue.ts';

export interface CastPlan {
  /** It is set if brackets are marks. */
  readonly Marks: typeof Marks | undefined;
  /** It is set if lines may begin with names. */
  readonly dialogue: (() => Stage<Piece, Piece>) | undefined;
  /**
   * It is missing where nothing is to be spoken.
   * @throws TtsError (usage) for an unknown voice
   */
  readonly roleOf?: (name: string, place: Place) => Promise<Role>;
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
  readonly #named = new Map<string, Speaker>();
  readonly #said = new Set<string>();
  /** Names that begin lines and are not listed, with the number of their lines. */
  readonly #unlisted = new Map<string, number>();
  readonly #roles = new Map<string, Role>();
  readonly #all = new Set<Speaker>();

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
  get all(): readonly Speaker[] {
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

  /** The speaker of a name that was found before. */
  speakerOf(name: string): Speaker | undefined {
    return this.#named.get(name.startsWith(OTHERS) ? OTHERS : name) ?? this.#roles.get(name)?.speaker;
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
    const value = readSpeaker(name);
    if (value !== undefined) return asRole(await this.#find(value, origin), name);
    throw usageError(
      `${origin.name}: "${name}" is not a voice`,
      'name one by its number or name, as -s does',
    );
  }

  async #find(value: string | number, origin: Origin): Promise<Speaker> {
    const speaker = await this.#voices.cast({ value, origin });
    this.#all.add(speaker);
    return speaker;
  }
}

export function asRole(speaker: Speaker, name?: string): Role {
  const { maxChars, isKept } = speaker;
  return { maxChars, isKept, speaker, name };
}

/**
 * Looks at all marks of a text that can be read again.
 * @throws TtsError (usage) for a mark that is none, and for an unknown voice
 */
export async function checkMarks(
  reading: Reading,
  { roleOf }: Pick<CastPlan, 'roleOf'>,
  signal: AbortSignal,
): Promise<void> {
  const { voices, hasFault } = await lookThrough(reading, signal);
  const unknown = new Map<string, unknown>();
  for (const [name, place] of voices)
    await roleOf?.(name, place).catch((error) => {
      unknown.set(name, error);
    });
  if (hasFault || unknown.size > 0) await assertUnread(unknown, reading, signal);
}

/** The reader gets nothing to read, which costs nothing. */
async function lookThrough(reading: Reading, signal: AbortSignal) {
  const voices = new Map<string, Place>();
  let hasFault = false;
  const marks = new Marks({
    source: reading.source.name,
    onMark(mark, spot) {
      hasFault ||= mark.kind === 'fault';
      if (mark.kind === 'voice' && mark.voice !== undefined && !voices.has(mark.voice))
        voices.set(mark.voice, spot);
    },
  });
  const inFront = withoutOutput(marks.lift());
  for await (const _ of reading.pieces(signal, { inFront }));
  return { voices, hasFault };
}

/** What looks like a mark in a comment, an attribute or a script is not read, and no error. */
async function assertUnread(
  unknown: ReadonlyMap<string, unknown>,
  reading: Reading,
  signal: AbortSignal,
): Promise<void> {
  const marks = new Marks({ source: reading.source.name });
  const place = marks.place();
  for await (const piece of reading.pieces(signal, { inFront: marks.lift() }))
    for (const each of place.push(piece))
      if (each.kind === 'voice' && each.voice !== undefined && unknown.has(each.voice))
        throw unknown.get(each.voice);
}

function withoutOutput(stage: Stage<string, string>): Stage<string, string> {
  return {
    push(text) {
      for (const _ of stage.push(text));
      return [];
    },
    end() {
      for (const _ of stage.end());
      return [];
    },
  };
}

/** One voice speaks all of the text. */
export function spokenBy(voice: Role): Stage<Piece, Piece<Role>> {
  return {
    push: (piece) => [piece.kind === 'voice' ? { ...piece, voice } : piece],
    end: () => [],
  };
}

/**
 * Puts voices in the place of names.
 * @param usual the voice of the run
 * @throws TtsError (usage) for an unknown voice
 */
export async function* voiced(
  pieces: AsyncIterable<Piece>,
  usual: Role,
  roleOf: CastPlan['roleOf'],
): AsyncGenerator<Piece<Role>> {
  for await (const piece of pieces) {
    if (piece.kind !== 'voice') yield piece;
    else if (piece.voice === undefined || !roleOf) yield { ...piece, voice: usual };
    else yield* calledFor(piece.voice, piece.place, roleOf);
  }
}

async function* calledFor(
  name: string,
  place: Place,
  roleOf: NonNullable<CastPlan['roleOf']>,
): AsyncGenerator<Piece<Role>> {
  try {
    yield { kind: 'voice', voice: await roleOf(name, place), place };
  } catch (error) {
    yield END_BEFORE_ERROR;
    throw error;
  }
}
