import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { usageError } from '../error.ts';
import {
  bytesOf,
  isFree,
  type OfferedVoice,
  type PinnedFile,
  type Repository,
} from '../installed/catalogue.ts';
import { type Manifest, readManifest } from '../installed/manifest.ts';
import { buildFolder, buildPiper } from './build.ts';
import { addressIn } from './fetch/hub.ts';
import { type Downloaded, partName } from './fetch/part.ts';
import { licenceIn } from './offer.ts';
import type { Session } from './session.ts';
import { inMegabytes, partsFolder } from './store.ts';

/** Bytes. */
const LONGEST_SMALL_FILE = 1024 * 1024;

/**
 * Downloads and installs one voice.
 * @param own a folder that may have data of espeak-ng, for a machine without a network
 * @returns `undefined` if it is there already
 * @throws TtsError
 */
export async function installOffered(
  voice: OfferedVoice,
  session: Session,
  own?: string,
): Promise<Manifest | undefined> {
  const { data, context } = session;
  const old = readManifest(data, voice.name, context.host.uid);
  if (old && old.key !== voice.key) throw taken(voice.name, old);
  const repository = repositoryOf(voice.from, session);
  if (old && !session.options.force && isSame(old, voice)) {
    // A run that was killed at its end left them.
    for (const file of voice.files) session.spend(partOf(file, repository, session));
    session.settle();
    return undefined;
  }
  if (voice.class !== 'unknown' && !isFree(voice)) session.assertAccepted(voice.name, voice.licence, '');
  context.notices.note(introduction(voice, repository));
  const got = new Map<string, Downloaded>();
  const fetch = async (file: PinnedFile) => {
    const done = await session.download({
      ...file,
      name: basename(file.path),
      url: addressIn(session.hub, repository, file),
      most: file.size,
      ...(extname(file.path) === '.onnx' && { begins: Uint8Array.of(8) }),
    });
    got.set(file.path, done);
    session.spend(done.path);
    return done;
  };
  const small = voice.files.filter(
    ({ size, path }) => size <= LONGEST_SMALL_FILE && extname(path) !== '.onnx',
  );
  for (const file of small) await fetch(file);
  const licensed = withLicence(voice, got, session);
  for (const file of voice.files) if (!got.has(file.path)) await fetch(file);
  const manifest =
    voice.from === 'piper'
      ? await buildPiper(licensed, got, { repository, own }, session)
      : await buildFolder(licensed, got, repository, session);
  session.settle();
  return manifest;
}

/** A voice that nobody has looked at has the licence of its card. */
function withLicence(
  voice: OfferedVoice,
  got: ReadonlyMap<string, Downloaded>,
  session: Session,
): OfferedVoice {
  const [, card] = [...got].find(([path]) => /^(MODEL_CARD|LICENSE)$/.test(basename(path))) ?? [];
  const text = card ? readFileSync(card.path, 'utf8') : '';
  const licensed = voice.sources > 0 ? voice : { ...voice, ...licenceIn(text) };
  if (!isFree(licensed)) session.assertAccepted(voice.name, licensed.licence, text);
  return licensed;
}

export function repositoryOf(name: string, { catalogue }: Session): Repository {
  const repository = catalogue.repositories[name];
  if (!repository) throw usageError(`the catalogue has no repository ${name}`, 'correct the catalogue');
  return repository;
}

function introduction(
  { name, language, sampleRate, licence, files }: OfferedVoice,
  { repo }: Repository,
): string {
  return `${name}: ${language}, ${sampleRate / 1000} kHz, ${licence}; ${inMegabytes(bytesOf(files))} of ${repo}`;
}

export function partOf(file: PinnedFile, repository: Repository, { data, hub }: Session): string {
  return join(partsFolder(data), partName({ ...file, url: addressIn(hub, repository, file) }));
}

function isSame({ files }: Manifest, { files: wanted }: OfferedVoice): boolean {
  return wanted.every((file) => {
    if (file.sha256 === undefined) return true;
    return files.some(({ sha256, original }) => (original?.sha256 ?? sha256) === file.sha256);
  });
}

export function taken(name: string, { key }: Pick<Manifest, 'key'>) {
  return usageError(
    `a voice ${name} is installed already, and it is another one (${key})`,
    `remove it (tts voices remove ${name}), or give the new one a name with --name`,
  );
}
