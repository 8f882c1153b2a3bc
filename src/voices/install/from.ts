/** `tts voices install --from`: voices from folders, files and URLs. */
import { createReadStream, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { FLITE_VOICES } from '../../engines/flite-voices.ts';
import {
  assertOwn,
  assertOwnFolder,
  configOf,
  type Model,
  modelIn,
  piperOf,
  speakersOf,
} from '../../engines/model-families.ts';
import { LONGEST_CONFIG } from '../../engines/model-metadata.ts';
import { ProcessKeeper } from '../../engines/model-process.ts';
import { percentDecoded } from '../../kit/address.ts';
import { checksumOf } from '../../kit/checksum.ts';
import { usageError } from '../../kit/error.ts';
import { fromHome } from '../../kit/folders.ts';
import type { Host } from '../../kit/host.ts';
import { isAddress } from '../../options/engine-entry.ts';
import { isArchive, withoutEnding } from './archive.ts';
import { type Built, cardIn, nextNumber, placePiper, type RawVoice, unpackedFolder } from './build.ts';
import { type OfferedVoice, offered, type PinnedFile } from './catalogue.ts';
import { ESPEAK_DATA, missingEspeak, nameInFolder } from './espeak.ts';
import { assertSafe, type DownloadRequest, failure } from './fetch.ts';
import { installOffered, licenceIn, partOf, taken } from './install.ts';
import { CARD, type Checked, installedVoices, type Manifest, readManifest, runtimesIn } from './manifest.ts';
import type { Session } from './session.ts';
import { copyInto, makeStage, openStore, partsFolder, publish } from './store.ts';

export interface LocalVoice {
  /** A folder, an `.onnx`, an archive, or an https URL of one of these two files. */
  readonly from: string;
  readonly name: string | undefined;
  /** The checksum of the file in `from`. */
  readonly sha256: string | undefined;
  /** The tag of what the voice speaks, if its files do not tell it. */
  readonly language: string | undefined;
}

/** Most bytes of a file that is downloaded from a URL of the user. */
const LARGEST_DOWNLOAD = 2 * 2 ** 30;

/**
 * Installs a voice from files of the user, or from a URL.
 * @returns `undefined` if it is installed already
 * @throws TtsError
 */
export async function installLocal(voice: LocalVoice, session: Session): Promise<Manifest | undefined> {
  const { host } = session.context;
  openStore(session.data, host.uid);
  const { place, origin, checked } = await fetchVoice(voice, session);
  const offer = offered(session.catalogue, voice.name ?? origin);
  if (offer) return await installCopied(offer, place, session);
  const name = nameFor(voice.name ?? origin, session);
  const stage = makeStage(session.data);
  const { language } = voice;
  const settings = settingsOf(place);
  const built = settings
    ? await buildRaw({ ...settings, name, stage, language }, session)
    : await buildModel({ folder: place, name, stage, language }, session);
  const card = cardIn(statSync(place).isDirectory() ? place : dirname(place));
  if (card !== undefined) copyInto(card, join(stage, CARD));
  const licence = licenceIn(card === undefined ? '' : readFileSync(card, 'utf8'));
  const about = {
    format: 1 as const,
    name,
    key: origin,
    number: nextNumber(installedVoices(session.data, host.uid), name),
    quality: 'own',
    ...licence,
    source: voice.from,
    checked,
    ...built,
  };
  const manifest = await publish(stage, about, session.data);
  session.removeUsed();
  return manifest;
}

/** @throws TtsError (usage) for a file or a folder that does not exist, and for an invalid URL */
export function assertThere(from: string, { cwd, home }: Pick<Host, 'cwd' | 'home'>): void {
  if (isAddress(from) && !URL.canParse(from))
    throw usageError('bad value for --from', 'write the URL as in https://example.com/voice.onnx');
  if (isAddress(from) || statSync(resolve(cwd, fromHome(from, home)), { throwIfNoEntry: false })) return;
  throw usageError(`there is no ${from}`, 'name a folder, an .onnx, an archive, or an https URL');
}

interface FetchedVoice {
  /** The path of the folder, or of the `.onnx`. */
  readonly place: string;
  /** The name of the folder or file, which the voice gets without `--name`. */
  readonly origin: string;
  readonly checked: Checked;
}

/** Downloads a URL and unpacks an archive. */
async function fetchVoice(
  { from, sha256, name: named }: LocalVoice,
  session: Session,
): Promise<FetchedVoice> {
  const { host } = session.context;
  const path = isAddress(from)
    ? await downloaded(new URL(from), sha256, session)
    : resolve(host.cwd, fromHome(from, host.home));
  const name = basename(path);
  if (statSync(path).isDirectory()) {
    if (sha256 !== undefined)
      throw usageError('--sha256 is the checksum of a file, and not of a folder', 'leave it out');
    return { place: path, origin: name, checked: 'not checked' };
  }
  assertKind(name);
  if (sha256 !== undefined && (await checksumOf(path)) !== sha256.toLowerCase())
    throw failure(`${name} does not have the checksum of --sha256`, 'download the file again');
  const checked = sha256 === undefined ? 'not checked' : 'sha256 given';
  if (name.endsWith('.onnx')) return { place: path, origin: name.replace(/\.onnx$/, ''), checked };
  // Do not unpack the archive of a voice of the catalogue: it is installed like a downloaded one.
  const offer = offered(session.catalogue, named ?? withoutEnding(name));
  if (offer?.files.some((file) => basename(file.path) === name))
    return { place: path, origin: withoutEnding(name), checked };
  const folder = await unpackedFolder(path, name, session);
  const isWrapped = dirname(folder) !== partsFolder(session.data);
  return { place: folder, origin: isWrapped ? basename(folder) : withoutEnding(name), checked };
}

/** @returns the path of the downloaded file; the settings of an `.onnx` are next to it */
async function downloaded(url: URL, sha256: string | undefined, session: Session): Promise<string> {
  assertSafe(url, '--from');
  // An encoded slash would lead out of the folder of the download.
  const name = basename(percentDecoded(basename(url.pathname)));
  assertKind(name);
  const path = join(makeStage(session.data), name);
  const fetch = async (address: URL, target: string, wanted: Pick<DownloadRequest, 'most' | 'sha256'>) => {
    const done = await session.download({ name: basename(target), url: address, ...wanted });
    session.markUsed(done.path);
    copyInto(done.path, target);
  };
  await fetch(url, path, {
    most: LARGEST_DOWNLOAD,
    ...(sha256 !== undefined && { sha256: sha256.toLowerCase() }),
  });
  if (name.endsWith('.onnx')) {
    const settings = new URL(url.href);
    settings.pathname += '.json';
    await fetch(settings, `${path}.json`, { most: LONGEST_CONFIG });
  }
  return path;
}

function assertKind(name: string): void {
  if (name.endsWith('.onnx') || isArchive(name)) return;
  throw usageError(
    `${name} is neither an .onnx nor an archive`,
    'name a folder, or a file that ends in .onnx, .tar.gz, .tar.bz2 or .tar',
  );
}

function nameFor(wanted: string, { data, catalogue, context: { host } }: Session): string {
  const name = wanted.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-');
  if (!/^[\p{L}][\p{L}\p{N}._-]{0,59}$/u.test(name))
    throw usageError(
      `${JSON.stringify(wanted)} cannot be the name of a voice`,
      'give it one of letters and digits with --name',
    );
  if (FLITE_VOICES.some((speaker) => speaker.name === name) || offered(catalogue, name))
    throw usageError(`${name} is the name of another voice`, 'choose a different one with --name');
  const old = readManifest(data, name, host.uid);
  if (old && old.quality !== 'own') throw taken(name, old);
  return name;
}

/**
 * Installs a voice of the catalogue from files that were copied to this machine.
 * @param place the folder, or the `.onnx` in it
 * @returns `undefined` if it is installed already
 * @throws TtsError (usage) for files that are not those of the catalogue
 */
async function installCopied(
  offer: OfferedVoice,
  place: string,
  session: Session,
): Promise<Manifest | undefined> {
  const { catalogue, data } = session;
  const folder = statSync(place).isDirectory() ? place : dirname(place);
  const isThere = async (file: PinnedFile, name: string) => isPinned(join(folder, name), file);
  // Copy instead of linking: the files of the user must not change with those of the voice.
  const copy = (file: PinnedFile, name: string, from: string) =>
    copyInto(join(folder, name), partOf(file, { from }, session));
  for (const file of offer.files) {
    const names = [basename(file.path), ...(file.as === undefined ? [] : [file.as])];
    const [name = ''] = names;
    const there = await Promise.all(names.map((each) => isThere(file, each)));
    if (!there.includes(true))
      throw usageError(
        `${offer.name} is a voice of the catalogue, and ${name} in ${folder} is not its file`,
        'copy all files of that voice, or give your own a different name with --name',
      );
    copy(file, names[there.indexOf(true)] ?? name, offer.from);
  }
  const shared = missingEspeak(catalogue, offer.espeak, data);
  const nameOf = (file: PinnedFile) => join(ESPEAK_DATA, nameInFolder(file));
  const found = await Promise.all(shared.map((file) => isThere(file, nameOf(file))));
  const isWhole = !found.includes(false);
  if (isWhole) for (const file of shared) copy(file, nameOf(file), 'espeak');
  return installOffered(offer, session, isWhole ? undefined : join(folder, ESPEAK_DATA));
}

async function isPinned(path: string, { size, sha256 }: PinnedFile): Promise<boolean> {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === size && (await checksumOf(path)) === sha256;
}

/** Returns the files of a raw voice of Piper: a model with its settings, but without tokens. */
function settingsOf(
  place: string,
): { readonly onnx: string; readonly settings: string; readonly folder: string } | undefined {
  if (!statSync(place).isDirectory()) {
    const settings = `${place}.json`;
    if (!existsSync(settings))
      throw usageError(
        `${basename(settings)} is missing next to ${basename(place)}`,
        'a voice of Piper has both files: copy it as well',
      );
    // Take the real folder: in the cache of a hub, both files are links.
    return { onnx: place, settings, folder: dirname(realpathSync(place)) };
  }
  const names = readdirSync(place);
  const onnx = names.filter((name) => name.endsWith('.onnx'));
  if (names.includes('tokens.txt') || onnx.length !== 1) return undefined;
  const settings = `${onnx[0]}.json`;
  return names.includes(settings)
    ? { onnx: join(place, onnx[0] ?? ''), settings: join(place, settings), folder: place }
    : undefined;
}

interface Raw extends Pick<RawVoice, 'onnx' | 'settings' | 'name' | 'stage' | 'language'> {
  /** The folder that no link may lead out of. */
  readonly folder: string;
}

/**
 * Builds a raw voice of Piper.
 * @throws TtsError
 */
async function buildRaw({ folder, ...raw }: Raw, session: Session): Promise<Built> {
  const { onnx, settings, name, stage } = raw;
  const own = join(dirname(onnx), ESPEAK_DATA);
  inWords(() => {
    for (const file of [onnx, settings]) assertOwn(file, folder, false);
    if (existsSync(own)) assertOwnFolder(own, folder);
  });
  if (statSync(settings).size > LONGEST_CONFIG)
    throw usageError(`${basename(settings)} is too long for the settings of a voice`, 'name the right file');
  const built = await placePiper({ ...raw, own }, session);
  const data = built.espeak && join(session.data, built.espeak.folder);
  await loaded(modelIn(stage, name, data), name, session);
  return built;
}

interface Folder {
  readonly folder: string;
  readonly name: string;
  readonly stage: string;
  readonly language: string | undefined;
}

/** Builds a model of sherpa-onnx. Copies only files that belong to its family. */
async function buildModel({ folder, name, stage, language }: Folder, session: Session): Promise<Built> {
  const model = modelOf(folder, name);
  const { dataDir, ...files } = model.files;
  for (const file of [...Object.values(files).flatMap((all) => all.split(',')), ...model.references])
    copyInto(file, join(stage, file.slice(folder.length + 1)));
  if (dataDir !== undefined)
    for (const file of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
      if (statSync(join(dataDir, file)).isFile())
        copyInto(join(dataDir, file), join(stage, ESPEAK_DATA, file));
  const own = modelOf(stage, name);
  const { sampleRate, voices } = await loaded(own, name, session);
  const speakers = speakersOf(own, { name, count: voices, language });
  const scales = piperOf(own)?.scales;
  return {
    language: speakers[0]?.language ?? 'und',
    sampleRate,
    voices,
    speakers,
    ...(scales && { scales }),
  };
}

function modelOf(folder: string, name: string): Model {
  return inWords(() => modelIn(folder, name));
}

function inWords<T>(look: () => T): T {
  try {
    return look();
  } catch (cause) {
    throw usageError(
      (cause as Error).message,
      'name the folder of a model of sherpa-onnx, or of a voice of Piper',
      cause,
    );
  }
}

/** Loads an untrusted model in a process of its own, before it counts as installed. */
async function loaded(model: Model, name: string, { data, context: { host } }: Session) {
  for (const file of Object.values(model.files)) if (file.endsWith('.onnx')) await assertSelfContained(file);
  const accent = model.family === 'kokoro' ? 'us' : undefined;
  const keeper = new ProcessKeeper({
    name,
    env: host.env,
    execPath: host.execPath,
    cwd: data,
    runtimes: runtimesIn(data, host.uid),
    config: configOf(model, { cwd: data, scales: undefined, accent }),
  });
  try {
    return await keeper.open();
  } catch (cause) {
    throw failure(
      (cause as Error).message,
      'the files of the voice are damaged, or are not those of a voice',
    );
  } finally {
    await keeper.close();
  }
}

/**
 * The key `location` of an entry of `external_data`, as an ONNX file encodes it: after its length, whose last byte is 0 if it
 * takes more bytes than it must. Its value may come before it.
 */
const LOCATIONS = ['\x08location', '\x00location'].map((key) => Buffer.from(key, 'latin1'));
const LOCATION_BYTES = 9;

/**
 * Refuses a model that names other files with its weights: an untrusted one could name any file of this machine.
 * @throws TtsError (usage)
 */
export async function assertSelfContained(model: string): Promise<void> {
  let held = Buffer.alloc(0);
  for await (const piece of createReadStream(model, { highWaterMark: 1 << 20 })) {
    const bytes = Buffer.concat([held, piece as Buffer]);
    if (LOCATIONS.some((key) => bytes.includes(key)))
      throw usageError(
        `${basename(model)} is refused: it names other files that hold a part of it`,
        'use a model in one file',
      );
    held = bytes.subarray(Math.max(0, bytes.length - LOCATION_BYTES + 1));
  }
}
