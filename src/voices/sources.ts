import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  EngineError,
  type EngineFault,
  type NumberedSource,
  type SourceConfig,
  type SourceVoice,
} from '../engines/engine.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { dataFolder, fromHome } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { nearestName } from '../kit/words.ts';
import { type EngineEntry, isAddress, type ServerAddress, serverAddress } from '../options/engine-entry.ts';
import { canBeOverheard, checkedKey, readKeyFile } from '../options/keys.ts';
import type { Setting, Settings } from '../options/load.ts';
import { runtimesIn } from './install/manifest.ts';
import type { Speaking } from './language.ts';

type KeySettings = Pick<Settings, 'allowInsecureHttp' | 'engineKey' | 'engineKeyFile'>;

export interface KeyedContext extends RunContext {
  readonly settings: KeySettings;
  /** True for the engine that the user chose for the run: `TTS_ENGINE_KEY` and a typed key are meant for it. */
  readonly isChosen: boolean;
}

/** What a server learns of who asks. */
export interface Authorization {
  /** The header of this name. */
  readonly authorization: string | undefined;
  /** Asks the person at the terminal for the key. It resolves with `undefined` for none. */
  readonly askAuthorization: (() => Promise<string | undefined>) | undefined;
}

/**
 * Takes the key of the entry, or the login of the address, or the key for the chosen engine. It goes to that server only, and
 * over plain http to near ones only.
 * @throws TtsError (usage)
 */
export async function authorizationOf(
  name: string,
  entry: EngineEntry,
  { url, login }: ServerAddress,
  context: KeyedContext,
): Promise<Authorization> {
  const own = await ownKey(name, entry, context);
  const key = own ?? (login === undefined ? await chosenKey(context) : undefined);
  const [what, authorization] =
    key === undefined ? ['password', login && basic(login, context)] : ['key', bearer(key, context)];
  const isOverheard = canBeOverheard(url, context.settings.allowInsecureHttp);
  if (authorization !== undefined && isOverheard)
    throw usageError(
      `the ${what} of the engine ${name} is not sent over plain http to ${url.host}: others could read it on the way`,
      'use https://, or "allowInsecureHttp": true in your own config if you mean it',
    );
  const mayAsk = authorization === undefined && !isOverheard && context.isChosen;
  return { authorization, askAuthorization: mayAsk ? () => askedKey(url, context) : undefined };
}

async function ownKey(
  name: string,
  { key, keyFile }: EngineEntry,
  { host, signal }: KeyedContext,
): Promise<string | undefined> {
  const isFile = keyFile !== undefined;
  const origin = { place: 'user', name: `engines.${name}.${isFile ? 'keyFile' : 'key'}` } as const;
  const place = { cwd: host.cwd, home: host.home, signal };
  const value = isFile ? await readKeyFile({ value: keyFile, origin }, place) : key;
  return value === undefined ? undefined : checkedKey({ value, origin }).value;
}

async function chosenKey({ settings, isChosen, host, signal }: KeyedContext): Promise<string | undefined> {
  const { engineKey, engineKeyFile } = settings;
  if (!isChosen || (!engineKey && !engineKeyFile)) return undefined;
  const given = engineKey ?? (await readNamed(engineKeyFile, { cwd: host.cwd, home: host.home, signal }));
  return given && checkedKey(given).value;
}

async function readNamed(
  file: Settings['engineKeyFile'],
  place: Parameters<typeof readKeyFile>[1],
): Promise<Setting<string> | undefined> {
  return file && { origin: file.origin, value: await readKeyFile(file, place) };
}

async function askedKey({ host }: URL, context: KeyedContext): Promise<string | undefined> {
  const { notices, signal } = context;
  const typed = await notices.askSecret(`Key for ${host} (not shown; none: Enter): `, signal);
  if (!typed?.trim()) return undefined;
  const origin = { place: 'option', name: 'the terminal' } as const;
  return bearer(checkedKey({ value: typed, origin }).value, context);
}

function bearer(key: string, { notices }: KeyedContext): string {
  notices.hide(key);
  return `Bearer ${key}`;
}

/** The header has the form of RFC 7617. A token may stand in the place of the user name, without a password. */
function basic(login: string, { notices }: KeyedContext): string {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(login) ?? [];
  const encoded = Buffer.from(login).toString('base64');
  for (const secret of [password || user, encoded]) notices.hide(secret);
  return `Basic ${encoded}`;
}

/** The key of the engine that the user's own config names with the same address. */
export function keyForAddress(
  address: string,
  engines: Settings['engines'],
): Pick<EngineEntry, 'key' | 'keyFile'> {
  const href = serverAddress(address)?.url.href;
  const isSame = ({ url }: EngineEntry) => url !== undefined && serverAddress(url)?.url.href === href;
  const { key, keyFile } = [...(engines?.value.values() ?? [])].find(isSame) ?? {};
  return { ...(key !== undefined && { key }), ...(keyFile !== undefined && { keyFile }) };
}

const MAX_CHARS = 300;
const SERVER_CONCURRENCY = 4;

/** The tests of this project do not run them. */
const PRESETS: ReadonlyMap<string, EngineEntry> = new Map([
  [
    'say',
    {
      command: ['say', '-f', '{text}', '--file-format=WAVE', '--data-format=LEI16@22050', '-o', '{output}'],
    },
  ],
  [
    'sapi',
    {
      command: [
        'powershell.exe',
        '-NoProfile',
        '-Command',
        "Add-Type -AssemblyName System.Speech; $voice = New-Object System.Speech.Synthesis.SpeechSynthesizer; $voice.SetOutputToWaveFile('{output}'); $voice.Speak([IO.File]::ReadAllText('{text}')); $voice.Dispose()",
      ],
    },
  ],
]);

/**
 * A project names engines of the user's own config. It brings none: no address, no folder, and no preset, which is a program.
 * @throws TtsError (usage) for an unknown name
 */
export function entryOf(
  chosen: Setting<string>,
  { engines }: Pick<Settings, 'engines'>,
  host: Pick<Host, 'cwd' | 'home'>,
): { readonly name: string; readonly entry: EngineEntry } {
  const { value: name, origin } = chosen;
  const own = engines?.value.get(name);
  if (own) return { name, entry: own };
  const there = [...(engines?.value.keys() ?? [])];
  if (origin.place === 'project') throw unknownEngine(chosen, there);
  if (isAddress(name)) {
    const entry = { url: name, ...keyForAddress(name, engines) };
    return { name: serverAddress(name)?.url.host ?? name, entry };
  }
  const preset = PRESETS.get(name);
  if (preset) return { name, entry: preset };
  const folder = resolve(host.cwd, fromHome(name, host.home));
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (/[/\\]/.test(name) || isFolder) return { name: basename(folder), entry: { model: folder } };
  throw unknownEngine(chosen, there);
}

function unknownEngine({ value: name, origin }: Setting<string>, there: readonly string[]): TtsError {
  const nearest = nearestName(name, there);
  const advice = origin.place === 'project' ? 'Name it' : 'Give a URL or a folder, or name it';
  const list = there.length > 0 ? `; there are: ${there.join(', ')}` : '';
  return usageError(
    `${origin.name}: no engine is called ${JSON.stringify(name)}`,
    `${nearest ? `did you mean ${nearest}? ` : ''}${advice} under "engines" in your own config${list}`,
  );
}

export async function configOf(
  name: string,
  entry: EngineEntry,
  context: KeyedContext,
): Promise<SourceConfig> {
  const { host } = context;
  const { voices, sampleRate, maxChars = MAX_CHARS } = entry;
  const common = { name, voices, maxChars };
  const home = (word: string) => fromHome(word, host.home);
  if (entry.url !== undefined) {
    const address = serverAddress(entry.url);
    if (!address) throw new RangeError(`${name} has no address`);
    const { url } = address;
    const keyed = await authorizationOf(name, entry, address, context);
    const concurrency = entry.concurrency ?? SERVER_CONCURRENCY;
    const { model, format = 'wav' } = entry;
    return { ...common, kind: 'server', url, model, ...keyed, format, sampleRate, concurrency };
  }
  const concurrency = entry.concurrency ?? 1;
  const [program, ...rest] = (entry.command ?? []).map(home);
  if (program !== undefined) {
    const output = entry.output ?? 'wav';
    return { ...common, kind: 'program', command: [program, ...rest], output, sampleRate, concurrency };
  }
  const folder = resolve(host.cwd, home(entry.model ?? ''));
  return { ...common, kind: 'model', folder, language: entry.language, concurrency };
}

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
    const { openSource } = await import('../engines/external.ts');
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
