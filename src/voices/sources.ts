/** The places of this machine that have voices, and the wrappers of their sources: limit, retry, proof and cache. */
import { type Engine, type EngineVoice, OWN_RATE } from '../engines/engine.ts';
import type { Espeak, findEspeak } from '../engines/espeak.ts';
import { FLITE_VOICES } from '../engines/flite-voices.ts';
import type { RunContext } from '../kit/host.ts';
import { ConcurrencyLimiter } from '../kit/limit.ts';
import { loadOnce } from '../kit/wait.ts';
import type { NamedSpeaker } from '../options/kinds.ts';
import type { Settings } from '../options/load.ts';
import type { Field, Fields, Voice, VoiceSource } from '../sound/voice.ts';
import { localSource } from './local.ts';
import type { Prover } from './proof.ts';
import { resilient } from './resilient.ts';
import type { RunCache } from './run-cache.ts';
import type { Machine } from './timed-words.ts';

/** A place where voices are looked for. It opens no more than it needs. */
export interface VoicePlace {
  /** @returns `undefined` for a number of another place */
  numbered(no: number): Promise<Voice | undefined>;
  named(name: string): Promise<Voice | undefined>;
  list(): Promise<readonly Voice[]>;
}

/** The first internal number, for later voices of a large engine. Users can choose these only by name. */
export const FIRST_PRIVATE_NUMBER = 1_000_000_000;

export function sameName({ name }: Pick<Voice, 'name'>, asked: string): boolean {
  return name !== undefined && name.toLowerCase() === asked.toLowerCase();
}

/** Finds a speaker of the config. Case counts only between names that differ in nothing else. */
export function speakerNamed(
  asked: string,
  speakers: ReadonlyMap<string, NamedSpeaker> = new Map(),
): NamedSpeaker | undefined {
  return speakers.get(asked) ?? [...speakers].find(([name]) => sameName({ name }, asked))?.[1];
}

/** Wraps a source in limit, retry, proof and cache. */
export type Wrap = (source: VoiceSource) => VoiceSource;

/** Seconds that the clients of a relay wait at most where the service asks to wait: they get its error instead. */
const LONGEST_RELAYED_WAIT = 30;

/** @param machine the host for the reference; a relay has none, and does not compare sound with its text */
export function wrapping(
  { retries }: Pick<Settings, 'retries'>,
  cache: RunCache,
  machine: Machine | undefined,
): Wrap {
  const longestWait = machine ? undefined : LONGEST_RELAYED_WAIT;
  return (source) => {
    const asked = resilient(source, {
      limiter: new ConcurrencyLimiter(source.atOnce, longestWait),
      retries: retries.value,
      longestWait,
      checksum: async () => ((await cache.opened(source)) ? (await import('node:zlib')).crc32 : undefined),
    });
    return cached(machine ? proven(asked, machine) : asked, cache);
  };
}

/** The sources whose sound is compared: built-in voices are the reference, and espeak-ng leaves nothing out. */
const PROVEN: readonly VoiceSource['kind'][] = ['engine', 'service'];

/** UTF-16 units of the shortest text that is compared if it may be alone: it would take longer than the rest of the run. */
const SHORTEST_ALONE = 160;

/** Wraps a source, whose sound is compared with its text unless it is heard as it comes. */
function proven(source: VoiceSource, machine: Machine): VoiceSource {
  if (!PROVEN.includes(source.kind)) return source;
  let opened: Promise<Prover> | undefined;
  const prover = async () => {
    const { Prover } = await import('./proof.ts');
    return new Prover(source, async () => new (await import('./timed-words.ts')).Reference(machine));
  };
  return {
    ...source,
    async speak(utterance, signal) {
      const { isHeardLive, index, order, text, fields } = utterance;
      const mayBeAlone = index === 0 && order === undefined;
      const isShort = mayBeAlone && text.length < SHORTEST_ALONE;
      if (isShort || isHeardLive || fields.stream || fields.callbackUrl !== undefined)
        return source.speak(utterance, signal);
      opened ??= prover();
      return (await opened).speak(utterance, signal);
    },
    async close() {
      await (await opened)?.[Symbol.asyncDispose]();
      await source.close();
    },
  };
}

/** Wraps a source, which is asked only for sound that is not in the cache. */
function cached(source: VoiceSource, cache: RunCache): VoiceSource {
  return {
    ...source,
    async speak(utterance, signal) {
      const opened = await cache.opened(source);
      if (!opened) return source.speak(utterance, signal);
      const { index } = utterance;
      let found: 'hit' | 'miss' = 'hit';
      const make = () => {
        found = 'miss';
        utterance.report({ type: 'cache', index, found });
        return source.speak(utterance, signal);
      };
      const speech = await opened.get(utterance, make, signal);
      if (found === 'hit') utterance.report({ type: 'cache', index, found });
      return speech;
    },
    has: (asked) => cache.ifOpen?.mayHave(asked) === true,
  };
}

export interface PlaceOptions {
  readonly settings: Pick<Settings, 'concurrency' | 'timeout'>;
  readonly context: RunContext;
  readonly wrap: Wrap;
  /** Threads and processes for `tts serve`; by default one for each core, started when they are needed. */
  readonly workers?: number | undefined;
}

function listedPlace(list: () => Promise<readonly Voice[]>): VoicePlace {
  return {
    numbered: async (no) => (await list()).find((voice) => voice.no === no),
    named: async (name) => (await list()).find((voice) => sameName(voice, name)),
    list,
  };
}

/** The built-in voices, which are Flite. */
export function builtInPlace({ settings, context, wrap, workers }: PlaceOptions): VoicePlace {
  const source = ownSource({ kind: 'built-in', name: 'the built-in voice' }, settings, wrap, async () => {
    const { openBuiltIn } = await import('../engines/flite-thread.ts');
    return openBuiltIn(context.host.runtime, workers);
  });
  const voices = FLITE_VOICES.map((speaker) => ownVoice(speaker, source));
  return listedPlace(async () => voices);
}

export interface EspeakPlace extends VoicePlace {
  /** Returns the program, or why it does not work. Looks for it once. */
  find(): ReturnType<typeof findEspeak>;
  /** Returns the voices, and warns if there are none because the program does not work. */
  listOrWarn(): Promise<readonly Voice[]>;
}

export function espeakPlace({ settings, context, wrap, workers }: PlaceOptions): EspeakPlace {
  const find = loadOnce(async () => (await import('../engines/espeak.ts')).findEspeak(context));
  const voicesOf = (espeak: Espeak) => {
    const source = ownSource({ kind: 'espeak', name: 'espeak-ng' }, settings, wrap, async () => {
      const { openEspeak } = await import('../engines/espeak.ts');
      return openEspeak(espeak, workers);
    });
    return espeak.voices.map((voice) => ownVoice(voice, source));
  };
  let voices: readonly Voice[] | undefined;
  const list = async () => {
    const { espeak } = await find();
    voices ??= espeak ? voicesOf(espeak) : [];
    return voices;
  };
  const listOrWarn = async () => {
    const { fault } = await find();
    if (fault !== undefined)
      context.notices.warn(`the voices of espeak-ng are missing, for it does not work: ${fault}`);
    return list();
  };
  return { ...listedPlace(list), find, listOrWarn };
}

function ownSource(
  about: Pick<VoiceSource, 'kind' | 'name'>,
  { concurrency, timeout }: PlaceOptions['settings'],
  wrap: Wrap,
  engine: () => Promise<Engine>,
): VoiceSource {
  const { value: atOnce } = concurrency;
  const maxChars = Number.POSITIVE_INFINITY;
  return wrap(localSource({ ...about, maxChars, atOnce, timeoutMs: timeout.value * 1000, engine }));
}

/** A field that not every voice supports. */
interface FieldRow {
  /** The kind of speakers that support the field, as services name it. */
  readonly kind: string;
  /** True if a further voice of a text gets the value of the run even if it is unknown whether it supports the field. */
  readonly isForUnknown: boolean;
  /** In messages: `takes no sample rate`, and `accepts a sample rate`. */
  readonly what: string;
  readonly one: string;
  /** The hint if a voice of this machine does not support the field. */
  readonly hint: string;
}

export const FIELDS: Readonly<Record<Field, FieldRow>> = {
  sampleRate: {
    kind: 'neo.one',
    // Services have always taken a rate.
    isForUnknown: true,
    what: 'sample rate',
    one: 'a sample rate',
    hint: 'leave it out: only the voices that take instructions have no other rate',
  },
  instructions: {
    kind: 'Mermish',
    isForUnknown: false,
    what: 'instructions',
    one: 'instructions',
    hint: 'leave it out, or choose a voice that takes instructions: -s 11 to -s 15, or a service',
  },
};

export const FIELD_NAMES = Object.keys(FIELDS) as readonly Field[];

/** @returns the value of each field */
export function eachField(value: (field: Field) => unknown): Pick<Fields, Field> {
  return Object.fromEntries(FIELD_NAMES.map((field) => [field, value(field)])) as Pick<Fields, Field>;
}

/** @returns the fields that voices of a kind support; `undefined` if the kind is unknown */
export function supportedBy(kind: string | undefined): readonly Field[] | undefined {
  return kind === undefined
    ? undefined
    : FIELD_NAMES.filter((field) => FIELDS[field].kind.toLowerCase() === kind.toLowerCase());
}

function ownVoice({ no, name, language, alsoSpeaks, gender, kind }: EngineVoice, source: VoiceSource): Voice {
  const supports = supportedBy(kind);
  const about = { name, language, alsoSpeaks, gender, kind };
  return { source, no, ...about, sampleRate: OWN_RATE, supports, identity: 'built-in' };
}
