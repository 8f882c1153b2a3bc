/** Finds the voice that a number, a name or a language means, and settles its settings. */
import type { TtsError } from '../kit/error.ts';
import { usageError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import type { RetryPolicy } from '../kit/retry.ts';
import { loadOnce, Recent } from '../kit/wait.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Setting, Settings } from '../options/load.ts';
import type { Field, Fields, Speaker, Voice, VoiceSource } from '../sound/voice.ts';
import type { Cache } from './cache.ts';
import { RunCache } from './run-cache.ts';
import type { ServiceVoice } from './service.ts';
import { type Endpoint, requestUrl, withListedNumber } from './service-choice.ts';
import {
  builtInPlace,
  type EspeakPlace,
  eachField,
  espeakPlace,
  FIELDS,
  FIRST_PRIVATE_NUMBER,
  speakerNamed,
  supportedBy,
  type VoicePlace,
  type Wrap,
  wrapping,
} from './sources.ts';

export interface VoicesPlan {
  readonly settings: Settings;
  /** Returns the named service, if there is one. Not called before something is to be spoken or listed. */
  readonly service: () => Promise<Endpoint | undefined>;
  /** True if sound is passed on as it comes, and not compared with its text. */
  readonly isRelayed?: boolean;
}

/** A voice as a row or a client names it. The settings of the run fill in the rest. */
export type VoiceRequest = Partial<Pick<Settings, 'speaker' | 'speed' | Field>>;

/** @throws TtsError (usage) for an unknown engine */
export async function openVoices(plan: VoicesPlan, context: RunContext): Promise<Voices> {
  const { baseUrl, engine } = plan.settings;
  const voices = new Voices(plan, context);
  if (engine && !baseUrl) await voices.engines();
  return voices;
}

/** A voice, and the entry of the config that has its name. */
interface FoundVoice {
  readonly voice: Voice;
  readonly named?: NamedSpeaker | undefined;
}

/** All voices of a run. They share connections, limits and the cache; nothing is opened before a voice needs it. */
export class Voices implements AsyncDisposable {
  readonly #plan: VoicesPlan;
  readonly #context: RunContext;
  readonly #cache: RunCache;
  readonly #wrap: Wrap;
  readonly #sources = new Set<VoiceSource>();
  /** Speakers by what was asked for, and by what they are. */
  readonly #requested = new Recent<Speaker>();
  readonly #speakers = new Recent<Speaker>();
  readonly #builtIn: VoicePlace;
  readonly #espeak: EspeakPlace;

  constructor(plan: VoicesPlan, context: RunContext) {
    this.#plan = plan;
    this.#context = context;
    this.#cache = new RunCache(plan, context);
    const machine = plan.isRelayed ? undefined : context.host;
    const wrap = wrapping(plan.settings, this.#cache, machine);
    this.#wrap = (source) => {
      const wrapped = wrap(source);
      this.#sources.add(wrapped);
      return wrapped;
    };
    this.#builtIn = builtInPlace(this.#places);
    this.#espeak = espeakPlace(this.#places);
  }

  /** @throws TtsError (usage) for an unknown speaker, or for a setting that the voice does not support */
  async of(request: VoiceRequest = {}): Promise<Speaker> {
    const said = Object.entries(request).filter(([, setting]) => setting !== undefined);
    const key = JSON.stringify(said.map(([name, setting]) => [name, setting?.value, setting?.origin.place]));
    return this.#remembered(key, async () => {
      const settings: Settings = { ...this.#plan.settings, ...Object.fromEntries(said) };
      const found = await this.#find(settings, settings.baseUrl !== undefined);
      return this.#speaker(found, settings);
    });
  }

  /**
   * Returns a further voice of a text. In a run with a service, it may also be a voice of this program or its engines. It
   * gets only those settings of the run that it supports.
   * @param mayAskService false excludes the service of the run: a number then means a voice of this program
   * @param language the language that the voice has to speak
   * @throws TtsError (usage) for an unknown speaker
   */
  async cast(
    speaker: Setting<string | number>,
    {
      mayAskService = true,
      language,
    }: { mayAskService?: boolean; language?: Setting<string> | undefined } = {},
  ): Promise<Speaker> {
    const key = JSON.stringify(['cast', speaker.value, speaker.origin.place, mayAskService, language?.value]);
    return this.#remembered(key, async () => {
      const { settings } = this.#plan;
      const { baseUrl, speakers } = settings;
      const isNumber =
        typeof speaker.value === 'number' || speakerNamed(speaker.value, speakers?.value)?.no !== undefined;
      // A service replaces the engine of the settings.
      const alone = { ...settings, speaker, language, ...(baseUrl && { engine: undefined }) };
      const found = await this.#find(alone, baseUrl !== undefined && isNumber && mayAskService).catch(
        async (error) => {
          const service = mayAskService && (await this.#plan.service());
          if (!service) throw error;
          throw await withListedNumber(error, alone, service, this.#context);
        },
      );
      return this.#speaker(found, alone, true);
    });
  }

  /** Returns a voice of the service with unchecked fields: only the service knows which of them the voice supports. */
  async ofService(no: number, fields: Fields, speed?: number): Promise<Speaker> {
    return this.#made(await this.#serviceVoice({ no }), fields, speed);
  }

  /**
   * Lists all voices that can be named.
   * @returns `undefined` for a service without a list
   * @throws TtsError
   */
  async list(policy: Partial<RetryPolicy> = {}): Promise<readonly Voice[] | undefined> {
    const service = await this.#plan.service();
    if (!service) return this.#listMachine();
    const { listService } = await import('./service.ts');
    const { retries, timeout } = this.#plan.settings;
    const { host, signal } = this.#context;
    const usual = { retries: retries.value, timeoutMs: timeout.value * 1000, runtime: host.runtime };
    const listed = await listService(service, { ...usual, ...policy }, signal);
    return listed && Promise.all(listed.map((voice) => this.#serviceVoice(voice)));
  }

  /** Returns the size of the cache in bytes; `undefined` if the sound of the voice is not cached. */
  cacheBytesFor({ voice }: Speaker): Promise<number | undefined> {
    return this.#cache.bytesFor(voice.source);
  }

  /** Opens the cache for the sound of the voice; `undefined` if that is not cached. */
  cacheFor({ voice }: Speaker): Promise<Cache | undefined> {
    return this.#cache.opened(voice.source);
  }

  /**
   * Opens the source of the voice, and its cache.
   * @throws TtsError
   */
  async open({ voice }: Speaker): Promise<void> {
    await voice.source.open(voice);
    await this.#cache.opened(voice.source);
  }

  /** Closes everything. Errors of closing become warnings. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const closing of [...this.#sources, this.#cache])
      await closing.close().catch(({ message }) => this.#context.notices.warn(`closing failed: ${message}`));
  }

  /** @throws TtsError (usage) for an unknown engine */
  readonly engines = loadOnce(async () => {
    const { baseUrl, engine } = this.#plan.settings;
    const { UserEngines } = await import('./user-engines.ts');
    return new UserEngines(engine && !baseUrl ? [engine] : [], this.#places);
  });

  get #places() {
    return { settings: this.#plan.settings, context: this.#context, wrap: this.#wrap };
  }

  readonly #installedPlace = loadOnce(async () => {
    const { InstalledPlace } = await import('./installed.ts');
    return new InstalledPlace(this.#places);
  });

  async #remembered(key: string, find: () => Promise<Speaker>): Promise<Speaker> {
    const speaker = this.#requested.get(key) ?? (await find());
    this.#requested.set(key, speaker);
    return speaker;
  }

  async #find(settings: Settings, isOfService: boolean): Promise<FoundVoice> {
    const { speaker, speakers } = settings;
    const named =
      typeof speaker?.value === 'string' ? speakerNamed(speaker.value, speakers?.value) : undefined;
    const voice = await (isOfService ? this.#inService(settings, named) : this.#onMachine(settings, named));
    return { voice: await this.#inLanguage(voice, settings.language), named };
  }

  /** @throws TtsError (usage) for a voice that speaks other languages only */
  async #inLanguage(voice: Voice, language: Setting<string> | undefined): Promise<Voice> {
    if (!language) return voice;
    const { matchesLanguage, voiceForLanguage } = await import('./language.ts');
    const { value: asked, origin } = language;
    const found = voiceForLanguage(asked, [voice.siblings?.() ?? [voice]]);
    const isUnknown = voice.language === undefined || voice.language === 'und';
    if (isUnknown || (found && matchesLanguage(found.language ?? '', asked))) return found ?? voice;
    const { otherLanguage } = await import('./unknown.ts');
    const { espeak } = await this.#espeak.find();
    throw otherLanguage(voice, { asked, origin: origin.name }, { espeak, context: this.#context });
  }

  async #inService({ speaker, speakers }: Settings, { no, kind }: NamedSpeaker = {}): Promise<Voice> {
    if (!speaker) throw (await import('./unknown.ts')).noVoiceChosen();
    const { value, origin } = speaker;
    const named = [...(speakers?.value ?? [])];
    const number = typeof value === 'number' ? value : no;
    if (number === undefined) {
      const { unknownName } = await import('./unknown.ts');
      throw unknownName(String(value), { origin: origin.name, there: named.map(([name]) => name) });
    }
    const sameNumber = named.find(([, other]) => other.no === number && other.kind !== undefined)?.[1];
    return this.#serviceVoice({ no: number, kind: kind ?? sameNumber?.kind });
  }

  async #serviceVoice({ no, name, language, kind, sampleRate }: ServiceVoice): Promise<Voice> {
    const source = await this.#serviceSource();
    const about = { name, language, kind, sampleRate, supports: supportedBy(kind) };
    return { source, no, ...about, identity: this.#serviceUrl.href };
  }

  get #serviceUrl(): URL {
    const { baseUrl } = this.#plan.settings;
    if (!baseUrl) throw new RangeError('there is no service');
    return requestUrl(baseUrl.value);
  }

  readonly #serviceSource = loadOnce(async () => {
    const { concurrency, timeout } = this.#plan.settings;
    const { serviceSource } = await import('./service.ts');
    const source = serviceSource({
      endpoint: async () => {
        const service = await this.#plan.service();
        if (!service) throw new RangeError('there is no service');
        return service;
      },
      base: this.#serviceUrl,
      atOnce: concurrency.value,
      timeoutMs: timeout.value * 1000,
      runtime: this.#context.host.runtime,
    });
    return this.#wrap(source);
  });

  async #onMachine(settings: Settings, named: NamedSpeaker | undefined): Promise<Voice> {
    const { speaker } = settings;
    const found = await (speaker ? this.#meant(speaker, settings, named) : this.#usual(settings));
    if (found || !speaker) return found as Voice;
    throw await this.#unknown(speaker, settings, named);
  }

  /** Returns the voice of a run without a speaker: the first of the engine or of this program, or one for `--language`. */
  async #usual({ engine, language }: Settings): Promise<Voice | undefined> {
    const voices = (await (engine ? (await this.engines()).chosen?.list() : this.#builtIn.list())) ?? [];
    const [first] = voices;
    if (!language) return first;
    if (!engine) return (await this.#speaking(language.value)) ?? first;
    const { voiceForLanguage } = await import('./language.ts');
    return voiceForLanguage(language.value, [voices]) ?? first;
  }

  async #meant(
    { value, origin }: Setting<string | number>,
    { engine }: Settings,
    named: NamedSpeaker | undefined,
  ): Promise<Voice | undefined> {
    const number = typeof value === 'number' ? value : named?.no;
    if (number !== undefined) return this.#numbered(number);
    if (named?.reference !== undefined)
      return (await this.#installedPlace()).cloneOf({ ...named, name: String(value) }, origin.name);
    if (named) return (await this.engines()).ofSpeaker(named, origin.name);
    return this.#called(String(value), origin.name, engine !== undefined);
  }

  async #numbered(no: number): Promise<Voice | undefined> {
    return (
      (await this.#builtIn.numbered(no)) ??
      (await (await this.engines()).numbered(no)) ??
      (await (await this.#installedPlace()).numbered(no)) ??
      (await this.#espeak.numbered(no))
    );
  }

  /** Returns the voice of the first place that has the name. A word counts as a language only if no voice is called so. */
  async #called(name: string, origin: string, hasEngine: boolean): Promise<Voice | undefined> {
    const builtIn = await this.#builtIn.named(name);
    if (builtIn && !hasEngine) return builtIn;
    const engines = await this.engines();
    const prefixed = engines.prefixed(name);
    if (prefixed) return prefixed.engine.namedOrThrow(prefixed.voice, origin);
    return (
      (hasEngine ? await engines.chosen?.named(name) : undefined) ??
      builtIn ??
      (await (await this.#installedPlace()).named(name)) ??
      (await this.#namedByEspeak(name)) ??
      (await engines.search(name, origin)) ??
      (await this.#speaking(name))
    );
  }

  /** Most voices of espeak-ng are named after languages. Such a word asks for the language, so another voice may win. */
  async #namedByEspeak(name: string): Promise<Voice | undefined> {
    const voice = await this.#espeak.named(name);
    if (!voice) return undefined;
    const { matchesLanguage } = await import('./language.ts');
    const isLanguage = matchesLanguage(voice.language ?? '', name);
    return (isLanguage ? await this.#speaking(name) : undefined) ?? voice;
  }

  /**
   * Finds a voice for a language, and prefers the right region, then engines and installed voices to those of this program.
   * Finds none for the name of a voice that can be installed: that voice is meant.
   */
  async #speaking(language: string): Promise<Voice | undefined> {
    const { languageInName, voiceForLanguage } = await import('./language.ts');
    if (languageInName(language) && (await import('./unknown.ts')).isOffered(language, this.#context))
      return undefined;
    const opened = (voice: Voice) => ({ ...voice, open: async () => voice });
    const groups = [
      (await (await this.engines()).list(() => {})).map(opened),
      (await this.#installedPlace()).speaking,
      [...(await this.#builtIn.list()), ...(await this.#espeak.list())].map(opened),
    ];
    return voiceForLanguage(language, groups)?.open();
  }

  /** Returns the error for a speaker that no place has. */
  async #unknown(
    { value, origin: { name: origin } }: Setting<string | number>,
    { engine, speakers }: Settings,
    named: NamedSpeaker | undefined,
  ): Promise<TtsError> {
    const { installable, offeredNames, unknownName, unknownNumber } = await import('./unknown.ts');
    const { espeak, fault } = await this.#espeak.find();
    const voices = [
      ...((engine && (await (await this.engines()).chosen?.list())) ?? []),
      ...(await this.#builtIn.list()),
      ...(await this.#espeak.list()),
    ];
    const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
    const remark = espeak ? undefined : `101 and up are the voices of espeak-ng, which ${why}`;
    const context = this.#context;
    const number = typeof value === 'number' ? value : named?.no;
    const missing = installable(number ?? String(value), origin, { espeak, context });
    if (missing) return missing;
    if (number !== undefined) {
      const there = voices.map(({ no, name }) => `${no} (${name})`);
      return unknownNumber(named ? `${number} (${value})` : `${number}`, { origin, there, remark });
    }
    const there = [...(speakers?.value.keys() ?? []), ...voices.map(({ name = '' }) => name)];
    return unknownName(String(value), { origin, there, remark, offered: offeredNames(context) });
  }

  /** Adds the speaker's own settings, which options and the environment override. */
  #speaker({ voice, named }: FoundVoice, settings: Settings, isFurther = false): Speaker {
    const { speaker, speakers, speed } = settings;
    const place = speakers?.origin.place ?? 'project';
    const own = { place, name: `the speaker ${speaker?.value}` } as const;
    const settled = (field: Field): unknown => {
      const given = isFurther && !maySupport(voice, field) ? undefined : settings[field];
      const setting = stronger<unknown>(given, named?.[field], own);
      if (setting && voice.supports && !voice.supports.includes(field))
        throw unfit(voice, field, {
          setting,
          called: typeof speaker?.value === 'string' ? speaker.value : undefined,
        });
      return setting?.value;
    };
    const fields: Fields = {
      ...eachField(settled),
      stream: settings.stream?.value,
      callbackUrl: settings.callbackUrl?.value.href,
    };
    return this.#made(voice, fields, stronger(speed, named?.speed, own)?.value);
  }

  #made(voice: Voice, fields: Fields, speed: number | undefined): Speaker {
    const key = JSON.stringify([voice.identity, voice.no, fields, speed]);
    const { maxChars } = this.#plan.settings;
    const speaker = this.#speakers.get(key) ?? {
      voice,
      fields,
      speed,
      maxChars: Math.min(maxChars.value, voice.source.maxChars),
      isCached: ({ text }) => voice.source.has({ text, voice, fields }),
    };
    this.#speakers.set(key, speaker);
    return speaker;
  }

  /** Lists the voices of this machine. Warns of an engine that does not work, but throws if it was chosen. */
  async #listMachine(): Promise<readonly Voice[]> {
    const { notices } = this.#context;
    const warn = (error: unknown) => notices.warn((error as Error).message);
    const ofEspeak = await this.#espeak.listOrWarn();
    const engines = await this.engines();
    const chosen = this.#plan.settings.engine && engines.chosen;
    const all = [
      ...(await this.#builtIn.list()),
      ...ofEspeak,
      ...(await engines.list((error, engine) => {
        if (engine === chosen) throw error;
        warn(error);
      })),
      ...(await (await this.#installedPlace()).list(warn)),
    ];
    return all.toSorted((a, b) => Number(isUnnumbered(a)) - Number(isUnnumbered(b)));
  }
}

function isUnnumbered({ source, no }: Voice): boolean {
  return source.kind === 'engine' && no >= FIRST_PRIVATE_NUMBER;
}

/** True if the voice supports the field, or may support it. */
function maySupport({ supports }: Voice, field: Field): boolean {
  return supports ? supports.includes(field) : FIELDS[field].isForUnknown;
}

/** Returns the setting that counts: options and environment override a speaker's own value, which overrides the config. */
function stronger<T>(
  given: Setting<T> | undefined,
  own: T | undefined,
  origin: Setting<T>['origin'],
): Setting<T> | undefined {
  const isGivenNow = given?.origin.place === 'option' || given?.origin.place === 'environment';
  return own === undefined || isGivenNow ? given : { value: own, origin };
}

/** Returns the error for a field that the voice does not support. Only services have kinds of speakers. */
function unfit(
  { source, no, kind }: Voice,
  field: Field,
  { setting, called }: { readonly setting: Setting<unknown>; readonly called: string | undefined },
): TtsError {
  const who = `${setting.origin.name}: speaker ${no}${called === undefined ? '' : ` (${called})`}`;
  const { what, one, hint, kind: needed } = FIELDS[field];
  if (source.kind !== 'service') return usageError(`${who} takes no ${what}`, hint);
  return usageError(
    `${who} is a ${kind} speaker, and only ${needed} speakers accept ${one}`,
    `leave it out, or choose a speaker of the kind ${needed}: tts speakers lists them`,
  );
}
