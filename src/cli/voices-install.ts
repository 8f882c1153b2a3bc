/** `tts voices install`, `remove` and `verify`. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { isOwnFolder } from '../kit/guard.ts';
import type { RunContext } from '../kit/host.ts';
import { duration, nearestName, visible } from '../kit/words.ts';
import { chooseProxy, type Settings } from '../options/load.ts';
import { isArchive } from '../voices/install/archive.ts';
import {
  downloadSize,
  loadCatalogue,
  type OfferedVoice,
  type PinnedFile,
  repositoryOf,
} from '../voices/install/catalogue.ts';
import { espeakFolder, missingEspeak } from '../voices/install/espeak.ts';
import { addressIn, hubOf } from '../voices/install/fetch.ts';
import { assertThere, installLocal } from '../voices/install/from.ts';
import { assertKnown, findOffer, installOffered } from '../voices/install/install.ts';
import {
  installAgain,
  installedVoices,
  type Manifest,
  readManifest,
  voicesFolder,
} from '../voices/install/manifest.ts';
import { findRuntime, installRuntime, RUNTIME, RUNTIME_BYTES } from '../voices/install/runtime.ts';
import { Session } from '../voices/install/session.ts';
import {
  assertRoom,
  inMegabytes,
  openStore,
  partsFolder,
  removeStages,
  removeVoice,
  withVoicesLock,
  wrongFiles,
} from '../voices/install/store.ts';
import { languageTag } from '../voices/language.ts';
import { notALanguage } from '../voices/unknown.ts';
import type { Context } from './commands.ts';
import { showWhile } from './progress.ts';
import type { VoicesLine } from './voices.ts';

/** @throws TtsError */
export async function installVoices(line: VoicesLine, context: Context): Promise<number> {
  const { host } = context;
  assertTogether(line);
  const count = new DownloadProgress();
  const options = sessionOptions(line, context);
  await using session = new Session({ ...options, onProgress: count.note }, context);
  if (line.settings.dryRun.value) return await showPlan(line, session, context);
  for (const name of line.names) assertKnown(name, session.catalogue);
  openStore(line.data, host.uid);
  using _line = showWhile((columns) => count.render(columns), context, { mayNote: false });
  const done = await withVoicesLock(line.data, context, async () => {
    removeStages(line.data);
    try {
      const { from } = line.settings;
      return await (from ? installFrom(from.value, line, session) : installNamed(line, session));
    } finally {
      removeStages(line.data);
    }
  });
  report(done, line.data, context);
  return ExitCode.ok;
}

/** Prints what an installation would download, and where to. */
async function showPlan(
  { settings, names, data }: VoicesLine,
  session: Session,
  context: Context,
): Promise<number> {
  if (settings.from)
    throw usageError(
      '--dry-run shows what is downloaded, and --from downloads nothing of the catalogue',
      'leave one of them out',
    );
  const { catalogue, hub } = session;
  const runtime = await findRuntime({ data }, context);
  const voices = [];
  for (const name of names) {
    const offer = await findOffer(name, session);
    const espeak = missingEspeak(catalogue, offer.espeak, data);
    const located = (from: string) => (file: PinnedFile) => ({
      ...file,
      url: addressIn(hub, repositoryOf(file.from ?? from, session), file).href,
    });
    voices.push({
      name: offer.name,
      key: offer.key,
      licence: offer.licence,
      class: offer.class,
      bytes: downloadSize([...offer.files, ...espeak]),
      folder: join(voicesFolder(data), offer.name),
      files: [...offer.files.map(located(offer.from)), ...espeak.map(located('espeak'))],
    });
  }
  const needed = runtime ? undefined : { name: RUNTIME, ...RUNTIME_BYTES, folder: join(data, 'runtime') };
  const { notices } = context;
  if (notices.json) notices.result({ voices, runtime: needed ?? runtime });
  else {
    const lines = voices.map(
      ({ name, licence, bytes, folder }) => `${name}  ${inMegabytes(bytes)}, ${licence}, into ${folder}`,
    );
    if (voices.length > 0) lines.push(`data of espeak-ng go into ${join(data, espeakFolder(catalogue))}`);
    if (needed) {
      const { name, download, disk, folder } = needed;
      lines.push(`${name}  ${inMegabytes(download)} by npm, ${inMegabytes(disk)} into ${folder}`);
    }
    notices.result(lines.map(visible).join('\n'));
  }
  return ExitCode.ok;
}

/** The progress line of a download. */
class DownloadProgress {
  #now: { readonly name: string; readonly bytes: number; readonly total: number | undefined } | undefined;
  /** Time and bytes at which the download of this file began, from which its speed follows. */
  #start = { name: '', at: 0, bytes: 0 };

  readonly note = (name: string, bytes: number, total: number | undefined): void => {
    if (name !== this.#start.name) this.#start = { name, at: performance.now(), bytes };
    this.#now = { name, bytes, total };
  };

  render(columns: number): string {
    if (!this.#now) return 'looking'.slice(0, columns);
    const { name, bytes, total } = this.#now;
    const seconds = (performance.now() - this.#start.at) / 1000;
    const speed = seconds < 0.5 ? 0 : (bytes - this.#start.bytes) / seconds;
    const of = total === undefined ? '' : ` of ${megabytes(total)}`;
    const left = speed > 0 && total !== undefined ? ` ${duration((total - bytes) / speed)} left` : '';
    const rate = speed > 0 ? ` ${megabytes(speed)} MB/s` : '';
    return `${name} ${megabytes(bytes)}${of} MB${rate}${left}`.slice(0, columns);
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

interface Done {
  readonly installed: readonly Manifest[];
  readonly runtime: string;
}

async function installNamed({ names, data }: VoicesLine, session: Session): Promise<Done> {
  const { context } = session;
  const offers: OfferedVoice[] = [];
  for (const name of names) offers.push(await findOffer(name, session));
  const runtime = await ensureRuntime(data, missingBytes(offers, session), context);
  const installed: Manifest[] = [];
  for (const offer of offers) {
    const manifest = await installOffered(offer, session);
    if (manifest) installed.push(manifest);
    else context.notices.note(`${offer.name} is installed already`);
  }
  return { installed, runtime };
}

async function installFrom(from: string, { settings, data }: VoicesLine, session: Session): Promise<Done> {
  assertThere(from, session.context.host);
  const said = settings.language?.value;
  const language = said && languageTag(said);
  if (said !== undefined && language === undefined) throw notALanguage(said);
  const runtime = await ensureRuntime(data, 0, session.context);
  const name = settings.name?.value;
  const voice = { from, name, language, sha256: settings.sha256?.value };
  const manifest = await installLocal(voice, session);
  if (!manifest) session.context.notices.note(`${name ?? from} is installed already`);
  return { installed: manifest ? [manifest] : [], runtime };
}

function sessionOptions({ settings, data }: VoicesLine, context: Context) {
  const { host, notices } = context;
  const hub = hubOf(settings.mirror?.value, host);
  if (hub.token) notices.hide(hub.token);
  return {
    hub,
    data,
    catalogue: loadCatalogue(host),
    retries: settings.retries.value,
    timeoutMs: settings.timeout.value * 1000,
    proxyFor: (url: URL) => proxyFor(url, settings, context),
    acceptsLicence: settings.acceptLicence.value,
    force: settings.force.value,
  };
}

function assertTogether({ settings, names }: VoicesLine): void {
  const isLocal = settings.from !== undefined;
  if (isLocal && names.length > 0)
    throw usageError(
      '--from and names cannot be used together',
      'leave one of them out; --name names the voice of --from',
    );
  if (!isLocal && names.length === 0)
    throw usageError('which voice?', 'tts voices lists them: tts voices install cori');
  for (const option of ['name', 'language', 'sha256'] as const)
    if (!isLocal && settings[option]?.origin.place === 'option')
      throw usageError(
        `--${option} only works with --from`,
        'a voice of the catalogue has its own name, language and checksums',
      );
}

/** Ignores a proxy that a project's config sets: a project must not choose where installed files come from. */
function proxyFor(url: URL, settings: Settings, { host, notices }: Context) {
  const { proxy, ...others } = settings;
  const own = proxy?.origin.place === 'project' ? undefined : proxy;
  const chosen = chooseProxy({ ...others, proxy: own }, host.env, url);
  if (chosen) notices.hide(chosen.url.password);
  return chosen;
}

/** Checks free disk space and installs a missing runtime before the voices, which are of no use without it. */
async function ensureRuntime(data: string, bytes: number, context: RunContext): Promise<string> {
  const { notices } = context;
  const found = await findRuntime({ data }, context);
  assertRoom(data, bytes + (found === undefined ? RUNTIME_BYTES.disk : 0));
  if (found !== undefined) return found;
  notices.note(
    `needs the speech runtime ${RUNTIME} (Apache-2.0; it holds espeak-ng, GPL-3.0): ${inMegabytes(RUNTIME_BYTES.download)} by npm, ${inMegabytes(RUNTIME_BYTES.disk)} on disk`,
  );
  await installRuntime({ data }, context);
  return (await findRuntime({ data }, context)) ?? RUNTIME;
}

/** Bytes of disk still needed. A model takes its space twice for a moment: as a part or in an archive, and in its folder. */
function missingBytes(
  offers: readonly OfferedVoice[],
  { data, catalogue, context, options }: Session,
): number {
  const missing = offers.filter(({ name }) => options.force || !readManifest(data, name, context.host.uid));
  const parts = missing
    .flatMap(({ files }) => files)
    .map(({ sha256 }) => join(partsFolder(data), `${sha256}.part`));
  const there = parts.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  const isBuilt = ({ from, files }: OfferedVoice) =>
    from === 'piper' || files.some(({ path }) => isArchive(path));
  const models = missing.filter(isBuilt).map(({ files }) => downloadSize(files));
  const languages = missing.flatMap(({ espeak }) => espeak);
  const twice = Math.max(0, ...models);
  return (
    Math.max(0, downloadSize(missing.flatMap(({ files }) => files)) - there) +
    twice +
    downloadSize(missingEspeak(catalogue, languages, data))
  );
}

function report({ installed, runtime }: Done, data: string, { notices }: Context): void {
  if (notices.json) {
    const voices = installed.map(({ name, key, licence, files, number, checked }) => ({
      name,
      key,
      licence,
      number,
      checked,
      bytes: downloadSize(files),
      folder: join(voicesFolder(data), name),
    }));
    notices.result({ installed: voices, runtime });
    return;
  }
  for (const { name, checked } of installed) {
    const how = checked === 'not checked' ? ' (its checksum was not given, and is not known)' : '';
    notices.note(`installed ${join(voicesFolder(data), name)}${how}. Speak with: tts -s ${name} "Hello"`);
  }
}

export async function removeVoices({ names, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  if (names.length === 0)
    throw usageError('which voice?', 'tts voices --installed lists those that are there');
  const installed = found(names, data, context);
  openStore(data, host.uid);
  await withVoicesLock(data, context, async () => {
    for (const { name } of installed) removeVoice(data, name, host.uid);
  });
  const removed = installed.map(({ name }) => name);
  if (notices.json) notices.result({ removed });
  else notices.note(`removed ${removed.join(', ')}`);
  return ExitCode.ok;
}

/** Checks installed voices. Exits with 7 if a file is not as it was installed. */
export async function verifyVoices({ names, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  const voices = names.length === 0 ? installedVoices(data, host.uid) : found(names, data, context);
  const checked: { name: string; wrong: string[] }[] = [];
  for (const voice of voices) checked.push({ name: voice.name, wrong: await wrongFiles(data, voice) });
  const damaged = checked.filter(({ wrong }) => wrong.length > 0);
  const again = voices.filter((_, at) => checked[at]?.wrong.length).map(installAgain);
  if (notices.json) notices.result({ voices: checked });
  if (damaged.length > 0)
    throw new TtsError(`${damaged.map(({ name }) => name).join(', ')}: not as installed`, {
      exitCode: ExitCode.service,
      hint: `install again: ${again.join('; ')}`,
      details: damaged.flatMap(({ name, wrong }) => wrong.map((each) => `${name}: ${each}`)),
    });
  if (!notices.json)
    notices.result(
      voices.length === 0
        ? 'no voice is installed'
        : checked.map(({ name }) => `${name}  all files are as installed`).join('\n'),
    );
  return ExitCode.ok;
}

function found(names: readonly string[], data: string, { host }: Context): Manifest[] {
  const installed = installedVoices(data, host.uid);
  return names.map((name) => {
    const voice = installed.find((each) => each.name === name || each.key === name);
    if (voice) return voice;
    const folder = join(voicesFolder(data), name);
    if (statSync(folder, { throwIfNoEntry: false }) && !isOwnFolder(folder, host.uid))
      throw usageError(`${folder} belongs to somebody else`, 'correct its owner and its mode');
    const isOffered = loadCatalogue(host).voices.some((each) => each.name === name);
    const nearest = nearestName(
      name,
      installed.map((each) => each.name),
    );
    throw usageError(
      isOffered
        ? `the voice ${name} is not installed`
        : `no installed voice is called ${JSON.stringify(name)}`,
      nearest ? `did you mean ${nearest}?` : 'tts voices --installed lists those that are there',
    );
  });
}
