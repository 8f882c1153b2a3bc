import type { Kept } from '../cache/kept.ts';
import { requestBody } from '../client/request-body.ts';
import type { NumberedText, RetryPolicy } from '../client/retry.ts';
import { type NumberedSource, unnumberedSpeakersOf } from '../engine/source.ts';
import type { RunContext } from '../host.ts';
import { type Channel, Connections, type Engines, type VoicesPlan } from './connections.ts';
import { requestUrl } from './service-choice.ts';
import type { SourceShelf } from './source-shelf.ts';
import { builtInSpeakers, speakerOf } from './speaker-choice.ts';
import type { ListedVoice, Voice, VoiceEvent, VoiceShape, Voices, Wish } from './voice.ts';

/** The identity of voices that are made by this program itself. */
const BUILT_IN = 'built-in';

/** The largest number of voices that are remembered. Instructions may differ in every row of a batch. */
const MOST_REMEMBERED = 1000;

/** Texts that wait at an engine besides those that it speaks: it never waits for one. */
const WAITING = 2;

/** @throws TtsError (usage) for an unknown engine */
export async function openVoices(plan: VoicesPlan, context: RunContext): Promise<RunVoices> {
  const { baseUrl, engine } = plan.settings;
  const voices = new RunVoices(plan, context);
  if (engine && !baseUrl) await voices.openShelf();
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
  #shelf: Promise<SourceShelf> | undefined;

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

  as(shape: VoiceShape): Voice {
    const { identity, speaker, sampleRate, hasOwnRate = false, instructions } = shape;
    const key = JSON.stringify([identity, speaker, sampleRate ?? null, hasOwnRate, instructions ?? null]);
    const voice = this.#voices.get(key) ?? this.#make(shape);
    this.#voices.set(key, voice);
    return voice;
  }

  async list(policy: Partial<RetryPolicy> = {}): Promise<readonly ListedVoice[] | undefined> {
    const service = await this.#plan.service();
    if (!service) return this.#listEngines();
    const { listSpeakers } = await import('../client/speakers.ts');
    const { retries, timeout } = this.#plan.settings;
    const usual = { retries: retries.value, timeoutMs: timeout.value * 1000, onEvent: () => {} };
    return listSpeakers({ ...service, ...usual, ...policy }, this.#context.signal);
  }

  /** The shape of a speaker with what is asked of it. */
  shapeOf(speaker: number, asked: Pick<VoiceShape, 'sampleRate' | 'instructions'> = {}): VoiceShape {
    const { baseUrl } = this.#plan.settings;
    if (baseUrl) return { ...asked, identity: requestUrl(baseUrl.value).href, speaker };
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
    await this.#connections.open(this.#channelOf(shape));
  }

  /** @throws TtsError (usage) for an unknown engine */
  openShelf(): Promise<SourceShelf> {
    this.#shelf ??= import('./source-shelf.ts').then(
      ({ SourceShelf }) => new SourceShelf(this.#plan.settings, this.#context),
    );
    return this.#shelf;
  }

  /** Errors of closing become warnings. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#connections.close();
  }

  async #choose(wish: Wish): Promise<VoiceShape> {
    const { settings } = this.#plan;
    const said = { ...settings, ...wish };
    const openShelf = settings.baseUrl ? undefined : () => this.openShelf();
    const chosen = await speakerOf(said, openShelf, this.#context);
    this.#engines.espeak ??= chosen.espeak;
    for (const source of chosen.sources) this.#engines.sources.add(source);
    const { sampleRate, instructions } = chosen.settings;
    return this.shapeOf(chosen.no, { sampleRate: sampleRate?.value, instructions: instructions?.value });
  }

  #make(shape: VoiceShape): Voice {
    const { settings } = this.#plan;
    const channel = this.#channelOf(shape);
    const connections = this.#connections;
    const isOwn = channel.kind === 'built-in' || channel.kind === 'espeak';
    const most = this.#sourceOf(shape.speaker)?.source.maxChars ?? Number.POSITIVE_INFINITY;
    return {
      label: this.#espeakName(shape.speaker) ?? String(shape.speaker),
      kind: channel.kind,
      maxChars: Math.min(settings.maxChars.value, most),
      atOnce: channel.atOnce,
      shape,
      speak: (text, signal) => connections.speak(channel, isOwn ? asWritten(text) : text, signal),
      isKept: (part) => connections.mayHave(shape, part),
      request: (text) => requestBody(text, connections.fieldsOf(shape)),
    };
  }

  #channelOf(shape: VoiceShape): Channel {
    const { concurrency, baseUrl } = this.#plan.settings;
    if (baseUrl) return { kind: 'service', shape, atOnce: concurrency.value };
    const source = this.#sourceOf(shape.speaker);
    if (!source) {
      const kind = this.#espeakName(shape.speaker) === undefined ? 'built-in' : 'espeak';
      return { kind, shape, atOnce: concurrency.value };
    }
    const isSaid = concurrency.origin.place !== 'default';
    const atOnce = isSaid ? concurrency.value : source.source.concurrency + WAITING;
    return { kind: 'engine', shape, atOnce, source };
  }

  #sourceOf(speaker: number): NumberedSource | undefined {
    return [...this.#engines.sources].find(({ voices }) => voices.has(speaker));
  }

  #espeakName(no: number): string | undefined {
    return this.#engines.espeak?.voices.find(({ speaker }) => speaker.no === no)?.speaker.name;
  }

  /** An engine that does not work is a warning, unless it was chosen. */
  async #listEngines(): Promise<readonly ListedVoice[]> {
    const { espeakIfAny } = await import('../engine/espeak/voices.ts');
    const espeak = await espeakIfAny(this.#context);
    const shelf = await this.openShelf();
    const chosen = this.#plan.settings.engine ? 0 : undefined;
    const sources = await shelf.openAll((error, at) => {
      if (at !== chosen) this.#context.notices.warn((error as Error).message);
    });
    if (chosen !== undefined) await shelf.open(chosen);
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

/** Forgets what was not used for the longest time. */
class Recent<T> {
  readonly #items = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  /** This counts as use. */
  set(key: string, item: T): void {
    this.#items.delete(key);
    this.#items.set(key, item);
    const [oldest] = this.#items.keys();
    if (this.#items.size > MOST_REMEMBERED && oldest !== undefined) this.#items.delete(oldest);
  }
}
