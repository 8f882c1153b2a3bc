import { converted } from '../../audio/convert.ts';
import { sameFormat, type Track } from '../../audio/pcm.ts';
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
import { ExitCode, TtsError, usageError } from '../../error.ts';
import { plain } from '../../reading/plain.ts';
import { wordsSource } from '../../reading/source.ts';
import type { Settings } from '../../settings/resolve.ts';
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
 * Opens a service of other people as the engine of `tts serve`. All clients share its cache, its limits and its key.
 * @throws TtsError for a service that cannot be asked, and for one whose speakers nobody names
 */
export async function openRelay({ voices, settings, ...options }: RelayOptions): Promise<EngineSet> {
  const listed = (await voices.list()) ?? configured(settings);
  const speakers = listed.flatMap(listedSpeakers);
  if (speakers.length > 0) return new Relay(voices, speakers, { settings, ...options });
  throw usageError(
    'the service lists no speakers',
    'name those that it has under "speakers" in a config file, as in { "anna": 3 }',
  );
}

function configured({ speakers }: Settings): ListedVoice[] {
  return [...(speakers?.value ?? [])].flatMap(([name, { no }]) => (no === undefined ? [] : [{ name, no }]));
}

function listedSpeakers({ no, name, kind, language = 'und', sampleRate }: ListedVoice): Speaker[] {
  if (no === undefined) return [];
  return [
    { no, name: name ?? String(no), kind: kind === 'Mermish' ? kind : 'neo.one', language, sampleRate },
  ];
}

class Relay implements EngineSet {
  readonly speakers: readonly Speaker[];
  readonly workers: number;
  readonly isFar = true;
  readonly #voices: RunVoices;
  readonly #options: Omit<RelayOptions, 'voices'>;
  /** Utterances that are spoken or wait. */
  #open = 0;

  constructor(voices: RunVoices, speakers: readonly Speaker[], options: Omit<RelayOptions, 'voices'>) {
    this.#voices = voices;
    this.speakers = speakers;
    this.workers = options.settings.concurrency.value;
    this.#options = options;
  }

  get queued(): number {
    return Math.max(0, this.#open - this.workers);
  }

  /** The rate is that of the service, unless another one is asked for. */
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
      const { sampleRate = track.format.sampleRate } = utterance;
      const format = { ...track.format, sampleRate };
      const { pcm } = sameFormat(track.format, format) ? track : converted(track, format);
      return { sampleRate, samples: untilEnd(mono(pcm, format), end) };
    } catch (error) {
      end();
      throw asEngineError(error);
    }
  }

  async #track({ text, speaker, instructions }: Utterance, signal: AbortSignal): Promise<Track> {
    const wished = speaker.kind === 'Mermish' ? instructions : undefined;
    const voice = this.#voices.as({ ...this.#voices.shapeOf(speaker.no), instructions: wished || undefined });
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
