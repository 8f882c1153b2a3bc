import { readFileSync, rmSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import * as v from 'valibot';
import { usageError } from '../../kit/error.ts';
import { check, openObject, text, type ValueOf, whole } from '../../kit/schema.ts';
import { nearestName } from '../../kit/words.ts';
import { buildFolder, buildPiper } from './build.ts';
import {
  type Catalogue,
  downloadSize,
  isFree,
  type OfferedVoice,
  offered,
  type PinnedFile,
  repositoryOf,
} from './catalogue.ts';
import { pinnedLanguage } from './espeak.ts';
import { ANOTHER_WAY, addressIn, type Downloaded, failure, partName } from './fetch.ts';
import { installedVoices, type Manifest, readManifest } from './manifest.ts';
import type { Session } from './session.ts';
import { inMegabytes, partsFolder } from './store.ts';

/** Most bytes of the list of Piper's voices, which has a quarter of that. */
const LONGEST_LIST = 4 * 1024 * 1024;

/** An entry in the list of Piper's voices. */
const LISTED = openObject({
  // The name becomes that of a folder.
  name: v.pipe(v.string(), v.regex(/^[\p{L}\p{N}_-]{1,60}$/u)),
  quality: text(),
  num_speakers: whole({ min: 1, max: 10_000 }),
  files: v.pipe(
    v.record(
      v.pipe(v.string(), v.regex(/^[\p{L}\p{N}_./-]+$/u), v.excludes('..')),
      openObject({ size_bytes: whole({ min: 1, max: 2 ** 32 }), md5_digest: text(/^[0-9a-f]{32}$/) }),
    ),
    v.minEntries(2),
  ),
});
type ListedVoice = ValueOf<typeof LISTED>;

function isPiperKey(name: string): boolean {
  return /^[a-z]{2,3}_[A-Z]{2}-[\p{L}\p{N}_]+-(x_low|low|medium|high)$/u.test(name);
}

/** @throws TtsError (usage) for a name that no voice can have */
export function assertKnown(name: string, catalogue: Catalogue): void {
  if (!offered(catalogue, name) && !isPiperKey(name)) throw unknown(name, catalogue);
}

/**
 * Finds a voice in the catalogue, or among all voices of Piper at the commit of the catalogue.
 * @throws TtsError (usage) for an unknown voice
 */
export async function findOffer(name: string, session: Session): Promise<OfferedVoice> {
  const { catalogue } = session;
  const known = offered(catalogue, name);
  if (known) return known;
  const repository = catalogue.repositories.piper;
  if (!repository) throw unknown(name, catalogue);
  const list = await session.download({
    name: 'voices.json',
    url: addressIn(session.hub, repository, { path: 'voices.json' }),
    most: LONGEST_LIST,
  });
  const json = readFileSync(list.path, 'utf8');
  rmSync(list.path);
  const voice = listedIn(json, name);
  if (!voice) throw unknown(name, catalogue);
  return offerOf(name, voice, session);
}

function unknown(name: string, { voices }: Catalogue) {
  const names = voices.flatMap((voice) => [voice.name, voice.key]);
  const nearest = nearestName(name, names);
  return usageError(
    `no voice is called ${JSON.stringify(name)}`,
    `${nearest ? `did you mean ${nearest}? ` : ''}tts voices lists them; a key of Piper such as en_US-joe-medium works as well`,
  );
}

/** @throws TtsError (service) for a list of the wrong form */
function listedIn(json: string, key: string): ListedVoice | undefined {
  let list: Readonly<Record<string, unknown>>;
  try {
    list = JSON.parse(json);
  } catch {
    throw failure("the hub's list of voices is not JSON", ANOTHER_WAY);
  }
  if (!Object.hasOwn(list, key)) return undefined;
  const read = check(LISTED, list[key]);
  if ('value' in read) return read.value;
  throw failure(`the hub's list of voices has an invalid entry for ${key}`, ANOTHER_WAY);
}

function offerOf(key: string, voice: ListedVoice, { catalogue, data, context }: Session): OfferedVoice {
  const files = Object.entries(voice.files).map(
    ([path, { size_bytes, md5_digest }]): PinnedFile => ({ path, size: size_bytes, md5: md5_digest }),
  );
  const short = voice.name.toLowerCase();
  const others = installedVoices(data, context.host.uid).filter((each) => each.key !== key);
  const isTaken = [...catalogue.voices, ...others].some(({ name }) => name === short);
  const [language = 'und'] = key.split('-');
  const espeak = pinnedLanguage(catalogue, language.split('_')[0] ?? '');
  return {
    name: isTaken ? key : short,
    key,
    number: 0,
    from: 'piper',
    language: language.replace('_', '-'),
    quality: voice.quality,
    sampleRate: /low$/.test(key) ? 16_000 : 22_050,
    speakers: voice.num_speakers,
    licence: 'see its card',
    class: 'unknown',
    trained: 'see card',
    sources: 0,
    espeak: espeak === undefined ? [] : [espeak],
    files,
  };
}

const FREE = /public domain|\bcc0\b|creative commons zero|\bunlicense\b/i;
const WITH_NAME = /\bcc[ -]?by(?:[ -]?sa)?\b|\bapache\b|\bmit\b|\bbsd\b/i;
const NOT_FOR_ALL =
  /\bn[cd](?![a-z])|\bno[nt]?\W?(?:for\W)?commercial|\bno\W?deriv|research|see url|unknown|personal/i;

/** Returns the licence that a card names. It was not reviewed, so an unclear one does not count as free. */
export function licenceIn(card: string): Pick<OfferedVoice, 'licence' | 'class'> {
  const [, licence = ''] = /licen[cs]e\**\s*:\s*(.+)/i.exec(card) ?? [];
  const said = licence.trim().slice(0, 100);
  if (said === '') return { licence: 'not said by its card', class: 'unknown' };
  if (NOT_FOR_ALL.test(said)) return { licence: said, class: 'non-commercial or unknown' };
  if (FREE.test(said)) return { licence: said, class: 'free' };
  return { licence: said, class: WITH_NAME.test(said) ? 'attribution' : 'unknown' };
}

/** Bytes of files that are downloaded first, to show the licence before the model is downloaded. */
const LONGEST_SMALL_FILE = 1024 * 1024;

/**
 * Downloads and installs one voice.
 * @param own a folder that may have data of espeak-ng, for a machine without a network
 * @returns `undefined` if the voice is installed already
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
  if (old && !session.options.force && isSame(old, voice)) {
    // Remove the parts that a run leaves when it is killed at its end.
    for (const file of voice.files) session.markUsed(partOf(file, voice, session));
    session.removeUsed();
    return undefined;
  }
  const got = new Map<string, Downloaded>();
  const fetch = async (file: PinnedFile) => {
    const { size, isAbout, ...pinned } = file;
    const done = await session.download({
      ...pinned,
      ...(!isAbout && { size }),
      name: basename(file.path),
      url: addressIn(session.hub, repositoryOf(file.from ?? voice.from, session), file),
      most: isAbout ? 2 * size : size,
    });
    got.set(file.path, done);
    session.markUsed(done.path);
    return done;
  };
  const small = voice.files.filter(
    ({ size, path }) => size <= LONGEST_SMALL_FILE && !['.onnx', '.wav'].includes(extname(path)),
  );
  for (const file of small) await fetch(file);
  const licensed = withLicence(voice, got, session);
  context.notices.note(introduction(voice, session));
  for (const file of voice.files) if (!got.has(file.path)) await fetch(file);
  const manifest =
    voice.from === 'piper'
      ? await buildPiper(licensed, got, own, session)
      : await buildFolder(licensed, got, session);
  session.removeUsed();
  return manifest;
}

/** Gives a voice outside the catalogue the licence of its card, and asserts that one with limits is accepted. */
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

function introduction(
  { name, language, languages = [], sampleRate, licence, files, from }: OfferedVoice,
  session: Session,
): string {
  const repository = repositoryOf(from, session);
  const place = 'releases' in repository ? new URL(repository.releases).host : repository.repo;
  const spoken = languages.length > 1 ? `${languages.length} languages` : language;
  return `${name}: ${spoken}, ${sampleRate / 1000} kHz, ${licence}; ${inMegabytes(downloadSize(files))} of ${place}`;
}

export function partOf(file: PinnedFile, { from }: Pick<OfferedVoice, 'from'>, session: Session): string {
  const url = addressIn(session.hub, repositoryOf(file.from ?? from, session), file);
  return join(partsFolder(session.data), partName({ ...file, url }));
}

function isSame({ files, archives = [] }: Manifest, { files: wanted }: OfferedVoice): boolean {
  return wanted.every((file) => {
    if (file.sha256 === undefined || archives.includes(file.sha256)) return true;
    return files.some(({ sha256, original }) => (original?.sha256 ?? sha256) === file.sha256);
  });
}

export function taken(name: string, { key }: Pick<Manifest, 'key'>) {
  return usageError(
    `a different voice with the name ${name} is installed already (${key})`,
    `remove it (tts voices remove ${name}), or give the new one a name with --name`,
  );
}
