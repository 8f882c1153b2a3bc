import {
  type NumberedSource,
  OWN_RATE,
  type Speaker,
  speakersOf,
  unnumberedSpeakersOf,
} from '../engines/engine.ts';
import type { Espeak, findEspeak } from '../engines/espeak.ts';
import { FLITE_SPEAKERS } from '../engines/flite.ts';
import { type TtsError, usageError } from '../kit/error.ts';
import { valueHint } from '../kit/hints.ts';
import type { RunContext } from '../kit/host.ts';
import type { NumberedText, RetryPolicy } from '../kit/retry.ts';
import { Recent } from '../kit/wait.ts';
import { nearestName } from '../kit/words.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Origin, Setting, Settings } from '../options/load.ts';
import type { Kept } from './cache.ts';
import {
  Connections,
  type Engines,
  espeakSpeaker,
  knownOf,
  type VoiceRoute,
  type VoicesPlan,
} from './connections.ts';
import { installLine, isFree, loadCatalogue } from './install/catalogue.ts';
import { manifestsOf } from './installed.ts';
import { baseLanguage, languageName, matchesLanguage, voiceForLanguage } from './language.ts';
import { requestUrl, withListedNumber } from './service-choice.ts';
import type { FoundSpeaking, FoundVoice, VoiceSources } from './sources.ts';
import {
  type ListedVoice,
  requestBody,
  type Voice,
  type VoiceEvent,
  type VoiceShape,
  type Voices,
  type Wish,
} from './voice.ts';

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
function sharedWith(
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
function settingsFor(speaker: Chosen, settings: Settings, isBuiltIn = false): Settings {
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

function kindOf(no: number, all: readonly Partial<Pick<Chosen, 'no' | 'kind'>>[]): string | undefined {
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

function askedBy({
  sampleRate,
  instructions,
  speed,
}: Pick<Settings, 'sampleRate' | 'instructions' | 'speed'>): Asked {
  const asked = { sampleRate: sampleRate?.value, instructions: instructions?.value };
  return speed && speed.value !== 1 ? { ...asked, speed: speed.value } : asked;
}

interface SpeakerChoice extends Choice {
  readonly espeak?: Espeak | undefined;
  readonly sources: readonly NumberedSource[];
}

type OpenSources = () => Promise<VoiceSources>;

/** What the places of {@link PLACES} look at. */
interface Search {
  readonly settings: Settings;
  readonly configured: VoiceSources;
  readonly context: RunContext;
  /** It is looked for once, and only if no place before has the voice. */
  readonly espeak: () => ReturnType<typeof findEspeak>;
}

/** @throws TtsError (usage) where the voice can be in no other place, and is not there */
type Place = (search: Search) => Promise<SpeakerChoice | undefined>;

/** A voice is looked for in these places, in this order. */
const PLACES: readonly Place[] = [
  inEngines,
  builtIn,
  installed,
  inEspeakByName,
  inAllEngines,
  byLanguage,
  inChosenEngine,
  inCatalogue,
];

/**
 * @param openSources it is missing where a service speaks
 * @throws TtsError (usage)
 */
async function speakerOf(
  settings: Settings,
  openSources: OpenSources | undefined,
  context: RunContext,
): Promise<SpeakerChoice> {
  if (!openSources) return { ...chooseSpeaker(settings, []), sources: [] };
  const own = settings.engine ? undefined : await builtIn({ settings });
  if (own) return own;
  let looked: ReturnType<typeof findEspeak> | undefined;
  const espeak = async () => {
    looked ??= import('../engines/espeak.ts').then(({ findEspeak }) => findEspeak(context));
    return looked;
  };
  const search = { settings, configured: await openSources(), context, espeak };
  for (const lookIn of PLACES) {
    const found = await lookIn(search);
    if (found) return found;
  }
  return assertKnown(search);
}

async function builtIn({ settings }: Pick<Search, 'settings'>): Promise<SpeakerChoice | undefined> {
  if (!isAmong(FLITE_SPEAKERS, settings)) return undefined;
  return { ...chooseSpeaker(settings, FLITE_SPEAKERS), sources: [] };
}

async function inEngines({ settings, configured }: Search): Promise<SpeakerChoice | undefined> {
  const found = await configured.find(settings);
  return found && withVoice(settings, found);
}

async function installed({ settings, context }: Search): Promise<SpeakerChoice | undefined> {
  const found = await (await import('./installed.ts')).findInstalled(settings, context);
  return found && withVoice(settings, found);
}

async function inEspeakByName({ settings, espeak: find }: Search): Promise<SpeakerChoice | undefined> {
  const { espeak } = await find();
  const known = builtInSpeakers(espeak);
  return isAmong(known, settings) ? { ...chooseSpeaker(settings, known), espeak, sources: [] } : undefined;
}

async function inAllEngines({ settings, configured }: Search): Promise<SpeakerChoice | undefined> {
  const { value, origin } = settings.speaker ?? {};
  if (typeof value !== 'string') return undefined;
  const found = await configured.search(value, origin?.name ?? '');
  return found && withVoice(settings, found);
}

async function inChosenEngine({ settings, configured, espeak: find }: Search): Promise<undefined> {
  if (!settings.engine) return;
  const { espeak } = await find();
  chooseSpeaker(settings, [...speakersOf(await configured.open(0)), ...builtInSpeakers(espeak)]);
}

/** The error has the line that installs the voice. */
async function inCatalogue({ settings, context, espeak: find }: Search): Promise<undefined> {
  const { speaker } = settings;
  if (typeof speaker?.value !== 'string') return;
  const { value, origin } = speaker;
  const { notInstalled } = await import('./install/catalogue.ts');
  const error = notInstalled(value, origin.name, context.host);
  if (error) throw error;
  const { baseLanguage, languageName } = await import('./language.ts');
  // A code of three letters without a shorter form is more likely the name of a person.
  if (languageIn(settings) === undefined || baseLanguage(value)?.length !== 2) return;
  const language = languageName(value);
  const advice = adviceFor(value, { espeak: (await find()).espeak, context });
  throw usageError(`${origin.name}: no voice of this machine speaks ${language}`, advice);
}

/** The voices of this program come last, but one of the region that is asked for before one of another region. */
async function byLanguage({
  settings,
  configured,
  context,
  espeak: find,
}: Search): Promise<SpeakerChoice | undefined> {
  const asked = languageIn(settings);
  if (asked === undefined) return undefined;
  const [{ voiceForLanguage }, { installedSpeaking }] = await Promise.all([
    import('./language.ts'),
    import('./installed.ts'),
  ]);
  const { espeak } = await find();
  const known = builtInSpeakers(espeak);
  const asChoice = (voice: FoundSpeaking) => ({
    language: voice.language,
    choose: async () => {
      const found = await voice.find();
      return found && withVoice(settings, found);
    },
  });
  const ofThisProgram = ({ no, language, alsoSpeaks }: Speaker) => ({
    language,
    alsoSpeaks,
    choose: async () => ({ ...chooseSpeaker(withNumber(settings, no), known), espeak, sources: [] }),
  });
  const groups = [
    (await configured.speaking()).map(asChoice),
    installedSpeaking(context).map(asChoice),
    known.map(ofThisProgram),
  ];
  return voiceForLanguage(asked, groups)?.choose();
}

/** A name of the config is no language. */
function languageIn({ speaker, speakers }: Settings): string | undefined {
  const { value } = speaker ?? {};
  return typeof value === 'string' && !speakers?.value.has(value) ? value : undefined;
}

function withNumber(settings: Settings, value: number): Settings {
  return settings.speaker ? { ...settings, speaker: { ...settings.speaker, value } } : settings;
}

/** The speaker is nowhere: this finds the words. */
async function assertKnown({ settings, espeak: find, context: { host } }: Search): Promise<never> {
  const { espeak, fault } = await find();
  const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
  const remark = espeak ? undefined : `101 and up are the voices of espeak-ng, which ${why}`;
  const { loadCatalogue } = await import('./install/catalogue.ts');
  const offered = loadCatalogue(host).voices.map(({ name }) => name);
  chooseSpeaker(settings, builtInSpeakers(espeak), { remark, offered });
  throw new RangeError(`speaker ${settings.speaker?.value} was found and not found`);
}

function withVoice(settings: Settings, { numbered, voice, no }: FoundVoice): SpeakerChoice {
  const origin = settings.speaker?.origin ??
    settings.engine?.origin ?? { place: 'default' as const, name: 'the default' };
  const known = [{ no, name: voice.name, kind: 'neo.one' }];
  const { value = '' } = settings.speaker ?? {};
  const own = settings.speakers?.value.get(String(value));
  const named = own ? settingsFor({ ...own, no, name: String(value) }, settings) : settings;
  const chosen = chooseSpeaker({ ...named, speaker: { value: no, origin } }, known);
  return { ...chosen, sources: [numbered] };
}

/** The speakers with the rates that come out where none is asked for. */
function builtInSpeakers(espeak: Espeak | undefined, sources: readonly NumberedSource[] = []): Speaker[] {
  const own = [...FLITE_SPEAKERS, ...(espeak?.voices.map(({ speaker }) => speaker) ?? [])];
  return [...own.map((speaker) => ({ ...speaker, sampleRate: OWN_RATE })), ...sources.flatMap(speakersOf)];
}

/** The identity of voices that are made by this program itself. */
const BUILT_IN = 'built-in';

/** Texts that wait at an engine besides those that it speaks: it never waits for one. */
const WAITING = 2;

/** @throws TtsError (usage) for an unknown engine */
export async function openVoices(plan: VoicesPlan, context: RunContext): Promise<RunVoices> {
  const { baseUrl, engine } = plan.settings;
  const voices = new RunVoices(plan, context);
  if (engine && !baseUrl) await voices.openSources();
  return voices;
}

/** All voices of a run. Nothing is asked before a voice needs it. */
export class RunVoices implements Voices {
  readonly #plan: VoicesPlan;
  readonly #context: RunContext;
  readonly #engines: Engines = { espeak: undefined, sources: new Set() };
  readonly #connections: Connections;
  readonly #listeners = new Set<(event: VoiceEvent) => void>();
  readonly #wishes = new Recent<VoiceShape>();
  readonly #voices = new Recent<Voice>();
  #sources: Promise<VoiceSources> | undefined;

  constructor(plan: VoicesPlan, context: RunContext) {
    this.#plan = plan;
    this.#context = context;
    this.#connections = new Connections(plan, this.#engines, context, (event) => {
      for (const listener of this.#listeners) listener(event);
    });
  }

  listen(listener: (event: VoiceEvent) => void): void {
    this.#listeners.add(listener);
  }

  async of(wish: Wish = {}): Promise<Voice> {
    const said = Object.entries(wish).filter(([, setting]) => setting !== undefined);
    const key = JSON.stringify(said.map(([name, { value, origin }]) => [name, value, origin.place]));
    const shape = this.#wishes.get(key) ?? (await this.#choose(Object.fromEntries(said)));
    this.#wishes.set(key, shape);
    return this.as(shape);
  }

  async cast(speaker: Setting<string | number>, mayAskService = true): Promise<Voice> {
    const key = JSON.stringify(['cast', speaker.value, speaker.origin.place, mayAskService]);
    const shape = this.#wishes.get(key) ?? (await this.#chooseCast(speaker, mayAskService));
    this.#wishes.set(key, shape);
    return this.as(shape);
  }

  as(shape: VoiceShape): Voice {
    const { identity, speaker, sampleRate, hasOwnRate = false, instructions, speed, stream } = shape;
    const key = JSON.stringify([
      identity,
      speaker,
      sampleRate ?? null,
      hasOwnRate,
      instructions ?? null,
      speed ?? null,
      stream ?? null,
    ]);
    const voice = this.#voices.get(key) ?? this.#make(shape);
    this.#voices.set(key, voice);
    return voice;
  }

  async list(policy: Partial<RetryPolicy> = {}): Promise<readonly ListedVoice[] | undefined> {
    const service = await this.#plan.service();
    if (!service) return this.#listEngines();
    const { listService } = await import('./service.ts');
    const { retries, timeout } = this.#plan.settings;
    const usual = { retries: retries.value, timeoutMs: timeout.value * 1000, onEvent: () => {} };
    return listService({ ...service, ...usual, ...policy }, this.#context);
  }

  /** The shape of a speaker of the service or, without one, of this program. */
  shapeOf(speaker: number, asked: Partial<Asked> = {}): VoiceShape {
    const identity = this.#serviceIdentity;
    return identity === undefined ? this.#ownShapeOf(speaker, asked) : { ...asked, identity, speaker };
  }

  #ownShapeOf(speaker: number, asked: Partial<Asked>): VoiceShape {
    const source = this.#sourceOf(speaker);
    const voice = source?.voices.get(speaker);
    if (!source || !voice) return { ...asked, identity: BUILT_IN, speaker };
    const identity = source.source.identityOf(voice);
    if (asked.sampleRate !== undefined) return { ...asked, identity, speaker };
    return { ...asked, identity, speaker, sampleRate: voice.usualRate ?? voice.sampleRate, hasOwnRate: true };
  }

  /** Bytes; `undefined` where the sound of the voice is not kept. */
  cacheBytesFor({ kind }: Voice): Promise<number | undefined> {
    return this.#connections.cacheBytesFor(kind);
  }

  /** The cache for the sound of the voice, if it is kept. */
  keptFor({ kind }: Voice): Promise<Kept | undefined> {
    return this.#connections.keptFor(kind);
  }

  /**
   * Opens what the voice speaks with.
   * @throws TtsError
   */
  async open({ shape }: Voice): Promise<void> {
    await this.#connections.open(this.#routeOf(shape));
  }

  /** @throws TtsError (usage) for an unknown engine */
  openSources(): Promise<VoiceSources> {
    const { baseUrl, engine } = this.#plan.settings;
    // The voice of an engine that a service stands for is not meant.
    const chosen = engine && !baseUrl ? [engine] : [];
    this.#sources ??= import('./sources.ts').then(
      ({ VoiceSources }) => new VoiceSources(this.#plan.settings, this.#context, chosen),
    );
    return this.#sources;
  }

  /** Errors of closing become warnings. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#connections.close();
  }

  get #serviceIdentity(): string | undefined {
    const { baseUrl } = this.#plan.settings;
    return baseUrl && requestUrl(baseUrl.value).href;
  }

  async #choose(wish: Wish): Promise<VoiceShape> {
    const { settings } = this.#plan;
    const chosen = await this.#find({ ...settings, ...wish }, settings.baseUrl !== undefined);
    return this.shapeOf(chosen.no, askedBy(chosen.settings));
  }

  async #chooseCast(speaker: Setting<string | number>, mayAskService: boolean): Promise<VoiceShape> {
    const { settings } = this.#plan;
    const { baseUrl, speakers } = settings;
    const isNumber =
      typeof speaker.value === 'number' || speakers?.value.get(speaker.value)?.no !== undefined;
    const isOfService = baseUrl !== undefined && isNumber && mayAskService;
    const alone = { ...settings, speaker, sampleRate: undefined, instructions: undefined };
    const chosen = await this.#find(baseUrl ? { ...alone, engine: undefined } : alone, isOfService).catch(
      async (error) => {
        const service = mayAskService && (await this.#plan.service());
        if (!service) throw error;
        throw await withListedNumber(error, alone, service, this.#context.signal);
      },
    );
    const asked = askedBy(sharedWith(chosen, settings));
    return isOfService ? this.shapeOf(chosen.no, asked) : this.#ownShapeOf(chosen.no, asked);
  }

  async #find(said: Settings, isOfService: boolean): Promise<Choice> {
    const openSources = isOfService ? undefined : () => this.openSources();
    const chosen = await speakerOf(said, openSources, this.#context);
    this.#engines.espeak ??= chosen.espeak;
    for (const source of chosen.sources) this.#engines.sources.add(source);
    return chosen;
  }

  #make(shape: VoiceShape): Voice {
    const { settings } = this.#plan;
    const route = this.#routeOf(shape);
    const connections = this.#connections;
    const isOwn = route.kind === 'built-in' || route.kind === 'espeak';
    const { source } = route;
    const most = source?.source.maxChars ?? Number.POSITIVE_INFINITY;
    const { name, language, sampleRate } = knownOf(route, this.#engines);
    const ownRate = isOwn ? OWN_RATE : sampleRate;
    return {
      label: route.kind === 'espeak' && name !== undefined ? name : String(shape.speaker),
      name,
      language,
      kind: route.kind,
      maxChars: Math.min(settings.maxChars.value, most),
      sampleRate: shape.hasOwnRate ? ownRate : (shape.sampleRate ?? ownRate),
      speed: shape.speed,
      atOnce: route.atOnce,
      shape,
      speak: (text, signal) => connections.speak(route, isOwn ? asWritten(text) : text, signal),
      isKept: (part) => connections.mayHave(shape, part),
      request: (text) => requestBody(text, connections.fieldsOf(shape)),
    };
  }

  #routeOf(shape: VoiceShape): VoiceRoute {
    const { concurrency } = this.#plan.settings;
    if (shape.identity === this.#serviceIdentity)
      return { kind: 'service', shape, atOnce: concurrency.value };
    const source = this.#sourceOf(shape.speaker);
    if (!source) {
      const kind = espeakSpeaker(this.#engines, shape.speaker) === undefined ? 'built-in' : 'espeak';
      return { kind, shape, atOnce: concurrency.value };
    }
    const isSaid = concurrency.origin.place !== 'default';
    const atOnce = isSaid ? concurrency.value : source.source.concurrency + WAITING;
    return { kind: 'engine', shape, atOnce, source };
  }

  #sourceOf(speaker: number): NumberedSource | undefined {
    return [...this.#engines.sources].find(({ voices }) => voices.has(speaker));
  }

  /** An engine that does not work is a warning, unless it was chosen. */
  async #listEngines(): Promise<readonly ListedVoice[]> {
    const { espeakIfAny } = await import('../engines/espeak.ts');
    const espeak = await espeakIfAny(this.#context);
    const configured = await this.openSources();
    const chosen = this.#plan.settings.engine ? 0 : undefined;
    const sources = await configured.openAll((error, at) => {
      if (at !== chosen) this.#context.notices.warn((error as Error).message);
    });
    if (chosen !== undefined) await configured.open(chosen);
    const installed = await (await import('./installed.ts')).openInstalled(this.#context);
    this.#engines.espeak ??= espeak;
    for (const source of [...sources, ...installed]) this.#engines.sources.add(source);
    return [...builtInSpeakers(espeak, [...sources, ...installed]), ...sources.flatMap(unnumberedSpeakersOf)];
  }
}

/** The voices of this program look at the lines of a text themselves. */
function asWritten(text: NumberedText): NumberedText {
  return { ...text, text: text.written ?? text.text };
}

const UNREAD_BY_ESPEAK = ['ja', 'zh'];

interface Machine {
  readonly espeak: Espeak | undefined;
  readonly context: Pick<RunContext, 'host'>;
}

/** True where espeak-ng names the characters in English instead of reading them. */
export function isUnreadByEspeak(language: string): boolean {
  return UNREAD_BY_ESPEAK.some((unread) => matchesLanguage(unread, language));
}

/** Says how to get a voice for a language: one that is there, one that can be installed, or that there is none. */
export function adviceFor(asked: string, { espeak, context }: Machine): string {
  const base = baseLanguage(asked) ?? asked;
  const language = languageName(base) ?? asked;
  const isOf = (tag: string) => matchesLanguage(tag, base);
  const there =
    manifestsOf(context).find(({ speakers }) => speakers.some((speaker) => isOf(speaker.language))) ??
    FLITE_SPEAKERS.find((speaker) => isOf(speaker.language));
  if (there) return `-s ${there.name} speaks ${language}`;
  const isReadable = !isUnreadByEspeak(base);
  const robot = isReadable && espeak && voiceForLanguage(base, [espeak.voices.map(({ speaker }) => speaker)]);
  const ofLanguage = loadCatalogue(context.host).voices.filter((voice) => isOf(voice.language));
  const offered = ofLanguage.find(isFree) ?? ofLanguage[0];
  if (offered) return `${installLine(offered)}${robot ? `; until then, -s ${base} takes espeak-ng` : ''}`;
  if (robot) return `-s ${base} takes the voice of espeak-ng`;
  if (isReadable && !espeak) return `espeak-ng may speak ${language}: install it, then -s ${base}`;
  return `no voice that tts can install reads ${language}; a service or an engine of yours may: --base-url, --engine`;
}
