import type { Kept } from '../cache/kept.ts';
import { requestBody } from '../client/request-body.ts';
import type { NumberedText, RetryPolicy } from '../client/retry.ts';
import { OWN_RATE } from '../engine/contract.ts';
import { type NumberedSource, unnumberedSpeakersOf } from '../engine/source.ts';
import type { RunContext } from '../host.ts';
import { Recent } from '../recent.ts';
import type { Setting, Settings } from '../settings/resolve.ts';
import { type Asked, askedBy, type Choice, sharedWith } from '../settings/speaker.ts';
import {
  Connections,
  type Engines,
  espeakSpeaker,
  knownOf,
  type VoiceRoute,
  type VoicesPlan,
} from './connections.ts';
import { requestUrl, withListedNumber } from './service-choice.ts';
import { builtInSpeakers, speakerOf } from './speaker-choice.ts';
import type { ListedVoice, Voice, VoiceEvent, VoiceShape, Voices, Wish } from './voice.ts';
import type { VoiceSources } from './voice-sources.ts';

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
    const { listService } = await import('./service-client.ts');
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
    this.#sources ??= import('./voice-sources.ts').then(
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
    const { espeakIfAny } = await import('../engine/espeak/voices.ts');
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
