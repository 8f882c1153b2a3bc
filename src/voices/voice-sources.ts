import { EngineError, type EngineFault } from '../engine/contract.ts';
import type { NumberedSource, SourceConfig, SourceVoice } from '../engine/source.ts';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { dataFolder } from '../files/folders.ts';
import type { RunContext } from '../host.ts';
import { runtimesIn } from '../installed/runtimes.ts';
import { nearestName } from '../nearest.ts';
import type { Setting, Settings } from '../settings/resolve.ts';
import type { Speaking } from './language.ts';
import { configOf, entryOf } from './source-entries.ts';

/** Later voices are named by their names only, as the next numbers are those of the next engine. */
const NUMBERS_PER_ENGINE = 1000;

/** The later voices that a run names have numbers of this size: a user cannot name a voice by such a number. */
const PRIVATE_NUMBERS = 1_000_000_000;

/** A hint names no more voices. */
const MOST_SHOWN = 20;

export interface FoundVoice {
  readonly numbered: NumberedSource;
  readonly voice: SourceVoice;
  readonly no: number;
}

/** A voice that may be found by its language. */
export interface FoundSpeaking extends Speaking {
  find(): Promise<FoundVoice | undefined>;
}

interface OpenedSource extends NumberedSource {
  /** Its place among the engines. */
  readonly at: number;
  readonly voices: Map<number, SourceVoice>;
}

export class VoiceSources {
  readonly #settings: Settings;
  readonly #context: RunContext;
  readonly #configs: readonly Promise<SourceConfig>[];
  readonly #names: readonly string[];
  readonly #opened = new Map<number, Promise<OpenedSource>>();

  /** @throws TtsError (usage) for an unknown name */
  constructor(settings: Settings, context: RunContext, chosen: readonly Setting<string>[]) {
    this.#settings = settings;
    this.#context = context;
    const entries = new Map(settings.engines?.value);
    const first = chosen.map((each) => ({
      ...entryOf(each, settings, context.host),
      // A project may choose one of the user's engines, but not which of them gets the key.
      isChosen: each.origin.place !== 'project',
    }));
    for (const { name } of first) entries.delete(name);
    const all = [...first, ...[...entries].map(([name, entry]) => ({ name, entry, isChosen: false }))];
    this.#names = all.map(({ name }) => name);
    this.#configs = all.map(({ name, entry, isChosen }) =>
      configOf(name, entry, { ...context, settings, isChosen }),
    );
    // A wrong config fails the run that uses it.
    for (const config of this.#configs) config.catch(() => {});
  }

  /**
   * @returns `undefined` where the settings may mean a built-in voice
   * @throws TtsError (usage) for a voice that the engine does not have
   */
  async find({ engine, speaker, speakers }: Settings): Promise<FoundVoice | undefined> {
    if (!speaker) return engine && this.#voiceAt(await this.open(0), 0);
    const { value, origin } = speaker;
    const configured = typeof value === 'string' ? speakers?.value.get(value) : undefined;
    const no = typeof value === 'number' ? value : configured?.no;
    if (no !== undefined) return this.#voiceNumbered(no);
    const [prefix, name] = configured
      ? [configured.engine ?? '', configured.voice ?? '']
      : engineAndVoice(String(value));
    const at = this.#names.indexOf(prefix);
    if (at >= 0) return (await this.#voiceNamed(at, name)) ?? this.#unknown(at, name, origin.name);
    if (configured) throw noEngine(origin.name, prefix, this.#names);
    return engine && this.#voiceNamed(0, String(value));
  }

  /**
   * Looks in all engines; one that does not answer has no voices.
   * @throws TtsError (usage) if several have the name
   */
  async search(name: string, asked: string): Promise<FoundVoice | undefined> {
    const found = (await this.openAll(() => {})).flatMap((numbered) => {
      const place = numbered.source.voices.findIndex((voice) => voice.name === name);
      return this.#voiceAt(numbered, place) ?? [];
    });
    if (found.length <= 1) return found[0];
    const names = found.map(({ numbered }) => `${numbered.source.name}:${name}`).join(' or ');
    throw usageError(
      `${asked}: several engines have a voice ${JSON.stringify(name)}`,
      `say which one: ${names}`,
    );
  }

  /** The voices of all engines by their languages. */
  async speaking(): Promise<FoundSpeaking[]> {
    const opened = await this.openAll(() => {});
    return opened.flatMap((numbered) =>
      numbered.source.voices.map(({ language }, place) => ({
        language,
        find: async () => this.#voiceAt(numbered, place),
      })),
    );
  }

  /**
   * Asks all engines at the same time: together, the silent ones take the timeout once.
   * @param onFault called for each that cannot be opened
   */
  async openAll(onFault: (error: unknown, at: number) => void): Promise<OpenedSource[]> {
    const opening = this.#names.map((_, at) => this.open(at).catch((error) => onFault(error, at)));
    return (await Promise.all(opening)).filter((source) => source !== undefined);
  }

  /** @throws TtsError (usage), or what the engine says */
  open(at: number): Promise<OpenedSource> {
    const opened = this.#opened.get(at) ?? this.#open(at);
    this.#opened.set(at, opened);
    return opened;
  }

  async #unknown(at: number, name: string, asked: string): Promise<never> {
    const { source } = await this.open(at);
    const names = source.voices.map((voice) => voice.name);
    const nearest = nearestName(name, names);
    const shown = names.slice(0, MOST_SHOWN).join(', ');
    throw usageError(
      `${asked}: the engine ${source.name} has no voice ${JSON.stringify(name)}`,
      `${nearest ? `did you mean ${nearest}? ` : ''}There are: ${shown}`,
    );
  }

  async #voiceNamed(at: number, name: string): Promise<FoundVoice | undefined> {
    const numbered = await this.open(at);
    const { voices, takesAnyVoice } = numbered.source;
    const isNew = name !== '' && !voices.some((voice) => voice.name === name);
    if (takesAnyVoice && isNew) numbered.source.addVoice?.(name);
    const place = numbered.source.voices.findIndex((voice) => voice.name === name);
    return place < 0 ? undefined : this.#voiceAt(numbered, place);
  }

  async #voiceNumbered(no: number): Promise<FoundVoice | undefined> {
    const at = Math.floor((no - 1) / NUMBERS_PER_ENGINE) - 1;
    if (at < 0 || at >= this.#names.length) return undefined;
    const numbered = await this.open(at);
    const voice = numbered.voices.get(no);
    return voice && { numbered, voice, no };
  }

  #voiceAt(numbered: OpenedSource, place: number): FoundVoice | undefined {
    const voice = numbered.source.voices[place];
    if (!voice) return undefined;
    const no = numberOf(numbered.at, place);
    numbered.voices.set(no, voice);
    return { numbered, voice, no };
  }

  async #open(at: number): Promise<OpenedSource> {
    const config = await this.#configs[at];
    if (!config) throw new RangeError(`there is no engine ${at}`);
    const { openSource } = await import('../engine/external/open-source.ts');
    const { host, signal } = this.#context;
    const timeoutMs = this.#settings.timeout.value * 1000;
    const runtimes = runtimesIn(dataFolder(host), host.uid);
    const source = await openSource(config, { host, signal, timeoutMs, runtimes }).catch((error) => {
      throw explained(error, config);
    });
    const numbered = source.voices.slice(0, NUMBERS_PER_ENGINE);
    return { source, at, voices: new Map(numbered.map((voice, place) => [numberOf(at, place), voice])) };
  }
}

/** A voice has the same number in every run, since keys of the cache hold it. */
function numberOf(at: number, place: number): number {
  return place < NUMBERS_PER_ENGINE
    ? NUMBERS_PER_ENGINE * (at + 1) + 1 + place
    : PRIVATE_NUMBERS * (at + 1) + place;
}

function engineAndVoice(name: string): [engine: string, voice: string] {
  const colon = name.indexOf(':');
  return colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)];
}

function noEngine(asked: string, name: string, names: readonly string[]): TtsError {
  const list = names.length > 0 ? names.join(', ') : 'none';
  return usageError(
    `${asked}: no engine is called ${JSON.stringify(name)}`,
    `the engines of your config: ${list}`,
  );
}

const STATUSES = new Map<EngineFault, ExitCode>([
  ['unreachable', ExitCode.connection],
  ['late', ExitCode.timeout],
]);

function explained(error: unknown, config: SourceConfig): unknown {
  if (!(error instanceof EngineError)) return error;
  const exitCode = STATUSES.get(error.kind) ?? ExitCode.service;
  return new TtsError(error.message, { exitCode, hint: adviceOn(config), cause: error });
}

function adviceOn(config: SourceConfig): string {
  if (config.kind === 'server') return `check that the server runs: curl ${config.url.href}/audio/voices`;
  if (config.kind === 'model')
    return 'check the folder: docs/voices.md tells what it needs; cp -RL copies a folder of links';
  return `check that ${config.command[0]} is installed and on the PATH`;
}
