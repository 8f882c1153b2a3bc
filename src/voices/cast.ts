import { usageError } from '../kit/error.ts';
import { readSpeaker } from '../options/kinds.ts';
import type { Origin, Setting, Settings } from '../options/load.ts';
import type { Reading } from '../read/reading.ts';
import type { Speaker } from '../sound/voice.ts';
import { Dialogue, OTHERS } from '../text/dialogue.ts';
import { Marks, placeText } from '../text/marks.ts';
import { END_BEFORE_ERROR, type Piece, type Place } from '../text/piece.ts';
import type { Role } from '../text/segment.ts';
import type { Stage } from '../text/stage.ts';
import type { Voices } from './voices.ts';

export interface CastPlan {
  /** True if brackets in the text are marks. */
  readonly obeysMarks: boolean;
  /** Makes the stage for lines that begin with names; set if there may be such lines. */
  readonly dialogue: (() => Stage<Piece, Piece>) | undefined;
  /**
   * Makes the stage that finds the language of passages; set if languages have voices of their own.
   * @param usual the language of the run's voice
   */
  readonly languages?: ((usual: string | undefined) => Stage<Piece, Piece>) | undefined;
  /** Returns the role of a language that has a voice of its own. */
  readonly roleIn?: (language: string) => Role;
  /**
   * Returns the role for the name of a voice; missing if nothing is to be spoken.
   * @throws TtsError (usage) for an unknown voice
   */
  readonly roleOf?: (name: string, place: Place) => Promise<Role>;
}

type CastSettings = Pick<Settings, 'marks' | 'voices' | 'languages'>;

/** Names that are remembered at most. */
const MOST_ROLES = 10_000;

/** Voices that a text may name. Some servers take any name. */
const MOST_VOICES = 10_000;

/** Returns the plan for a text that is only read: marks and names are removed, and no voice is looked for. */
export function textCast(
  { marks, voices }: Pick<CastSettings, 'marks' | 'voices'>,
  onName: (name: string) => void = () => {},
  onUnlisted: (name: string) => void = () => {},
): Omit<CastPlan, 'roleOf'> {
  return {
    obeysMarks: marks.value,
    dialogue: voices && (() => new Dialogue(voices.value.keys(), onName, onUnlisted)),
  };
}

/** Finds the voices that a text names. */
export class Cast {
  #plan: CastPlan;
  /** True once the user has been warned of wrong names in the dialogue. */
  hasWarnedOfNames = false;
  readonly #voices: Pick<Voices, 'cast'>;
  /** The voices of the dialogue by their names. */
  readonly #named = new Map<string, Speaker>();
  readonly #said = new Set<string>();
  /** Names that begin lines and are not listed, with the number of their lines. */
  readonly #unlisted = new Map<string, number>();
  readonly #roles = new Map<string, Role>();
  /** Roles by language, for the languages that have voices of their own. */
  readonly #inLanguages = new Map<string, Role>();
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
    if (settings.languages) await cast.#openLanguages(settings.languages);
    return cast;
  }

  private constructor(settings: CastSettings, voices: Pick<Voices, 'cast'>) {
    this.#voices = voices;
    this.#plan = {
      ...textCast(
        settings,
        (name) => this.#said.add(name),
        (name) => this.#countUnlisted(name),
      ),
      roleOf: (name, place) => this.#roleOf(name, place),
    };
  }

  get plan(): CastPlan {
    return this.#plan;
  }

  async #openLanguages({ value, origin }: NonNullable<CastSettings['languages']>): Promise<void> {
    const [{ Languages }, { baseLanguage, languageOf, voiceForLanguage }] = await Promise.all([
      import('../text/languages.ts'),
      import('./language.ts'),
    ]);
    const named: { key: string; code: string; language: string }[] = [];
    for (const [key, asked] of value) {
      const place = { ...origin, name: `${origin.name}, ${key}` };
      const code = baseLanguage(key);
      if (code === undefined)
        throw usageError(
          `${place.name}: "${key}" is not a language`,
          'name languages by their tags: de, fr, pt-BR',
        );
      const speaker = await this.#find(asked, place, { value: key, origin: place });
      this.#inLanguages.set(key, { ...asRole(speaker), language: key });
      named.push({ key, code, language: key });
    }
    const meantBy = (tag: string) =>
      languageOf(tag) === undefined ? undefined : (voiceForLanguage(tag, [named])?.key ?? '');
    this.#plan = {
      ...this.#plan,
      languages: (usual) => new Languages({ named, usual: usual && languageOf(usual), meantBy }),
      roleIn: (language) => this.roleIn(language),
    };
  }

  /** Returns the role of a language that has a voice of its own. */
  roleIn(language: string): Role {
    const role = this.#inLanguages.get(language);
    if (!role) throw new RangeError(`no voice was opened for ${language}`);
    return role;
  }

  /** The languages that have voices of their own. */
  get languages(): readonly string[] {
    return [...this.#inLanguages.keys()];
  }

  /** All speakers that were found so far. */
  get all(): readonly Speaker[] {
    return [...this.#all];
  }

  /** Listed names of the dialogue that no line has had so far. */
  get absent(): readonly string[] {
    return [...this.#named.keys()].filter((name) => name !== OTHERS && !this.#said.has(name));
  }

  /** Names of lines so far that are not listed, with the number of their lines, the most frequent first. */
  get unlisted(): readonly (readonly [name: string, lines: number])[] {
    return [...this.#unlisted].sort(([, a], [, b]) => b - a);
  }

  /** Resets the counts of lines, before the text is read once more. */
  recount(): void {
    this.#unlisted.clear();
  }

  get hasDialogue(): boolean {
    return this.#plan.dialogue !== undefined;
  }

  #countUnlisted(name: string): void {
    const count = this.#unlisted.get(name) ?? 0;
    if (count > 0 || this.#unlisted.size < MOST_ROLES) this.#unlisted.set(name, count + 1);
  }

  /** Returns the speaker of a name that was found before. */
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

  async #find(value: string | number, origin: Origin, language?: Setting<string>): Promise<Speaker> {
    if (this.#all.size >= MOST_VOICES)
      throw usageError(`${origin.name}: a text can have ${MOST_VOICES} voices at most`, 'divide the text');
    const speaker = await this.#voices.cast({ value, origin }, { language });
    this.#all.add(speaker);
    return speaker;
  }
}

export function asRole(speaker: Speaker, name?: string): Role {
  const { maxChars, isCached } = speaker;
  return { maxChars, isCached, speaker, name };
}

/**
 * Checks all marks of a text, which has to be readable again, before any of it is spoken.
 * @throws TtsError (usage) for an invalid mark, and for an unknown voice
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

/** Finds the marks in the raw text. The reader of the format gets no text, so that nothing else is done. */
async function lookThrough(reading: Reading, signal: AbortSignal) {
  const voices = new Map<string, Place>();
  let hasFault = false;
  const marks = new Marks({
    source: reading.source.name,
    onMark(mark, place) {
      hasFault ||= mark.kind === 'fault';
      // One more than there may be is found, and is then the error.
      const isWanted = voices.size <= MOST_VOICES;
      if (isWanted && mark.kind === 'voice' && mark.voice !== undefined && !voices.has(mark.voice))
        voices.set(mark.voice, place);
    },
  });
  const filter = withoutOutput(marks.lift());
  for await (const _ of reading.pieces(signal, { filter }));
  return { voices, hasFault };
}

/** Throws for faulty marks that are part of the text: one in a comment, an attribute or a script is no error. */
async function assertUnread(
  unknown: ReadonlyMap<string, unknown>,
  reading: Reading,
  signal: AbortSignal,
): Promise<void> {
  const marks = new Marks({ source: reading.source.name });
  const place = marks.place();
  for await (const piece of reading.pieces(signal, { filter: marks.lift() }))
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

/** Makes a stage that gives the whole text to one voice. */
export function spokenBy(voice: Role): Stage<Piece, Piece<Role>> {
  return {
    push: (piece) => [piece.kind === 'voice' ? { ...piece, voice } : piece],
    end: () => [],
  };
}

/**
 * Replaces the names of voices and languages by their roles.
 * @param usual the voice of the run
 * @throws TtsError (usage) for an unknown voice
 */
export async function* voiced(
  pieces: AsyncIterable<Piece>,
  usual: Role,
  { roleOf, roleIn }: Pick<CastPlan, 'roleOf' | 'roleIn'> = {},
): AsyncGenerator<Piece<Role>> {
  for await (const piece of pieces) {
    if (piece.kind !== 'voice') yield piece;
    else if (piece.language !== undefined && roleIn) yield { ...piece, voice: roleIn(piece.language) };
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
