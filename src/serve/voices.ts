/** What speaks behind both faces of `tts serve`: the voices of this machine, or a service that it stands in front of. */
import { availableParallelism } from 'node:os';
import { queueFull, type Speaker } from '../engines/engine.ts';
import type { RunContext } from '../kit/host.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Setting, Settings } from '../options/load.ts';
import { wordsSource } from '../read/source.ts';
import { bareFormat, converted } from '../sound/convert.ts';
import { counted, type Speech, sameFormat } from '../sound/pcm.ts';
import type { Voice, VoiceSource } from '../sound/voice.ts';
import { openVoices, type Voices } from '../voices/catalogue.ts';
import { InstalledPlace } from '../voices/installed.ts';
import { chooseService } from '../voices/service-choice.ts';
import { builtInPlace, eachField, espeakPlace, FIRST_PRIVATE_NUMBER, sameName } from '../voices/sources.ts';
import { UserEngines } from '../voices/user-engines.ts';
import { trackOfText } from './live.ts';
import type { Order, ServedVoices } from './speak.ts';

interface Limits {
  /** Utterances that the built-in voices, or the service, speak at once. */
  readonly workers: number;
  /** Utterances that may wait for each source besides; further ones are refused. */
  readonly maxQueue: number;
}

/** Those who share a limit have the same object. */
interface AtOnce {
  readonly atOnce: number;
}

/** What speaks one utterance, without a limit. */
interface Backend {
  readonly isFar: boolean;
  /** The default one comes first. */
  readonly speakers: readonly Speaker[];
  numbered(no: number): Speaker | undefined;
  /** Utterances that the source of the speaker speaks at once. */
  atOnceOf(speaker: Speaker): AtOnce;
  speak(order: Order, signal: AbortSignal): Promise<Speech>;
  close(): Promise<void>;
}

/** Admits no more utterances than may wait. Those whose sound has begun do not count: a slow client holds up no other. */
class LimitedVoices implements ServedVoices {
  readonly isFar: boolean;
  readonly workers: number;
  readonly #backend: Backend;
  readonly #maxQueue: number;
  /** The rates that answers had, by the numbers of the speakers. */
  readonly #rates = new Map<number, number>();
  readonly #waiting = new Map<AtOnce, number>();

  constructor(backend: Backend, { workers, maxQueue }: Limits) {
    this.#backend = backend;
    this.isFar = backend.isFar;
    this.workers = workers;
    this.#maxQueue = maxQueue;
  }

  get speakers(): readonly Speaker[] {
    const { speakers, isFar } = this.#backend;
    if (isFar) return speakers;
    return speakers.map((speaker) => ({
      ...speaker,
      sampleRate: speaker.sampleRate ?? this.#rates.get(speaker.no),
    }));
  }

  get queued(): number {
    return [...this.#waiting].reduce((sum, [{ atOnce }, count]) => sum + Math.max(0, count - atOnce), 0);
  }

  numbered(no: number): Speaker | undefined {
    return this.#backend.numbered(no);
  }

  async speak(order: Order, signal: AbortSignal): Promise<Speech> {
    const source = this.#backend.atOnceOf(order.speaker);
    const most = source.atOnce + this.#maxQueue;
    if (!order.isPatient && (this.#waiting.get(source) ?? 0) >= most) throw queueFull();
    const over = new AbortController();
    const begin = this.#wait(source, signal);
    const end = () => {
      begin();
      over.abort(new Error('the sound is not needed any more'));
    };
    try {
      const made = await this.#backend.speak(order, AbortSignal.any([signal, over.signal]));
      const mono = bareFormat(made.format.sampleRate);
      if (!this.isFar) this.#rates.set(order.speaker.no, mono.sampleRate);
      const speech = sameFormat(made.format, mono) ? made : converted(made, mono);
      return { ...speech, pcm: watched(speech.pcm, begin, end) };
    } catch (error) {
      end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  /** @returns what ends the wait */
  #wait(source: AtOnce, signal: AbortSignal): () => void {
    let isWaiting = true;
    const add = (count: number) => this.#waiting.set(source, (this.#waiting.get(source) ?? 0) + count);
    add(1);
    const begin = () => {
      if (isWaiting) add(-1);
      isWaiting = false;
      signal.removeEventListener('abort', begin);
    };
    // Samples that are never read end with the signal alone.
    signal.addEventListener('abort', begin, { once: true });
    return begin;
  }
}

async function* watched(
  pcm: AsyncIterable<Uint8Array>,
  begin: () => void,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* counted(pcm, begin);
  } finally {
    end();
  }
}

interface LocalOptions {
  readonly settings: Settings;
  /** The engines of the user that are served. */
  readonly engines: readonly Setting<string>[];
  readonly workers: number | undefined;
  readonly maxQueue: number;
}

/**
 * The voices of this machine. They are asked once, without a cache: clients have their own.
 * @throws TtsError for an engine that does not work
 */
export async function openLocalVoices(
  { settings, engines, workers = availableParallelism(), maxQueue }: LocalOptions,
  context: RunContext,
): Promise<ServedVoices> {
  const { notices } = context;
  const sources = new Set<VoiceSource>();
  const wrap = (source: VoiceSource) => {
    sources.add(source);
    return source;
  };
  const places = { settings, context, wrap, workers };
  const chosen = engines.length === 0 ? [] : new UserEngines(engines, places).all.slice(0, engines.length);
  const builtIn = await builtInPlace(places).list();
  const voices = [
    ...builtIn,
    ...(await espeakPlace(places).listOrWarn()),
    ...(await Promise.all(chosen.map((engine) => engine.list()))).flat(),
    ...(await new InstalledPlace(places).list((error) => notices.warn((error as Error).message))),
  ];
  const [first] = builtIn;
  if (first) await first.source.open(first);
  const close = async () => {
    await Promise.all([...sources].map((source) => source.close()));
  };
  const numbered = voices.filter(({ no }) => no < FIRST_PRIVATE_NUMBER);
  return new LimitedVoices({ ...localBackend(numbered, workers), close }, { workers, maxQueue });
}

function localBackend(voices: readonly Voice[], workers: number): Omit<Backend, 'close'> {
  const served = new Map(voices.map((voice) => [voice.no, { voice, speaker: asSpeaker(voice) }]));
  const ofMachine = { atOnce: workers };
  return {
    isFar: false,
    speakers: [...served.values()].map(({ speaker }) => speaker),
    numbered: (no) => served.get(no)?.speaker,
    atOnceOf: ({ no }) => {
      const source = served.get(no)?.voice.source;
      return source?.kind === 'engine' ? source : ofMachine;
    },
    async speak({ text, speaker, fields }, signal) {
      const { voice } = served.get(speaker.no) ?? {};
      if (!voice) throw new RangeError(`there is no speaker ${speaker.no}`);
      const speech = await voice.source.speak({ text, index: 0, voice, fields, report: () => {} }, signal);
      if (!speech) throw new Error('no sound came, though none was to go elsewhere');
      return speech;
    },
  };
}

/** A service has a kind for each of its speakers. */
function asSpeaker(voice: Voice): Speaker {
  const { source, no, name = String(no), kind = 'neo.one', language = 'und' } = voice;
  const { alsoSpeaks, gender, sampleRate } = voice;
  const engine = source.kind === 'engine' ? source.name : undefined;
  return { no, name, kind, language, gender, sampleRate, engine, ...(alsoSpeaks && { alsoSpeaks }) };
}

interface RelayOptions {
  readonly settings: Settings;
  readonly files: Parameters<typeof chooseService>[1]['files'];
  readonly maxQueue: number;
}

/** Texts are joined as their authors wrote them: a service makes its own pauses. */
const MIX = { pauses: { chapter: 0, heading: 0, scene: 0, paragraph: 0, sentence: 0 } };

/** Texts of clients take turns, and an error of one says nothing about the others. */
const ORDER = 0;

/**
 * A service of other people. All clients share its cache, its limits and its key. It need not list its speakers.
 * @throws TtsError for a service that cannot be asked
 */
export async function openRelay(
  { settings, files, maxQueue }: RelayOptions,
  context: RunContext,
): Promise<ServedVoices> {
  const service = await chooseService(settings, { ...context, files });
  if (service?.note) context.notices.note(service.note);
  const voices = await openVoices({ settings, service: async () => service, isRelayed: true }, context);
  try {
    const relay = new Relay(voices, (await voices.list()) ?? [], settings);
    return new LimitedVoices(relay, { workers: settings.concurrency.value, maxQueue });
  } catch (error) {
    await voices[Symbol.asyncDispose]();
    throw error;
  }
}

/** Sends what the client asks, whatever the speaker: only the service knows what it can do. */
class Relay implements Backend {
  readonly isFar = true;
  /** The default speaker comes first, then those of the config, then those that the service lists. */
  readonly speakers: readonly Speaker[];
  readonly #voices: Voices;
  readonly #listed: ReadonlyMap<number, Speaker>;
  readonly #atOnce: AtOnce;
  /** The config has settings for these, which count where a client asks for the name. */
  readonly #named = new Map<Speaker, NamedSpeaker>();

  constructor(voices: Voices, listed: readonly Voice[], settings: Settings) {
    this.#voices = voices;
    this.#listed = new Map(listed.map((voice) => [voice.no, speakerOf(voice.no, voice)]));
    for (const [name, named] of settings.speakers?.value ?? []) {
      const { no } = named;
      if (no !== undefined) this.#named.set(speakerOf(no, { ...this.numbered(no), ...named, name }), named);
    }
    this.speakers = this.#inOrder([...this.#named.keys(), ...this.#listed.values()], settings);
    this.#atOnce = { atOnce: settings.concurrency.value };
  }

  numbered(no: number): Speaker | undefined {
    return this.#listed.get(no) ?? (Number.isSafeInteger(no) ? speakerOf(no, {}) : undefined);
  }

  atOnceOf(): AtOnce {
    return this.#atOnce;
  }

  #inOrder(all: readonly Speaker[], { speaker }: Settings): readonly Speaker[] {
    const asked = speaker?.value ?? '';
    const usual =
      typeof asked === 'number'
        ? (all.find(({ no }) => no === asked) ?? this.numbered(asked))
        : (all.find(({ name }) => name === asked) ?? all.find((each) => sameName(each, asked)));
    return usual ? [usual, ...all.filter((other) => other !== usual)] : all;
  }

  async speak({ text, speaker, fields }: Order, signal: AbortSignal) {
    const named = this.#named.get(speaker);
    const all = { ...fields, ...eachField((field) => fields[field] ?? named?.[field]) };
    const voice = await this.#voices.ofService(speaker.no, all, named?.speed);
    const how = { isHeardLive: false, mix: MIX, order: ORDER };
    const track = await trackOfText(wordsSource(text), voice, how, signal);
    if (!track) throw new Error('no sound came, though none was to go elsewhere');
    return track;
  }

  close(): Promise<void> {
    return this.#voices[Symbol.asyncDispose]();
  }
}

function speakerOf(
  no: number,
  { name = String(no), kind, language = 'und', sampleRate }: Partial<Speaker> | Voice,
): Speaker {
  return { no, name, kind, language, sampleRate };
}
