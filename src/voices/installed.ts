/** The voices that `tts voices` has installed. */
import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type ModelSpeaker, offsetOf, shortName } from '../engines/engine.ts';
import { usageError } from '../kit/error.ts';
import { dataFolder, fromHome } from '../kit/folders.ts';
import type { RunContext } from '../kit/host.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Voice } from '../sound/voice.ts';
import {
  CARD,
  installAgain,
  installedVoices,
  type Manifest,
  runtimesIn,
  voicesFolder,
} from './install/manifest.ts';
import type { Speaking } from './language.ts';
import type { PlaceOptions, VoicePlace } from './sources.ts';
import { explained, MAX_CHARS, openEngineVoices } from './user-engines.ts';

export function manifestsOf({ host }: Pick<RunContext, 'host'>): Manifest[] {
  return installedVoices(dataFolder(host), host.uid);
}

/** A cloned voice gets the last of the numbers that a model has for its voices. */
const CLONE_OFFSET = 999;

type ReferenceVoice = Pick<NamedSpeaker, 'engine' | 'reference'> & { readonly name: string };

interface MatchedSpeaker {
  readonly manifest: Manifest;
  readonly speaker: ModelSpeaker;
}

/** Finds voices among the installed models. A model is opened once in a run, when one of its speakers is chosen. */
export class InstalledPlace implements VoicePlace {
  readonly #options: PlaceOptions;
  readonly #manifests: readonly Manifest[];
  readonly #opened = new Map<Manifest, Promise<readonly Voice[]>>();
  readonly #clones = new Map<string, Promise<Voice>>();

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.#manifests = manifestsOf(options.context);
  }

  async numbered(no: number): Promise<Voice | undefined> {
    return this.#voiceOf(this.#all.find((meant) => numberOf(meant) === no));
  }

  /**
   * Finds a voice by its own name, or by the full or short name of one of its speakers.
   * @throws TtsError if its folder has been damaged
   */
  async named(name: string): Promise<Voice | undefined> {
    const all = this.#all;
    const asked = name.toLowerCase();
    return this.#voiceOf(
      all.find(({ manifest }) =>
        [manifest.name, manifest.key].some((each) => each.toLowerCase() === asked),
      ) ??
        all.find(({ manifest, speaker }) => namesOf(manifest, speaker).includes(asked)) ??
        all.find(({ speaker }) => shortName(speaker.name) === asked),
    );
  }

  /** The language of each speaker. None is opened before it is chosen. */
  get speaking(): readonly (Speaking & { readonly open: () => Promise<Voice | undefined> })[] {
    return this.#all.map((meant) => ({
      language: meant.speaker.language,
      open: () => this.#voiceOf(meant),
    }));
  }

  /**
   * Clones a voice from a WAV of the user, once in a run.
   * @throws TtsError (usage) for a model that cannot clone, and for a reference that is no WAV or has a wrong length
   */
  cloneOf(wanted: ReferenceVoice, origin: string): Promise<Voice> {
    const clone = this.#clones.get(wanted.name) ?? this.#clone(wanted, origin);
    this.#clones.set(wanted.name, clone);
    return clone;
  }

  async #clone({ name, engine = '', reference = '' }: ReferenceVoice, origin: string): Promise<Voice> {
    const manifest = this.#manifests.find((each) => each.name === engine);
    const [pattern] = manifest?.speakers ?? [];
    if (!manifest || pattern?.reference === undefined)
      throw usageError(
        `${origin}: no installed voice ${JSON.stringify(engine)} speaks like a reference`,
        'one of the family Pocket does: tts voices install pocket',
      );
    const { home } = this.#options.context.host;
    const { checkedReference } = await import('./reference.ts');
    const { path, sum } = await checkedReference(fromHome(reference, home), `speakers.${name}`);
    const speaker = { name, language: manifest.language, sid: 0, offset: CLONE_OFFSET, reference: path, sum };
    const [voice] = await openInstalled({ ...manifest, speakers: [speaker] }, this.#options);
    if (!voice) throw new RangeError(`${engine} has no voice`);
    return voice;
  }

  /** @param onFault called for each model that cannot be opened */
  async list(onFault: (error: unknown) => void = () => {}): Promise<readonly Voice[]> {
    const opening = this.#manifests.map((manifest) =>
      this.#open(manifest).catch((error: unknown) => {
        onFault(error);
        return [];
      }),
    );
    return (await Promise.all(opening)).flat();
  }

  get #all(): readonly MatchedSpeaker[] {
    return this.#manifests.flatMap((manifest) => manifest.speakers.map((speaker) => ({ manifest, speaker })));
  }

  async #voiceOf(meant: MatchedSpeaker | undefined): Promise<Voice | undefined> {
    if (!meant) return undefined;
    const voices = await this.#open(meant.manifest);
    return voices.find(({ no }) => no === numberOf(meant));
  }

  #open(manifest: Manifest): Promise<readonly Voice[]> {
    const voices = this.#opened.get(manifest) ?? openInstalled(manifest, this.#options);
    this.#opened.set(manifest, voices);
    return voices;
  }
}

function numberOf({ manifest, speaker }: MatchedSpeaker): number {
  return manifest.number + offsetOf(speaker);
}

/** Returns the lower-case names of a speaker: its own, and one with its model as in `kokoro:af_heart`. */
function namesOf({ name: voice }: Manifest, { name }: ModelSpeaker): string[] {
  return [name, `${voice}:${name}`].map((each) => each.toLowerCase());
}

async function openInstalled(
  manifest: Manifest,
  { settings, context: { host, signal }, wrap }: PlaceOptions,
): Promise<readonly Voice[]> {
  const { openSource } = await import('../engines/external.ts');
  const data = dataFolder(host) ?? '';
  const { name, number, sampleRate, voices, scales, espeak } = manifest;
  const folder = join(voicesFolder(data), name);
  const speakers = manifest.speakers.map(({ reference, ...speaker }) => ({
    ...speaker,
    ...(reference !== undefined && { reference: resolve(folder, reference) }),
  }));
  const advice = adviceOn(manifest);
  const installed = {
    identity: identityOf(manifest),
    sampleRate,
    voices,
    speakers,
    scales,
    base: data,
    espeakData: espeak && join(data, espeak.folder),
  };
  const model = await openSource(
    { kind: 'model', name, folder, maxChars: MAX_CHARS, concurrency: 1, installed },
    { host, signal, timeoutMs: 0, runtimes: runtimesIn(data, host.uid) },
  ).catch((error: unknown) => {
    throw explained(error, advice);
  });
  const at = (place: number) => {
    const speaker = speakers[place];
    return speaker ? numberOf({ manifest, speaker }) : number + place;
  };
  return openEngineVoices({ ...model, advice }, { settings, wrap, numberOf: at }).voices();
}

function adviceOn(manifest: Manifest): string {
  return `tts voices verify ${manifest.name} tells what is damaged; this brings the voice and its runtime again: ${installAgain(manifest)}`;
}

/** A checksum of everything that shapes the sound. It is the same on two machines, so that a copied cache serves both. */
function identityOf({ files, espeak, scales, sampleRate }: Manifest): string {
  const sums = [...files, ...(espeak?.files ?? [])]
    .filter(({ name }) => name !== CARD && !name.endsWith('.json'))
    .map(({ name, sha256 }) => `${name} ${sha256}`)
    .sort();
  return `installed ${hash('sha256', JSON.stringify([sums, scales ?? null, sampleRate]))}`;
}
