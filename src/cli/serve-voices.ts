import { type Command, Option } from 'commander';
import {
  DEFAULT_MAX_QUEUE,
  EngineError,
  type EngineFault,
  type EngineSet,
  type EngineSound,
  type NumberedSource,
  queueFull,
  type Speaker,
  type Utterance,
} from '../engines/engine.ts';
import { espeakIfAny } from '../engines/espeak.ts';
import { isLoopback, originOf } from '../kit/address.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { checkedKey } from '../options/keys.ts';
import { type Kind, type NamedSpeaker, number, words } from '../options/kinds.ts';
import { type Flags, fromEnvironment, loadSettings, refused, type Settings } from '../options/load.ts';
import { type Name, ruleOf } from '../options/rows.ts';
import { plain } from '../read/plain.ts';
import { wordsSource } from '../read/source.ts';
import { trackOf } from '../run/run.ts';
import { RunText } from '../run/text.ts';
import { DEFAULT_HOST, DEFAULT_MAX_TEXT } from '../serve/http.ts';
import { mono } from '../sound/convert.ts';
import type { Track } from '../sound/pcm.ts';
import type { RunVoices } from '../voices/catalogue.ts';
import { VoiceSources } from '../voices/sources.ts';
import type { ListedVoice } from '../voices/voice.ts';
import { readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';

type LogForm = 'text' | 'json';

export interface ServeOptions {
  readonly host: string;
  /** The service chooses a free port for 0. */
  readonly port: number;
  /** `null` lets all clients in. */
  readonly apiKey: string | null | undefined;
  /** The path before all others, as in `/api`. It may be empty. */
  readonly basePath: string;
  readonly workers: number | undefined;
  readonly maxQueue: number;
  readonly maxText: number;
  readonly callbacks: readonly string[];
  readonly cors: string | undefined;
  readonly engines: readonly string[];
  /** The settings of a service to stand in front of. */
  readonly relay: Flags | undefined;
  /** The config file that names engines. */
  readonly config: string | undefined;
  readonly log: LogForm | undefined;
  readonly readyFile: string | undefined;
  readonly json: boolean;
}

type OwnFlags = Partial<
  Record<'host' | 'port' | 'apiKey' | 'basePath' | 'readyFile' | 'log' | 'cors', string>
> &
  Partial<Record<'workers' | 'maxQueue' | 'maxText', string>> &
  Partial<Record<'callbacks' | 'engine', string[]>> & { auth: boolean; json?: boolean };

const DEFAULT_PORT = '8787';

/** An empty address is refused: Node would listen on all networks. */
const address: Kind<string> = { ...words, allowed: 'an address or a name of this machine' };
const corsOrigin: Kind<string> = {
  ...words,
  text: (value) => (value === '*' ? value : originOf(value)),
  allowed: 'one origin without a path, as in https://app.example.com, or "*"',
};
const upToAMillion = number({ min: 1, max: 1e6, whole: true });

const pathFaults: readonly (readonly [RegExp, hint: string])[] = [
  [/^[^/]/, 'it begins with a slash, as in /api'],
  [/\/\//, 'one slash stands between two names, as in /api/v1'],
  [/\/\.\.?(\/|$)/, 'leave out "." and "..": clients do not send them'],
  [/[^\w.~/-]/, 'it has letters and digits of ASCII, and . _ ~ - and slashes, as in /api/v1'],
];

/**
 * @returns `undefined` after `--help`
 * @throws TtsError (usage)
 */
export function readServeOptions(context: Pick<Context, 'argv' | 'host'>): ServeOptions | undefined {
  const line = readSubcommand(describeCommand(), context);
  if (!line) return undefined;
  const flags = line.flags as OwnFlags;
  const relay = relayFlags(line.flags);
  const host = parsed('--host', flags.host ?? DEFAULT_HOST, address);
  return {
    host,
    port: parsed('--port', flags.port ?? DEFAULT_PORT, number({ min: 0, max: 65_535, whole: true })),
    apiKey: readKey(flags, relay ? {} : context.host.env, host),
    basePath: readBasePath(flags.basePath ?? ''),
    workers:
      flags.workers === undefined
        ? undefined
        : parsed('--workers', flags.workers, number({ min: 1, max: 256, whole: true })),
    maxQueue: parsed('--max-queue', flags.maxQueue ?? String(DEFAULT_MAX_QUEUE), upToAMillion),
    maxText: parsed('--max-text', flags.maxText ?? String(DEFAULT_MAX_TEXT), upToAMillion),
    callbacks: flags.callbacks ?? [],
    cors: flags.cors === undefined ? undefined : parsed('--cors', flags.cors, corsOrigin),
    engines: flags.engine ?? [],
    relay,
    config: line.flags.config as string | undefined,
    log: flags.log as LogForm | undefined,
    readyFile: flags.readyFile,
    json: flags.json ?? false,
  };
}

/** These settings count for a service that `tts serve` stands in front of. */
const RELAY: readonly Name[] = [
  'baseUrl',
  'concurrency',
  'maxChars',
  'cache',
  'timeout',
  'retries',
  'proxy',
  'allowInsecureHttp',
  'config',
];

/** @throws TtsError (usage) for such a setting without a service, and for a service with engines */
function relayFlags(flags: Flags & { readonly engine?: unknown }): Flags | undefined {
  const said = RELAY.filter((name) => flags[name] !== undefined);
  // The config names engines, too.
  const [first] = said.filter((name) => name !== 'config');
  if (first === undefined) return undefined;
  if (flags.baseUrl === undefined)
    throw usageError(
      `${ruleOf(first).flags?.split(' ')[0]} counts only with --base-url`,
      'name the service that this one is to stand in front of',
    );
  if (flags.engine !== undefined)
    throw usageError('--base-url and --engine contradict each other', 'leave one of them out');
  return Object.fromEntries(said.map((name) => [name, flags[name]]));
}

export function describeCommand(): Command {
  return subcommand(
    'serve',
    'Run the text-to-speech service (POST /tts) on this machine; no network is needed.',
    RELAY,
    [
      new Option('--host <address>', `address to listen on (default: ${DEFAULT_HOST})`),
      new Option('--port <n>', `port; 0 picks a free one (default: ${DEFAULT_PORT})`),
      new Option(
        '--api-key <key>',
        'what clients have to send; or TTS_API_KEY, TTS_API_KEY_FILE (default: one is made and printed)',
      ),
      new Option('--no-auth', 'let in everybody on this machine'),
      new Option('--base-path <path>', 'in front of /tts, as in /api (default: none)'),
      new Option('--workers <n>', 'threads that speak (default: the number of cores)'),
      new Option(
        '--max-queue <n>',
        `requests that may wait; further ones get 503 (default: ${DEFAULT_MAX_QUEUE})`,
      ),
      new Option('--max-text <n>', `characters of the longest text (default: ${DEFAULT_MAX_TEXT})`),
      new Option(
        '--callbacks <origin...>',
        'origins that audio may be sent to, as in https://app.example.com',
      ),
      new Option(
        '--cors <origin>',
        'web pages that may use it, as in https://app.example.com; "*": all pages',
      ),
      new Option(
        '--engine <url|folder|name>',
        'further voices: a server, a model, or one of engines (repeatable)',
      ).argParser((engine: string, engines: string[] = []) => [...engines, engine]),
      new Option('--log <form>', 'a line on stderr for every request').choices(['text', 'json']),
      new Option('--ready-file <file>', 'write the base URL there as soon as it listens'),
      new Option('--json', 'print the address as one line of JSON on stdout'),
    ],
  );
}

function readKey(
  { auth, apiKey }: OwnFlags,
  env: Readonly<Record<string, string | undefined>>,
  host: string,
): string | null | undefined {
  if (auth) return checked(apiKey, '--api-key') ?? checked(env.TTS_API_KEY || undefined, 'TTS_API_KEY');
  if (apiKey !== undefined)
    throw usageError('--no-auth and --api-key contradict each other', 'leave one out');
  if (isLoopback(host)) return null;
  throw usageError(
    `--no-auth would let the whole network in through ${host}`,
    'use --api-key, or --host 127.0.0.1',
  );
}

function checked(value: string | undefined, name: string): string | undefined {
  return value === undefined ? undefined : checkedKey({ value, origin: { place: 'option', name } }).value;
}

function readBasePath(value: string): string {
  const path = value.replace(/\/+$/, '');
  const [, wrong] = pathFaults.find(([fault]) => fault.test(path)) ?? [];
  if (wrong === undefined) return path;
  throw usageError(`bad value for --base-path: ${value}`, wrong);
}

function parsed<T>(option: string, value: string, kind: Kind<T>): T {
  const read = kind.text(value);
  if (read !== undefined) return read;
  throw usageError(`bad value for ${option}: ${value}`, `expected ${kind.allowed}`);
}

/** What speaks in the service: a service that it stands in front of, or else the voices of this machine. */
export async function openServeEngines(options: ServeOptions, context: Context): Promise<EngineSet> {
  if (options.relay) return openServiceInFront(options, context);
  const { openEngines } = await import('../voices/engine-set.ts');
  const { workers, maxQueue } = options;
  const espeak = await espeakIfAny(context).catch((error) => {
    // Stopping is success during the start, too.
    if (!context.signal.aborted) throw error;
    return undefined;
  });
  const sources = await openSources(options, context);
  const engine = await openEngines({
    espeak,
    sources,
    maxQueue,
    runtime: context.host.runtime,
    ...(workers !== undefined && { workers }),
  });
  await engine.prepare();
  return engine;
}

/** Opens the engines that are named, and all installed voices. */
async function openSources(options: ServeOptions, context: Context): Promise<NumberedSource[]> {
  const { openInstalled } = await import('../voices/installed.ts');
  return [...(await openNamed(options, context)), ...(await openInstalled(context))];
}

/** Without a name, the service reads no config. */
async function openNamed(
  { engines: named, config }: ServeOptions,
  context: Context,
): Promise<NumberedSource[]> {
  const rule = ruleOf('engine');
  const fallback = fromEnvironment(rule, context.host.env);
  const said = named.map((value) => ({ value, origin: { place: 'option', name: '--engine' } as const }));
  const chosen = said.length > 0 ? said : fallback ? [fallback] : [];
  if (chosen.length === 0) return [];
  for (const { value, origin } of chosen)
    if (rule.kind.text(value) === undefined) throw refused(rule, value, origin);
  const { settings } = await loadSettings({ flags: config === undefined ? {} : { config } }, context);
  const sources = new VoiceSources(settings, context, chosen);
  return Promise.all(chosen.map((_, at) => sources.open(at)));
}

async function openServiceInFront({ relay, maxQueue }: ServeOptions, context: Context): Promise<EngineSet> {
  const [{ chooseService }, { openVoices }] = await Promise.all([
    import('../voices/service-choice.ts'),
    import('../voices/catalogue.ts'),
  ]);
  // The file that it names holds what clients send: the service must not get that.
  const { TTS_API_KEY_FILE: _, ...env } = context.host.env;
  const { settings, files } = await loadSettings(
    { flags: relay ?? {} },
    { ...context, host: { ...context.host, env } },
  );
  const service = await chooseService(settings, { ...context, files });
  if (service?.note) context.notices.note(service.note);
  const voices = await openVoices({ settings, service: async () => service }, context);
  try {
    return await openRelay({ voices, settings, maxQueue });
  } catch (error) {
    await voices[Symbol.asyncDispose]();
    throw error;
  }
}

interface RelayOptions {
  /** The relay closes them. */
  readonly voices: RunVoices;
  readonly settings: Settings;
  /** Utterances that may wait while the service takes no more requests. */
  readonly maxQueue: number;
}

/** Requests that are under way or kept for each utterance, for each that the service takes at once. */
const WINDOW = 2;

/** Bytes of sound that wait for each utterance. */
const BUDGET = 4 * 2 ** 20;

/** Texts are joined as their authors wrote them: a service makes its own pauses. */
const MIX = { pauses: { chapter: 0, heading: 0, scene: 0, paragraph: 0, sentence: 0 } };

/**
 * Opens a service of other people as the engine of `tts serve`. All clients share its cache, its limits and its key. It need not
 * list its speakers.
 * @throws TtsError for a service that cannot be asked
 */
async function openRelay({ voices, ...options }: RelayOptions): Promise<EngineSet> {
  return new Relay(voices, (await voices.list()) ?? [], options);
}

function speakerOf(no: number, { name, kind, language = 'und', sampleRate }: Partial<ListedVoice>): Speaker {
  return { no, name: name ?? String(no), kind, language, sampleRate };
}

/** Sends what the client asks, whatever the speaker: only the service knows what it can do. */
class Relay implements EngineSet {
  /** The default speaker comes first, then those of the config, then those that the service lists. */
  readonly speakers: readonly Speaker[];
  readonly workers: number;
  readonly isFar = true;
  readonly #voices: RunVoices;
  readonly #options: Omit<RelayOptions, 'voices'>;
  readonly #listed: ReadonlyMap<number, Speaker>;
  /** The config has settings for these, which count where a client asks for the name. */
  readonly #named = new Map<Speaker, NamedSpeaker>();
  /** Utterances that are spoken or wait. */
  #open = 0;

  constructor(voices: RunVoices, listed: readonly ListedVoice[], options: Omit<RelayOptions, 'voices'>) {
    this.#voices = voices;
    this.#listed = new Map(
      listed.flatMap((voice) => (voice.no === undefined ? [] : [[voice.no, speakerOf(voice.no, voice)]])),
    );
    for (const [name, named] of options.settings.speakers?.value ?? []) {
      const { no } = named;
      if (no !== undefined)
        this.#named.set({ ...speakerOf(no, { ...this.numbered(no), ...named, name }) }, named);
    }
    this.speakers = this.#inOrder([...this.#named.keys(), ...this.#listed.values()], options.settings);
    this.workers = options.settings.concurrency.value;
    this.#options = options;
  }

  get queued(): number {
    return Math.max(0, this.#open - this.workers);
  }

  numbered(no: number): Speaker | undefined {
    return this.#listed.get(no) ?? (Number.isSafeInteger(no) ? speakerOf(no, {}) : undefined);
  }

  #inOrder(all: readonly Speaker[], { speaker }: Settings): readonly Speaker[] {
    const asked = speaker?.value;
    const usual =
      typeof asked === 'number'
        ? (all.find(({ no }) => no === asked) ?? this.numbered(asked))
        : all.find(({ name }) => name === asked);
    return usual ? [usual, ...all.filter((other) => other !== usual)] : all;
  }

  /** The rate is that of the answer. */
  async speak(utterance: Utterance, signal: AbortSignal): Promise<EngineSound> {
    if (!utterance.isPatient && this.queued >= this.#options.maxQueue) throw queueFull();
    const over = new AbortController();
    const end = () => {
      if (over.signal.aborted) return;
      this.#open -= 1;
      over.abort(new Error('the sound is not needed any more'));
    };
    this.#open += 1;
    // Samples that are never read end with the signal alone.
    signal.addEventListener('abort', end, { once: true });
    try {
      const track = await this.#track(utterance, AbortSignal.any([signal, over.signal]));
      return { sampleRate: track.format.sampleRate, samples: untilEnd(mono(track.pcm, track.format), end) };
    } catch (error) {
      end();
      throw asEngineError(error);
    }
  }

  async #track({ text, speaker, stream, ...asked }: Utterance, signal: AbortSignal): Promise<Track> {
    const named = this.#named.get(speaker);
    const { sampleRate = named?.sampleRate, instructions = named?.instructions } = asked;
    const shape = this.#voices.shapeOf(speaker.no, { sampleRate, instructions });
    const voice = this.#voices.as({ ...shape, speed: named?.speed, stream });
    const sources = () => [{ source: wordsSource(text), reader: plain }];
    const plan = { sources, stages: [], voice, pace: 'by output', cutsParagraphs: false } as const;
    const run = await RunText.open(plan, signal);
    const track = await trackOf({
      segments: (until) => run.segments(false, until),
      voiceOf: () => voice,
      window: WINDOW * voice.atOnce,
      budgetBytes: BUDGET,
      mix: MIX,
      signal,
      listeners: [],
    });
    if (!track) throw new Error('no sound came, though none was to go elsewhere');
    return track;
  }

  close(): Promise<void> {
    return this.#voices[Symbol.asyncDispose]();
  }
}

async function* untilEnd(samples: AsyncIterable<Int16Array>, end: () => void): AsyncGenerator<Int16Array> {
  try {
    yield* samples;
  } catch (error) {
    throw asEngineError(error);
  } finally {
    end();
  }
}

const FAULTS: Partial<Readonly<Record<ExitCode, EngineFault>>> = {
  [ExitCode.timeout]: 'late',
  [ExitCode.connection]: 'unreachable',
};

function asEngineError(error: unknown): unknown {
  if (!(error instanceof TtsError)) return error;
  const { message, exitCode, retry, concernsThisTextOnly } = error;
  if (retry?.busy) return new EngineError('busy', message, { status: retry.status, retryAfter: retry.after });
  const fault = FAULTS[exitCode] ?? (concernsThisTextOnly ? 'unsupported text' : 'refused');
  return new EngineError(fault, message, { status: retry?.status });
}
