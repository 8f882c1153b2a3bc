import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, usageError } from '../../error.ts';
import type { RunContext } from '../../host.ts';
import { missingEspeak } from '../../install/espeak.ts';
import { hubOf } from '../../install/fetch/hub.ts';
import { installOffered } from '../../install/install.ts';
import { assertThere, installLocal } from '../../install/local.ts';
import { withVoicesLock } from '../../install/lock.ts';
import { assertKnown, findOffer } from '../../install/offer.ts';
import { findRuntime, installRuntime, RUNTIME, RUNTIME_BYTES } from '../../install/runtime.ts';
import { Session } from '../../install/session.ts';
import { assertRoom, inMegabytes, openStore, partsFolder, removeStages } from '../../install/store.ts';
import { bytesOf, loadCatalogue, type OfferedVoice } from '../../installed/catalogue.ts';
import { type Manifest, readManifest, voicesFolder } from '../../installed/manifest.ts';
import { loadSettings } from '../../settings/load.ts';
import { chooseProxy, type Settings } from '../../settings/resolve.ts';
import type { Context } from '../context.ts';
import { isProgressWanted } from '../terminal/notices.ts';
import { ProgressLine } from '../terminal/progress.ts';
import type { VoicesLine } from './line.ts';
import { showPlan } from './plan.ts';
import { DownloadProgress } from './progress.ts';

/** @throws TtsError */
export async function installVoices(line: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  assertTogether(line);
  const { settings } = await loadSettings(line, context);
  const count = new DownloadProgress();
  const options = sessionOptions(line, settings, context);
  await using session = new Session({ ...options, onProgress: count.note }, context);
  if (settings.dryRun.value) return await showPlan(line, session, context);
  for (const name of line.names) assertKnown(name, session.catalogue);
  openStore(line.data, host.uid);
  using _line = isProgressWanted(host, notices)
    ? new ProgressLine({ host, notices }, (columns) => count.render(columns))
    : undefined;
  const done = await withVoicesLock(line.data, context, async () => {
    removeStages(line.data);
    try {
      return await (textOf(line, 'from') === undefined
        ? installNamed(line, session)
        : installFrom(line, session));
    } finally {
      removeStages(line.data);
    }
  });
  report(done, line.data, context);
  return ExitCode.ok;
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

async function installFrom(line: VoicesLine, session: Session): Promise<Done> {
  assertThere(textOf(line, 'from') ?? '', session.context.host);
  const runtime = await ensureRuntime(line.data, 0, session.context);
  const [from = '', name, language] = ['from', 'name', 'language'].map((each) => textOf(line, each));
  const voice = { from, name, language, sha256: checksum(textOf(line, 'sha256')) };
  const manifest = await installLocal(voice, session);
  if (!manifest) session.context.notices.note(`${name ?? from} is installed already`);
  return { installed: manifest ? [manifest] : [], runtime };
}

function textOf({ flags }: VoicesLine, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

function sessionOptions(line: VoicesLine, settings: Settings, context: Context) {
  const { host, notices } = context;
  const hub = hubOf(textOf(line, 'mirror'), host);
  if (hub.token) notices.hide(hub.token);
  return {
    hub,
    data: line.data,
    catalogue: loadCatalogue(host),
    retries: settings.retries.value,
    timeoutMs: settings.timeout.value * 1000,
    proxyFor: (url: URL) => proxyFor(url, settings, context),
    acceptsLicence: line.flags.acceptLicence === true,
    force: line.flags.force === true,
  };
}

function assertTogether({ flags, names }: VoicesLine): void {
  const isLocal = typeof flags.from === 'string';
  if (isLocal && names.length > 0)
    throw usageError(
      '--from and names contradict each other',
      'leave one of them out; --name names the voice of --from',
    );
  if (!isLocal && names.length === 0)
    throw usageError('which voice?', 'tts voices lists them: tts voices install cori');
  for (const option of ['name', 'sha256'])
    if (!isLocal && flags[option] !== undefined)
      throw usageError(
        `--${option} belongs to --from`,
        'a voice of the catalogue has its own name and checksums',
      );
}

function checksum(text: string | undefined): string | undefined {
  if (text === undefined || /^[0-9a-f]{64}$/i.test(text)) return text;
  throw usageError('bad value for --sha256', 'expected 64 hexadecimal digits, as sha256sum prints them');
}

/** A project chooses no proxy for what is installed. */
function proxyFor(url: URL, settings: Settings, { host, notices }: Context) {
  const { proxy, ...others } = settings;
  const own = proxy?.origin.place === 'project' ? undefined : proxy;
  const chosen = chooseProxy({ ...others, proxy: own }, host.env, url);
  if (chosen) notices.hide(chosen.url.password);
  return chosen;
}

/** Looks for room and for the runtime first: both may be missing, and a voice alone is of no use. */
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

/** A model is there twice for a moment, as a part and with its metadata. */
function missingBytes(
  offers: readonly OfferedVoice[],
  { data, catalogue, context, options }: Session,
): number {
  const missing = offers.filter(({ name }) => options.force || !readManifest(data, name, context.host.uid));
  const parts = missing
    .flatMap(({ files }) => files)
    .map(({ sha256 }) => join(partsFolder(data), `${sha256}.part`));
  const there = parts.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  const models = missing.filter(({ from }) => from === 'piper').map(({ files }) => bytesOf(files));
  const languages = missing.flatMap(({ espeak }) => espeak);
  const twice = Math.max(0, ...models);
  return (
    Math.max(0, bytesOf(missing.flatMap(({ files }) => files)) - there) +
    twice +
    bytesOf(missingEspeak(catalogue, languages, data))
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
      bytes: bytesOf(files),
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
