import { hash } from 'node:crypto';
import { join } from 'node:path';
import {
  EngineError,
  type ModelSpeaker,
  type NumberedSource,
  type SourceVoice,
  shortName,
} from '../engines/engine.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { dataFolder } from '../kit/folders.ts';
import type { RunContext } from '../kit/host.ts';
import type { Settings } from '../options/load.ts';
import {
  CARD,
  installAgain,
  installedVoices,
  type Manifest,
  runtimesIn,
  voicesFolder,
} from './install/manifest.ts';
import type { FoundSpeaking, FoundVoice } from './sources.ts';

const MAX_CHARS = 300;

/** A run opens each installed voice once. */
const opened = new WeakMap<RunContext, Map<string, Promise<NumberedSource>>>();

/**
 * Finds the installed voice that a speaker means: by number, by its name, or by the name of one of its speakers.
 * @throws TtsError if its folder has been damaged
 */
export async function findInstalled(
  { speaker, speakers }: Settings,
  context: RunContext,
): Promise<FoundVoice | undefined> {
  if (speaker === undefined) return undefined;
  const { value } = speaker;
  const configured = typeof value === 'string' ? speakers?.value.get(value) : undefined;
  const asked = configured ? configured.no : value;
  const found = asked === undefined ? undefined : meant(asked, manifestsOf(context));
  return found && openMeant(found, context);
}

/** All installed speakers by their languages. */
export function installedSpeaking(context: RunContext): FoundSpeaking[] {
  return allMeant(manifestsOf(context)).map((each) => ({
    language: each.speaker.language,
    find: () => openMeant(each, context),
  }));
}

async function openMeant({ manifest, sid }: Meant, context: RunContext): Promise<FoundVoice | undefined> {
  const numbered = await open(manifest, context);
  const no = manifest.number + sid;
  const voice = numbered.voices.get(no);
  return voice && { numbered, voice, no };
}

/** Opens all installed voices. One that cannot be opened is a warning. */
export async function openInstalled(context: RunContext): Promise<NumberedSource[]> {
  const opening = manifestsOf(context).map((manifest) =>
    open(manifest, context).catch((error: unknown) => {
      context.notices.warn((error as Error).message);
      return [];
    }),
  );
  return (await Promise.all(opening)).flat();
}

export function manifestsOf({ host }: Pick<RunContext, 'host'>): Manifest[] {
  return installedVoices(dataFolder(host), host.uid);
}

interface Meant {
  readonly manifest: Manifest;
  readonly sid: number;
}

function allMeant(manifests: readonly Manifest[]) {
  return manifests.flatMap((manifest) =>
    manifest.speakers.map((speaker) => ({ manifest, speaker, sid: speaker.sid })),
  );
}

function meant(asked: string | number, manifests: readonly Manifest[]): Meant | undefined {
  const all = allMeant(manifests);
  if (typeof asked === 'number') return all.find(({ manifest, sid }) => manifest.number + sid === asked);
  const name = asked.toLowerCase();
  return (
    all.find(({ manifest }) => manifest.name.toLowerCase() === name || manifest.key.toLowerCase() === name) ??
    all.find(({ manifest, speaker }) => namesOf(manifest, speaker).includes(name)) ??
    all.find(({ speaker }) => shortName(speaker.name) === name)
  );
}

/** Names in small letters. `kokoro:af_heart` is written as for a voice of an engine. */
function namesOf({ name: voice }: Manifest, { name }: ModelSpeaker): string[] {
  return [name, `${voice}:${name}`].map((each) => each.toLowerCase());
}

function open(manifest: Manifest, context: RunContext): Promise<NumberedSource> {
  const all = opened.get(context) ?? new Map<string, Promise<NumberedSource>>();
  opened.set(context, all);
  const source = all.get(manifest.name) ?? openOne(manifest, context);
  all.set(manifest.name, source);
  return source;
}

async function openOne(manifest: Manifest, { host, signal }: RunContext): Promise<NumberedSource> {
  const { openSource } = await import('../engines/external.ts');
  const data = dataFolder(host) ?? '';
  const { name, number, sampleRate, voices, scales, espeak } = manifest;
  const folder = join(voicesFolder(data), name);
  const speakers = manifest.speakers.map(({ reference, ...speaker }) => ({
    ...speaker,
    ...(reference !== undefined && { reference: join(folder, reference) }),
  }));
  const advice = adviceOn(manifest);
  const model = await openSource(
    {
      kind: 'model',
      name,
      folder,
      maxChars: MAX_CHARS,
      concurrency: 1,
      installed: {
        identity: identityOf(manifest),
        sampleRate,
        voices,
        speakers,
        scales,
        base: data,
        espeakData: espeak && join(data, espeak.folder),
      },
    },
    { host, signal, timeoutMs: 0, runtimes: runtimesIn(data, host.uid) },
  ).catch((error: unknown) => {
    if (!(error instanceof EngineError)) throw error;
    throw new TtsError(error.message, { exitCode: ExitCode.service, hint: advice, cause: error });
  });
  const source = { ...model, advice };
  const numbered = source.voices.map(
    (voice: SourceVoice, at) => [number + (speakers[at]?.sid ?? at), voice] as const,
  );
  return { source, voices: new Map(numbered) };
}

function adviceOn(manifest: Manifest): string {
  return `tts voices verify ${manifest.name} tells what is damaged; this brings the voice and its runtime again: ${installAgain(manifest)}`;
}

/** The checksum of all that shapes the sound: the same on two machines, so that a copied cache serves both. */
function identityOf({ files, espeak, scales, sampleRate }: Manifest): string {
  const sums = [...files, ...(espeak?.files ?? [])]
    .filter(({ name }) => name !== CARD && !name.endsWith('.json'))
    .map(({ name, sha256 }) => `${name} ${sha256}`)
    .sort();
  return `installed ${hash('sha256', JSON.stringify([sums, scales ?? null, sampleRate]))}`;
}
