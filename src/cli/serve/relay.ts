import type { Track } from '../../audio/pcm.ts';
import {
  EngineError,
  type EngineFault,
  type EngineSet,
  type EngineSound,
  queueFull,
  type Speaker,
  type Utterance,
} from '../../engine/contract.ts';
import { mono } from '../../engine/external/mono.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { plain } from '../../reading/plain.ts';
import { wordsSource } from '../../reading/source.ts';
import type { Settings } from '../../settings/resolve.ts';
import type { NamedSpeaker } from '../../settings/special-kinds.ts';
import { trackOf } from '../../speech/deliver.ts';
import { RunText } from '../../speech/text.ts';
import type { ListedVoice } from '../../voices/voice.ts';
import type { RunVoices } from '../../voices/voices.ts';

export interface RelayOptions {
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
export async function openRelay({ voices, ...options }: RelayOptions): Promise<EngineSet> {
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
    // Samples that nobody begins to read end with the signal alone.
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
