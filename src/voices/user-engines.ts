/** The engines of the user: those under `engines` in the config, and the one of `--engine`. */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  EngineError,
  type EngineFault,
  type ExternalSource,
  type SourceConfig,
  type SourceVoice,
} from '../engines/engine.ts';
import { ExternalEngine, openSource } from '../engines/external.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { dataFolder, fromHome } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { nearestName } from '../kit/words.ts';
import { type EngineEntry, isAddress, type ServerAddress, serverAddress } from '../options/engine-entry.ts';
import { canBeOverheard, checkedKey, readKeyFile } from '../options/keys.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Setting, Settings } from '../options/load.ts';
import type { Voice, VoiceSource } from '../sound/voice.ts';
import { runtimesIn } from './install/manifest.ts';
import { localSource } from './local.ts';
import { FIRST_PRIVATE_NUMBER, type PlaceOptions, sameName, type VoicePlace } from './sources.ts';

/** Later voices can be chosen only by name, because the next numbers are those of the next engine. */
const NUMBERS_PER_ENGINE = 1000;

/** Texts that are queued at an engine in addition to those that it speaks, so that it never waits for one. */
const WAITING = 2;

/** Voices that a hint names at most. */
const MOST_SHOWN = 20;

/** An engine of the user. It is opened when one of its voices is looked for. */
class UserEngine implements VoicePlace {
  readonly name: string;
  readonly #at: number;
  readonly #config: Promise<SourceConfig>;
  readonly #options: EnginesOptions;
  #opened: Promise<Opened> | undefined;

  constructor(
    named: { readonly name: string; readonly at: number },
    config: Promise<SourceConfig>,
    options: EnginesOptions,
  ) {
    this.name = named.name;
    this.#at = named.at;
    this.#config = config;
    this.#options = options;
    // The run that uses the engine reports what is wrong with its config.
    config.catch(() => {});
  }

  async numbered(no: number): Promise<Voice | undefined> {
    const place = no - numberOf(this.#at, 0);
    return place < 0 || place >= NUMBERS_PER_ENGINE ? undefined : (await this.list())[place];
  }

  /** Finds a voice by its name. A server without a list of voices takes any name. */
  async named(name: string): Promise<Voice | undefined> {
    const { source, voices } = await this.#open();
    const found = voices().find((voice) => sameName(voice, name));
    if (found || name === '' || !source.addVoice) return found;
    source.addVoice(name);
    return voices().at(-1);
  }

  async list(): Promise<readonly Voice[]> {
    return (await this.#open()).voices();
  }

  /** @throws TtsError (usage) for an unknown voice */
  async namedOrThrow(name: string, origin: string): Promise<Voice> {
    const found = await this.named(name);
    if (found) return found;
    const names = (await this.list()).map((voice) => voice.name ?? '');
    const nearest = nearestName(name, names);
    throw usageError(
      `${origin}: the engine ${this.name} has no voice ${JSON.stringify(name)}`,
      `${nearest ? `did you mean ${nearest}? ` : ''}there are: ${names.slice(0, MOST_SHOWN).join(', ')}`,
    );
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#openNow();
    return this.#opened;
  }

  async #openNow(): Promise<Opened> {
    const config = await this.#config;
    const { settings, context, wrap } = this.#options;
    const { host, signal } = context;
    const timeoutMs = settings.timeout.value * 1000;
    const runtimes = runtimesIn(dataFolder(host), host.uid);
    const source = await openSource(config, { host, signal, timeoutMs, runtimes }).catch((error) => {
      throw explained(error, adviceOn(config));
    });
    return openEngineVoices(source, { wrap, settings, numberOf: (place) => numberOf(this.#at, place) });
  }
}

interface Opened {
  readonly source: ExternalSource;
  /** Returns the voices. Those of a server may become more. */
  voices(): readonly Voice[];
}

interface Opening extends Pick<PlaceOptions, 'wrap' | 'settings'> {
  /** Returns the number of the voice at a place of the list. */
  numberOf(place: number): number;
}

/** Makes voices of a server, a program or a model. */
export function openEngineVoices(external: ExternalSource, { wrap, settings, numberOf }: Opening): Opened {
  const { concurrency, timeout } = settings;
  const isSaid = concurrency.origin.place !== 'default';
  const numbers = new Map<number, SourceVoice>();
  const source: VoiceSource = wrap(
    localSource({
      kind: 'engine',
      name: external.name,
      advice: external.advice,
      maxChars: external.maxChars,
      atOnce: isSaid ? concurrency.value : external.concurrency + WAITING,
      timeoutMs: timeout.value * 1000,
      engine: async () => new ExternalEngine(external, numbers),
      prepare({ no }) {
        const voice = numbers.get(no);
        if (voice) external.prepare?.(voice);
      },
    }),
  );
  const voices: Voice[] = [];
  return {
    source: external,
    voices() {
      for (const voice of external.voices.slice(voices.length)) {
        const no = numberOf(voices.length);
        numbers.set(no, voice);
        const { name, language, sampleRate, gender, style, numbers: words } = voice;
        const about = { name, language, gender, style, kind: undefined, sampleRate, numbers: words };
        const identity = external.identityOf(voice) + (words === undefined ? '' : ` numbers ${words}`);
        const siblings =
          style === undefined ? undefined : () => voices.filter((each) => each.style === style);
        voices.push({ source, no, ...about, siblings, supports: ['sampleRate'], identity });
      }
      return voices;
    },
  };
}

/** Returns the number of a voice, by which users choose it. */
function numberOf(at: number, place: number): number {
  return place < NUMBERS_PER_ENGINE
    ? NUMBERS_PER_ENGINE * (at + 1) + 1 + place
    : FIRST_PRIVATE_NUMBER * (at + 1) + place;
}

interface EnginesOptions extends PlaceOptions {
  readonly settings: Settings;
}

/** All engines of the user. Those chosen for the run come first. */
export class UserEngines {
  readonly all: readonly UserEngine[];

  /** @throws TtsError (usage) for an unknown name */
  constructor(chosen: readonly Setting<string>[], options: EnginesOptions) {
    const { settings, context } = options;
    const entries = new Map(settings.engines?.value);
    const first = chosen.map((each) => ({
      ...entryOf(each, settings, context.host),
      // A project may choose one of the user's engines, but not which of them gets the key.
      isChosen: each.origin.place !== 'project',
    }));
    for (const { name } of first) entries.delete(name);
    const all = [...first, ...[...entries].map(([name, entry]) => ({ name, entry, isChosen: false }))];
    this.all = all.map(({ name, entry, isChosen }, at) => {
      const config = configOf(name, entry, { ...context, settings, isChosen });
      return new UserEngine({ name, at }, config, options);
    });
  }

  get chosen(): UserEngine | undefined {
    return this.all[0];
  }

  /**
   * Returns the voice of a speaker of the config that names an engine.
   * @throws TtsError (usage) for an unknown engine or voice
   */
  async ofSpeaker({ engine = '', voice = '' }: NamedSpeaker, origin: string): Promise<Voice> {
    const found = this.all.find(({ name }) => name === engine);
    if (found) return found.namedOrThrow(voice, origin);
    const names = this.all.map(({ name }) => name);
    throw usageError(
      `${origin}: no engine is called ${JSON.stringify(engine)}`,
      `the engines of your config: ${names.join(', ') || 'none'}`,
    );
  }

  async numbered(no: number): Promise<Voice | undefined> {
    return this.all[Math.floor((no - 1) / NUMBERS_PER_ENGINE) - 1]?.numbered(no);
  }

  /** @returns the engine and the voice of `engine:voice` */
  prefixed(name: string): { readonly engine: UserEngine; readonly voice: string } | undefined {
    const colon = name.indexOf(':');
    const engine = this.all.find((each) => each.name === name.slice(0, Math.max(0, colon)));
    return engine && { engine, voice: name.slice(colon + 1) };
  }

  /**
   * Looks for a voice in all engines. One that does not answer counts as one without voices.
   * @throws TtsError (usage) if several have the name
   */
  async search(name: string, origin: string): Promise<Voice | undefined> {
    const found = (await this.list(() => {})).filter((voice) => voice.name === name);
    if (found.length <= 1) return found[0];
    const names = found.map(({ source }) => `${source.name}:${name}`).join(' or ');
    throw usageError(
      `${origin}: several engines have a voice ${JSON.stringify(name)}`,
      `say which one: ${names}`,
    );
  }

  /**
   * Asks all engines at the same time, so that silent ones cost only one timeout together.
   * @param onFault is called for each engine that cannot be opened
   */
  async list(onFault: (error: unknown, engine: UserEngine) => void): Promise<readonly Voice[]> {
    const listed = this.all.map((engine) =>
      engine.list().catch((error) => {
        onFault(error, engine);
        return [];
      }),
    );
    return (await Promise.all(listed)).flat();
  }
}

const STATUSES = new Map<EngineFault, ExitCode>([
  ['unreachable', ExitCode.connection],
  ['late', ExitCode.timeout],
]);

/** Returns the error for an engine that cannot be opened. */
export function explained(error: unknown, hint: string): unknown {
  if (!(error instanceof EngineError)) return error;
  const exitCode = STATUSES.get(error.kind) ?? ExitCode.service;
  return new TtsError(error.message, { exitCode, hint, cause: error });
}

function adviceOn(config: SourceConfig): string {
  if (config.kind === 'server') return `check that the server runs: curl ${config.url.href}/audio/voices`;
  if (config.kind === 'model')
    return 'check the folder: docs/voices.md tells what it needs; cp -RL copies a folder of links';
  return `check that ${config.command[0]} is installed and on the PATH`;
}

interface KeyedContext extends RunContext {
  readonly settings: Pick<Settings, 'allowInsecureHttp' | 'engineKey' | 'engineKeyFile' | 'language'>;
  /** True for the engine that the user chose for the run: `TTS_ENGINE_KEY` and a typed key are meant for it. */
  readonly isChosen: boolean;
}

/** How requests to a server are authorized. */
interface Authorization {
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
  /** Asks the person at the terminal for the key. Resolves with `undefined` if none is given. */
  readonly askAuthorization: (() => Promise<string | undefined>) | undefined;
}

/**
 * Takes the key of the entry, or the login of the address, or the key for the chosen engine. It is sent to that server only,
 * and over plain http only on loopback and private networks, or if the user allows it.
 * @throws TtsError (usage)
 */
async function authorizationOf(
  name: string,
  entry: EngineEntry,
  { url, login }: ServerAddress,
  context: KeyedContext,
): Promise<Authorization> {
  const { engineKey, engineKeyFile } = context.settings;
  const own = await ownKey(name, entry, context);
  const isForChosen = context.isChosen && login === undefined;
  const key = own ?? (isForChosen ? await keyIn(engineKey, engineKeyFile, context) : undefined);
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

/** Returns the key of the entry itself. */
function ownKey(
  name: string,
  { key, keyFile }: EngineEntry,
  context: KeyedContext,
): Promise<string | undefined> {
  const set = (field: string, value: string | undefined): Setting<string> | undefined =>
    value === undefined ? undefined : { value, origin: { place: 'user', name: `engines.${name}.${field}` } };
  const file = set('keyFile', keyFile);
  return keyIn(file ? undefined : set('key', key), file, context);
}

/** Returns the key of a setting, or that in the file which a setting names. */
async function keyIn(
  key: Setting<string> | undefined,
  file: Setting<string> | undefined,
  { host: { cwd, home }, signal }: KeyedContext,
): Promise<string | undefined> {
  const given = key ?? (file && { ...file, value: await readKeyFile(file, { cwd, home, signal }) });
  return given && checkedKey(given).value;
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

/** Returns the header of RFC 7617. A token may take the place of the user name, without a password. */
function basic(login: string, { notices }: KeyedContext): string {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(login) ?? [];
  const encoded = Buffer.from(login).toString('base64');
  for (const secret of [password || user, encoded]) notices.hide(secret);
  return `Basic ${encoded}`;
}

/** Returns the key of the engine with the same address in the user's own config. */
function keyForAddress(address: string, engines: Settings['engines']): Pick<EngineEntry, 'key' | 'keyFile'> {
  const href = serverAddress(address)?.url.href;
  const isSame = ({ url }: EngineEntry) => url !== undefined && serverAddress(url)?.url.href === href;
  const { key, keyFile } = [...(engines?.value.values() ?? [])].find(isSame) ?? {};
  return { ...(key !== undefined && { key }), ...(keyFile !== undefined && { keyFile }) };
}

/** Code points of the longest text of a request, unless the config says another number. */
export const MAX_CHARS = 300;
const SERVER_CONCURRENCY = 4;

/** Engines that need no entry in the config. The tests of this project do not run them. */
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
 * Finds the entry of an engine. A project can only name engines of the user's own config, and no address, folder or preset,
 * which is a program.
 * @throws TtsError (usage) for an unknown name
 */
function entryOf(
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
  const advice = origin.place === 'project' ? 'name it' : 'give a URL or a folder, or name it';
  const list = there.length > 0 ? `; there are: ${there.join(', ')}` : '';
  return usageError(
    `${origin.name}: no engine is called ${JSON.stringify(name)}`,
    `${nearest ? `did you mean ${nearest}? ` : ''}${advice} under "engines" in your own config${list}`,
  );
}

async function configOf(name: string, entry: EngineEntry, context: KeyedContext): Promise<SourceConfig> {
  const { host } = context;
  const { voices, sampleRate, maxChars = MAX_CHARS } = entry;
  const own = await tagOf(entry.language);
  const numbers = entry.numbers && ((await tagOf(context.settings.language?.value)) ?? own);
  const common = { name, voices, maxChars, numbers };
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
  return { ...common, kind: 'model', folder, language: own, concurrency };
}

/** Returns the tag of a language, which may be written as its English name. */
async function tagOf(language: string | undefined): Promise<string | undefined> {
  return language && (await import('./language.ts')).languageTag(language);
}
