/** The voices behind `tts serve`: those of this machine, or of a remote service that it relays requests to. */
import { availableParallelism } from 'node:os';
import { queueFull } from '../engines/engine.ts';
import type { RunContext } from '../kit/host.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Setting, Settings } from '../options/load.ts';
import { wordsSource } from '../read/source.ts';
import { converted } from '../sound/convert.ts';
import { bareFormat, counted, type Speech, sameFormat } from '../sound/pcm.ts';
import type { Voice, VoiceSource } from '../sound/voice.ts';
import { InstalledPlace } from '../voices/installed.ts';
import { chooseService } from '../voices/service-choice.ts';
import { builtInPlace, eachField, espeakPlace, FIRST_PRIVATE_NUMBER, sameName } from '../voices/sources.ts';
import { UserEngines } from '../voices/user-engines.ts';
import { openVoices, type Voices } from '../voices/voices.ts';
import { trackOfText } from './live.ts';
import { isRelayed, type QueuedUtterance, type ServedVoices } from './speak.ts';

interface Limits {
  /** Utterances that the local voices, or the remote service, speak at once. */
  readonly workers: number;
  /** Utterances that may wait for each source in addition; further ones are refused. */
  readonly maxQueue: number;
}

/** A limit. Sources that share it share the object. */
interface SharedLimit {
  readonly atOnce: number;
}

/** Speaks utterances without a limit. */
interface Backend extends Pick<ServedVoices, 'all' | 'numbered' | 'close'> {
  speak(utterance: QueuedUtterance, signal: AbortSignal): Promise<Speech | undefined>;
}

/** Limits the utterances that wait. Those whose sound has begun do not count, so that a slow client blocks no other. */
class LimitedVoices implements ServedVoices {
  readonly workers: number;
  readonly #backend: Backend;
  readonly #maxQueue: number;
  /** One limit for the built-in voices and espeak-ng, which share the processor. */
  readonly #localLimit: SharedLimit;
  /** Sample rates learned from the sound of each voice, by its number. */
  readonly #rates = new Map<number, number>();
  readonly #waiting = new Map<SharedLimit, number>();

  constructor(backend: Backend, { workers, maxQueue }: Limits) {
    this.#backend = backend;
    this.workers = workers;
    this.#maxQueue = maxQueue;
    this.#localLimit = { atOnce: workers };
  }

  get all(): readonly Voice[] {
    return this.#backend.all.map((voice) => {
      const sampleRate = this.#rates.get(voice.no);
      return voice.sampleRate === undefined && sampleRate !== undefined ? { ...voice, sampleRate } : voice;
    });
  }

  get queued(): number {
    return [...this.#waiting].reduce((sum, [{ atOnce }, count]) => sum + Math.max(0, count - atOnce), 0);
  }

  numbered(no: number): Voice | undefined {
    return this.#backend.numbered(no);
  }

  async speak(utterance: QueuedUtterance, signal: AbortSignal): Promise<Speech> {
    const { voice, ignoresQueueLimit } = utterance;
    const isOwn = voice.source.kind === 'built-in' || voice.source.kind === 'espeak';
    const source = isOwn ? this.#localLimit : voice.source;
    const most = source.atOnce + this.#maxQueue;
    if (!ignoresQueueLimit && (this.#waiting.get(source) ?? 0) >= most) throw queueFull();
    const over = new AbortController();
    const begin = this.#wait(source, signal);
    const end = () => {
      begin();
      over.abort(new Error('the sound is not needed any more'));
    };
    try {
      const made = await this.#backend.speak(utterance, AbortSignal.any([signal, over.signal]));
      if (!made) throw new Error('the sound was sent elsewhere, although no callback was requested');
      const mono = bareFormat(made.format.sampleRate);
      if (!isRelayed(voice)) this.#rates.set(voice.no, mono.sampleRate);
      const speech = sameFormat(made.format, mono) ? made : converted(made, mono);
      return { ...speech, pcm: observed(speech.pcm, begin, end) };
    } catch (error) {
      end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  /** Counts an utterance as waiting. @returns a function that ends the wait */
  #wait(source: SharedLimit, signal: AbortSignal): () => void {
    let isWaiting = true;
    const add = (count: number) => this.#waiting.set(source, (this.#waiting.get(source) ?? 0) + count);
    add(1);
    const begin = () => {
      if (isWaiting) add(-1);
      isWaiting = false;
      signal.removeEventListener('abort', begin);
    };
    // If the samples are never read, only the signal ends the wait.
    signal.addEventListener('abort', begin, { once: true });
    return begin;
  }
}

async function* observed(
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
  /** The user's engines that the service offers. */
  readonly engines: readonly Setting<string>[];
  readonly workers: number | undefined;
  readonly maxQueue: number;
}

/**
 * Opens the voices of this machine. Each utterance is made once, without retries or a cache: clients have their own.
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
  const chosen = new UserEngines(engines, places).all.slice(0, engines.length);
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
  const served = new Map(voices.filter(({ no }) => no < FIRST_PRIVATE_NUMBER).map((each) => [each.no, each]));
  const backend: Backend = {
    all: [...served.values()],
    numbered: (no) => served.get(no),
    speak: ({ text, voice, fields }, signal) =>
      voice.source.speak({ text, index: 0, voice, fields, report: () => {} }, signal),
    close,
  };
  return new LimitedVoices(backend, { workers, maxQueue });
}

interface RelayOptions {
  readonly settings: Settings;
  readonly files: Parameters<typeof chooseService>[1]['files'];
  readonly maxQueue: number;
}

/** Adds no pauses between segments: the remote service makes its own. */
const NO_PAUSES = { pauses: { chapter: 0, heading: 0, scene: 0, paragraph: 0, sentence: 0 } };

/** One place for the texts of all clients: they take turns, and an error of one does not affect the others. */
const SHARED_ORDER = 0;

/**
 * Opens a remote service. All clients share its cache, its limits and its key. It need not list its speakers.
 * @throws TtsError for a service that cannot be used
 */
export async function openRelay(
  { settings, files, maxQueue }: RelayOptions,
  context: RunContext,
): Promise<ServedVoices> {
  const service = await chooseService(settings, { ...context, files });
  if (service?.note) context.notices.note(service.note);
  const voices = await openVoices({ settings, service: async () => service, isRelayed: true }, context);
  try {
    const { voice: unlisted } = await voices.ofService(
      0,
      eachField(() => undefined),
    );
    const relay = new Relay(voices, { listed: (await voices.list()) ?? [], unlisted }, settings);
    return new LimitedVoices(relay, { workers: settings.concurrency.value, maxQueue });
  } catch (error) {
    await voices[Symbol.asyncDispose]();
    throw error;
  }
}

/** Passes all options of a request to the remote service, whatever the voice: only the service knows which it supports. */
class Relay implements Backend {
  /** The default voice comes first, then those of the config, then those that the service lists. */
  readonly all: readonly Voice[];
  readonly #voices: Voices;
  readonly #listed: ReadonlyMap<number, Voice>;
  readonly #unlisted: Voice;
  /** Voices named in the config, whose settings apply if a client asks for the name. */
  readonly #named = new Map<Voice, NamedSpeaker>();

  /** @param known `unlisted` is the template for voices that the service does not list; only the number differs */
  constructor(
    voices: Voices,
    { listed, unlisted }: { readonly listed: readonly Voice[]; readonly unlisted: Voice },
    settings: Settings,
  ) {
    this.#voices = voices;
    this.#listed = new Map(listed.map((voice) => [voice.no, voice]));
    this.#unlisted = unlisted;
    for (const [name, named] of settings.speakers?.value ?? []) {
      const { no } = named;
      if (no !== undefined) this.#named.set({ ...this.#voice(no), ...named, no, name }, named);
    }
    this.all = this.#inOrder([...this.#named.keys(), ...this.#listed.values()], settings);
  }

  numbered(no: number): Voice | undefined {
    return Number.isSafeInteger(no) ? this.#voice(no) : undefined;
  }

  #voice(no: number): Voice {
    return this.#listed.get(no) ?? { ...this.#unlisted, no };
  }

  #inOrder(all: readonly Voice[], { speaker }: Settings): readonly Voice[] {
    const asked = speaker?.value ?? '';
    const usual =
      typeof asked === 'number'
        ? (all.find(({ no }) => no === asked) ?? this.#voice(asked))
        : (all.find(({ name }) => name === asked) ?? all.find((each) => sameName(each, asked)));
    return usual ? [usual, ...all.filter((other) => other !== usual)] : all;
  }

  async speak({ text, voice, fields }: QueuedUtterance, signal: AbortSignal): Promise<Speech | undefined> {
    const named = this.#named.get(voice);
    const all = { ...fields, ...eachField((field) => fields[field] ?? named?.[field]) };
    const speaker = await this.#voices.ofService(voice.no, all, named?.speed);
    return trackOfText(
      wordsSource(text),
      speaker,
      { isHeardLive: false, mix: NO_PAUSES, order: SHARED_ORDER },
      signal,
    );
  }

  close(): Promise<void> {
    return this.#voices[Symbol.asyncDispose]();
  }
}
