import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { percentDecoded } from '../address.ts';
import { FLITE_SPEAKERS } from '../engine/flite/voices.ts';
import { LONGEST_CONFIG } from '../engine/model/piper-config.ts';
import { usageError } from '../error.ts';
import { fromHome } from '../files/paths.ts';
import type { Host } from '../host.ts';
import { offered } from '../installed/catalogue.ts';
import { CARD, type Checked, installedVoices, type Manifest, readManifest } from '../installed/manifest.ts';
import { isArchive, unpack } from './archive.ts';
import { nextNumber } from './build.ts';
import { failure } from './fetch/answer.ts';
import { assertSafe } from './fetch/hub.ts';
import { hashOf } from './fetch/part.ts';
import { taken } from './install.ts';
import { buildModel, buildRaw } from './local-build.ts';
import { installCopied } from './local-offer.ts';
import { licenceIn } from './offer.ts';
import type { Session } from './session.ts';
import { copyInto, filesOf, makeStage, publish } from './store.ts';

export interface LocalVoice {
  /** A folder, an `.onnx`, an archive, or an https URL of one of these two files. */
  readonly from: string;
  readonly name: string | undefined;
  /** The checksum of the file that is named. */
  readonly sha256: string | undefined;
  readonly language: string | undefined;
}

/** Bytes. */
const LARGEST_DOWNLOAD = 2 * 2 ** 30;

/**
 * Installs a voice that the user has, or names by a URL.
 * @returns `undefined` if it is there already
 * @throws TtsError
 */
export async function installLocal(voice: LocalVoice, session: Session): Promise<Manifest | undefined> {
  const { host } = session.context;
  const { place, origin, checked } = await bring(voice, session);
  const offer = offered(session.catalogue, voice.name ?? origin);
  if (offer) return await installCopied(offer, place, session);
  const name = nameFor(voice.name ?? origin, session);
  const stage = makeStage(session.data);
  const settings = settingsOf(place);
  const built = settings
    ? await buildRaw({ ...settings, name, stage }, session)
    : await buildModel({ folder: place, name, stage, language: voice.language }, session);
  const card = cardIn(statSync(place).isDirectory() ? place : dirname(place));
  if (card !== undefined) copyInto(card, join(stage, CARD));
  const licence = licenceIn(card === undefined ? '' : readFileSync(card, 'utf8'));
  const manifest: Manifest = {
    format: 1,
    name,
    key: origin,
    number: nextNumber(installedVoices(session.data, host.uid), name),
    quality: 'own',
    ...licence,
    source: voice.from,
    checked,
    ...built,
    ...(voice.language !== undefined && { language: voice.language }),
    files: await filesOf(stage),
  };
  await publish(stage, manifest, session.data);
  session.settle();
  return manifest;
}

interface Brought {
  /** The folder, or the `.onnx`. */
  readonly place: string;
  /** A name for the voice. */
  readonly origin: string;
  readonly checked: Checked;
}

/** @throws TtsError (usage) for a file or a folder that is not there, and for an address that cannot be one */
export function assertThere(from: string, { cwd, home }: Pick<Host, 'cwd' | 'home'>): void {
  if (isAddress(from) && !URL.canParse(from))
    throw usageError('bad value for --from', 'write the URL as in https://example.com/voice.onnx');
  if (isAddress(from) || statSync(resolve(cwd, fromHome(from, home)), { throwIfNoEntry: false })) return;
  throw usageError(`there is no ${from}`, 'name a folder, an .onnx, an archive, or an https URL');
}

function isAddress(from: string): boolean {
  return /^https?:\/\//i.test(from);
}

/** Gets what is named to this machine, and unpacks it. */
async function bring({ from, sha256 }: LocalVoice, session: Session): Promise<Brought> {
  const { cwd, home } = session.context.host;
  if (isAddress(from)) return await bringFrom(new URL(from), sha256, session);
  const path = resolve(cwd, fromHome(from, home));
  if (statSync(path).isDirectory()) {
    if (sha256 !== undefined)
      throw usageError('--sha256 is the checksum of a file, and not of a folder', 'leave it out');
    return { place: path, origin: basename(path), checked: 'not checked' };
  }
  const checked = await checkedFile(path, from, sha256);
  return await opened(path, basename(path), checked, session);
}

async function checkedFile(path: string, name: string, sha256: string | undefined): Promise<Checked> {
  if (sha256 === undefined) return 'not checked';
  if ((await hashOf(path)).digest('hex') === sha256.toLowerCase()) return 'sha256 given';
  throw failure(`${name} has another checksum than the one of --sha256`, 'get the file again');
}

async function bringFrom(url: URL, sha256: string | undefined, session: Session): Promise<Brought> {
  assertSafe(url, '--from');
  // An encoded slash would lead out of the folder of the download.
  const name = basename(percentDecoded(basename(url.pathname)));
  if (!isArchive(name) && !name.endsWith('.onnx'))
    throw usageError(
      `${name} is neither an .onnx nor an archive`,
      'name a file that ends in .onnx, .tar.gz or .tar.bz2',
    );
  const fetch = async (what: string, address: URL, most: number) => {
    const pinned = what === name && sha256 !== undefined ? { sha256: sha256.toLowerCase() } : {};
    const done = await session.download({ name: what, url: address, most, ...pinned });
    session.spend(done.path);
    return done;
  };
  const main = await fetch(name, url, LARGEST_DOWNLOAD);
  const folder = makeStage(session.data);
  const place = join(folder, name);
  copyInto(main.path, place);
  if (name.endsWith('.onnx')) {
    const settings = new URL(url.href);
    settings.pathname += '.json';
    copyInto((await fetch(`${name}.json`, settings, LONGEST_CONFIG)).path, `${place}.json`);
  }
  return await opened(place, name, sha256 === undefined ? 'not checked' : 'sha256 given', session);
}

async function opened(path: string, name: string, checked: Checked, session: Session): Promise<Brought> {
  if (name.endsWith('.onnx')) return { place: path, origin: name.replace(/\.onnx$/, ''), checked };
  if (!isArchive(name))
    throw usageError(
      `${name} is neither an .onnx nor an archive`,
      'name a folder, an .onnx, a .tar.gz or a .tar.bz2',
    );
  const folder = makeStage(session.data);
  await unpack(path, folder, session.context.signal);
  const [only = '', ...others] = readdirSync(folder);
  const isWrapped = others.length === 0 && statSync(join(folder, only)).isDirectory();
  return {
    place: isWrapped ? join(folder, only) : folder,
    origin: isWrapped ? only : name.replace(/\.(tar(\.\w+)?|tgz|tbz2?)$/i, ''),
    checked,
  };
}

/** A raw voice of Piper: a model with its settings, and without tokens. */
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
    // The cache of a hub has links to both files.
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

function nameFor(wanted: string, { data, catalogue, context: { host } }: Session): string {
  const name = wanted.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-');
  if (!/^[\p{L}][\p{L}\p{N}._-]{0,59}$/u.test(name))
    throw usageError(
      `${JSON.stringify(wanted)} cannot be the name of a voice`,
      'give it one of letters and digits with --name',
    );
  if (FLITE_SPEAKERS.some((speaker) => speaker.name === name) || offered(catalogue, name))
    throw usageError(`${name} is the name of another voice`, 'give it another one with --name');
  const old = readManifest(data, name, host.uid);
  if (old && old.quality !== 'own') throw taken(name, old);
  return name;
}

/** A link to one is left out: it may lead anywhere. */
function cardIn(folder: string): string | undefined {
  const name = readdirSync(folder).find((each) =>
    /^(model_card|licen[cs]e|readme)(\.md|\.txt)?$/i.test(each),
  );
  const path = name && join(folder, name);
  const stats = path === undefined ? undefined : lstatSync(path);
  return stats?.isFile() && stats.size <= LONGEST_CONFIG ? path : undefined;
}
