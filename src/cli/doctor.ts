import { type Command, Option } from 'commander';
import { isExcepted } from '../kit/address.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { findProgram, noSegmentFolder, segmentFolder } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import { singleItem } from '../kit/wait.ts';
import { inOneLine } from '../kit/words.ts';
import { chooseProxy, type LoadedSettings, loadSettings, type Settings } from '../options/load.ts';
import type { Name } from '../options/rows.ts';
import { findPlayer, openPlayer, type PlayerOptions, playersOf } from '../out/players.ts';
import { playerOptions } from '../run/outputs.ts';
import { ENCODINGS } from '../sound/encode/encoding.ts';
import { encodingOf } from '../sound/encode/encodings.ts';
import { type PcmFormat, type Speech, silence, untagged } from '../sound/pcm.ts';
import { measureCache, objectionTo, objectionToWriting } from '../voices/cache-store.ts';
import { openVoices } from '../voices/catalogue.ts';
import type { Manifest } from '../voices/install/manifest.ts';
import { manifestsOf } from '../voices/installed.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { handshake, lookUp, type Probe, reach } from '../voices/speakers.ts';
import { type CommandLine, OF_REQUESTS, readSubcommand, subcommand } from './command-line.ts';
import { withoutPassword } from './config.ts';
import type { Context } from './context.ts';
import { askYes } from './print.ts';
import { describe } from './speak-report.ts';
import { countOf } from './style.ts';

export interface Finding {
  readonly name: string;
  readonly state: 'good' | 'bad' | 'skipped';
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly exitCode?: ExitCode;
}

export async function examine(name: string, look: () => string | Promise<string>): Promise<Finding> {
  try {
    return { name, state: 'good', detail: await look() };
  } catch (error) {
    if (!(error instanceof TtsError)) throw error;
    const { message, hint, exitCode } = error;
    return { name, state: 'bad', detail: message, hint, exitCode };
  }
}

export function skipped(name: string, detail: string, hint?: string): Finding {
  return { name, state: 'skipped', detail, hint };
}

const SIGNS = { good: '✔', bad: '✘', skipped: '-' };
const ASCII_SIGNS = { good: 'ok', bad: '!!', skipped: '--' };

export function findingInWords({ name, state, detail, hint }: Finding, host: Host): string {
  const sign = (showsUnicode(host) ? SIGNS : ASCII_SIGNS)[state];
  const line = `${sign} ${name.padEnd(10)} ${inOneLine(detail)}`;
  return hint === undefined ? line : `${line}\n${' '.repeat(sign.length + 12)}${inOneLine(hint)}`;
}

function showsUnicode({ env, platform }: Host): boolean {
  if (platform === 'win32') return env.WT_SESSION !== undefined;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') && env.TERM !== 'linux';
}

/**
 * Plays a moment of silence. Without a usable sound device nothing can be heard, which is a fault, though files and pipes
 * need none.
 */
export async function examinePlayer(
  settings: Settings | undefined,
  { host, signal }: Pick<Context, 'host' | 'signal'>,
): Promise<Finding> {
  const named = settings?.player;
  const options = playerOptions(named?.value, host);
  if (!(await findPlayer(options)))
    return examine('player', () => {
      throw missing(named, host.platform);
    });
  const tried = await examine('player', async () => {
    const program = await tryPlayer(options, signal);
    return `${await findProgram(program, host.env.PATH ?? '', host.platform)} took a moment of silence`;
  });
  signal.throwIfAborted();
  if (tried.state === 'good') return tried;
  if (named) return { ...tried, hint: ANOTHER };
  const hint = 'files (-o FILE) and pipes need none; to hear sound, name another player with --player';
  return { ...tried, detail: `no sound device can be used: ${tried.detail}`, hint };
}

type Named = Settings['player'];

const ANOTHER = 'name another, or leave it out to use the first one found';

function missing(named: Named, platform: NodeJS.Platform): TtsError {
  const programs = playersOf(platform).map(({ program }) => program);
  return new TtsError(
    named
      ? `there is no program ${named.value[0]}, which ${named.origin.name} names`
      : 'no program that plays sound was found',
    {
      exitCode: ExitCode.output,
      hint: named ? ANOTHER : `install one of ${programs.join(', ')}; files (-o) and pipes need none`,
    },
  );
}

const SILENT_SECONDS = 0.05;

/** A sound device may need seconds to wake up. */
const LIMIT_MS = 5000;

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/** @throws TtsError (output) if no player works */
async function tryPlayer(options: PlayerOptions, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const sink = await openPlayer(options);
  try {
    const { player = '' } = await sink.write(untagged(moment()), AbortSignal.any([signal, limit]));
    return player;
  } catch (error) {
    if (error !== limit.reason) throw error;
    const message = `the player did not end within ${LIMIT_MS / 1000} s, given a moment of silence`;
    throw new TtsError(message, { exitCode: ExitCode.output });
  }
}

function moment(): Speech {
  const samples = Buffer.concat([...silence(FORMAT, SILENT_SECONDS)]);
  return { format: FORMAT, bytes: samples.length, pcm: singleItem(samples) };
}

/** Tells which formats of sound can be written here. */
export async function examineEncoders({ host }: Pick<Context, 'host'>): Promise<Finding> {
  const written: string[] = [];
  const lacking = new Map<string, string | undefined>();
  for (const encode of ENCODINGS) {
    const finding = await examine(encode, async () => {
      await encodingOf('', { encode, programs: host }).assertReady();
      return '';
    });
    if (finding.state === 'good') written.push(encode);
    else lacking.set(encode, finding.hint);
  }
  const [hint] = lacking.values();
  return {
    name: 'formats',
    state: 'good',
    detail: `${written.join(', ')}${lacking.size > 0 ? `; not ${[...lacking.keys()].join(', ')}` : ''}`,
    hint,
  };
}

/** Tells whether espeak-ng is there, for the languages that no other voice speaks. */
export async function examineEspeak(context: Pick<Context, 'host' | 'signal'>): Promise<Finding> {
  const { findEspeak } = await import('../engines/espeak.ts');
  const { espeak, fault } = await findEspeak(context);
  if (espeak)
    return {
      name: 'espeak-ng',
      state: 'good',
      detail: `${countOf(espeak.voices.length, 'voice')} of other languages: -s de`,
    };
  const detail = fault === undefined ? 'not installed' : `it does not work: ${fault}`;
  return skipped('espeak-ng', detail, 'it speaks some hundred languages, and is not needed for English');
}

const TEXT = 'Hi';
const COST = `${TEXT.length} characters`;

interface Trial {
  readonly service: Endpoint | undefined;
  readonly settings: Settings;
  readonly mayAsk: boolean;
}

export async function trySpeaking(trial: Trial, context: Context): Promise<Finding> {
  const { service, mayAsk } = trial;
  if (service && !mayAsk) {
    const question = `Make one request to ${service.url.host}? It costs ${COST}.`;
    const says = await askYes(question, context);
    if (says === undefined)
      return skipped('request', `not made: it would cost ${COST}`, 'tts doctor --yes makes it');
    if (!says) return skipped('request', 'not made');
  }
  return examine('request', () => speak(trial, context));
}

async function speak({ service, settings }: Trial, context: Context): Promise<string> {
  const { notices, signal } = context;
  // Sound from the cache would prove nothing.
  const uncached = { ...settings, cache: { ...settings.cache, value: false } };
  await using voices = await openVoices({ settings: uncached, service: async () => service }, context);
  voices.listen((event) => notices.detail(() => describe(event)));
  const voice = await voices.of();
  await voices.open(voice);
  const start = performance.now();
  const speech = await voice.speak({ text: TEXT, index: 0 }, signal);
  if (!speech) return 'accepted; the audio goes to the callback URL';
  let bytes = 0;
  for await (const piece of speech.pcm) bytes += piece.length;
  const { sampleRate } = speech.format;
  const { speaker } = voice.shape;
  return `speaker ${speaker} spoke: ${bytes} bytes at ${sampleRate} Hz in ${Math.round(performance.now() - start)} ms`;
}

/** Lets each installed voice speak a word. */
export async function tryInstalled(
  manifests: readonly Manifest[],
  settings: Settings | undefined,
  context: Context,
): Promise<string> {
  const names = manifests.map(({ name }) => name).join(', ');
  if (!settings) return `${names}: not tried`;
  const cache = { ...settings.cache, value: false };
  const own = { ...settings, baseUrl: undefined, engine: undefined, cache };
  const faults: string[] = [];
  for (const manifest of manifests) {
    const fault = await faultOf(manifest, own, context);
    if (fault !== undefined) faults.push(`${manifest.name} does not speak: ${fault}`);
  }
  if (faults.length === 0) return `${names}: ${manifests.length === 1 ? 'it speaks' : 'all of them speak'}`;
  throw new TtsError(faults.join('; '), {
    exitCode: ExitCode.service,
    hint: 'tts voices verify tells whether files are damaged; tts voices install --force NAME installs again',
  });
}

async function faultOf(
  { number }: Manifest,
  settings: Settings,
  context: Context,
): Promise<string | undefined> {
  await using voices = await openVoices({ settings, service: async () => undefined }, context);
  try {
    const origin = { place: 'default', name: 'tts doctor' } as const;
    const voice = await voices.of({ speaker: { value: number, origin } });
    const speech = await voice.speak({ text: 'Hi', index: 0 }, context.signal);
    for await (const piece of speech?.pcm ?? []) if (piece.length > 0) return undefined;
    return 'it sent no sound';
  } catch (error) {
    context.signal.throwIfAborted();
    return (error as Error).message;
  }
}

const ACCEPTED: readonly Name[] = ['speaker', 'player', 'callbackUrl', ...OF_REQUESTS];

export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readSubcommand(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { yes = false, ...flags } = line.flags;
  const findings: Finding[] = [];
  for await (const finding of examinations({ flags, mayAsk: yes === true }, context)) {
    findings.push(finding);
    if (!notices.json && finding.detail !== NOT_NEEDED)
      notices.result(notices.redact(findingInWords(finding, host)));
  }
  if (notices.json) notices.result({ findings });
  else notices.result(nextStep(findings));
  return findings.find(({ state }) => state === 'bad')?.exitCode ?? ExitCode.ok;
}

function nextStep(findings: readonly Finding[]): string {
  const isGood = (name: string) => findings.some((each) => each.name === name && each.state === 'good');
  const bad = findings.find(({ state }) => state === 'bad');
  if (bad && !isGood('request')) return `\nNext: fix ${bad.name}, and run tts doctor again.`;
  const voice = isGood('voices') ? '' : '\n      tts voices install cori    for a natural voice';
  const sound = isGood('player') ? '--play' : '-o hello.wav';
  return `\nNext: tts "Hello from this machine." ${sound}${voice}`;
}

export function describeCommand(): Command {
  return subcommand(
    'doctor',
    'Look at everything that speaking needs, and tell what to do where something is wrong.',
    ACCEPTED,
    [new Option('--yes', 'make the one request without asking; it costs 2 characters')],
  );
}

export interface ExamineRequest extends Pick<CommandLine, 'flags'> {
  readonly mayAsk: boolean;
}

/** An examination is skipped if an earlier one failed. */
export async function* examinations(request: ExamineRequest, context: Context): AsyncGenerator<Finding> {
  yield await examine('node', () => context.host.runtime);
  let settled: LoadedSettings | undefined;
  yield await examine('config', async () => {
    settled = await loadSettings(request, context);
    return (
      settled.files.map(({ path }) => path).join(', ') || 'no config file; tts config tells where to put one'
    );
  });
  if (settled) yield* complete(serviceExaminations(settled, request, context));
  else yield* STEPS.map((name) => skipped(name, 'not looked at: the config comes first'));
  yield await examinePlayer(settled?.settings, context);
  yield await examine('cache', () => lookAtCache(settled?.settings, context));
  yield await examineEncoders(context);
  yield await examineEspeak(context);
  const installed = manifestsOf(context);
  yield installed.length > 0
    ? await examine('voices', () => tryInstalled(installed, settled?.settings, context))
    : skipped('voices', 'no natural voice is installed', 'tts voices install cori brings one');
}

const NOT_NEEDED = 'not needed';

const STEPS = ['key', 'proxy', 'dns', 'connection', 'tls', 'request'];

async function* complete(findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  const left = [...STEPS];
  let reason = 'not looked at';
  for await (const finding of findings) {
    const before = left.splice(0, left.indexOf(finding.name) + 1).slice(0, -1);
    yield* before.map((name) => skipped(name, reason));
    yield finding;
    reason = finding.state === 'bad' ? `not looked at: ${finding.name} comes first` : NOT_NEEDED;
  }
  yield* left.map((name) => skipped(name, reason));
}

async function* serviceExaminations(
  { settings, files }: LoadedSettings,
  { mayAsk }: ExamineRequest,
  context: Context,
): AsyncGenerator<Finding> {
  const { baseUrl } = settings;
  const way = await examine('proxy', () => {
    if (baseUrl) chooseProxy(settings, context.host.env, baseUrl.value);
    return '';
  });
  if (way.state === 'bad') return yield way;
  let service: Endpoint | undefined;
  const key = await examine('key', async () => {
    service = await chooseService(settings, { ...context, files });
    return service
      ? `set, from ${service.keyOrigin}`
      : 'none needed: no base URL is set, the built-in service speaks';
  });
  yield key;
  if (key.state === 'bad') return;
  let reached = true;
  if (service)
    for await (const finding of connectionExaminations(service, settings, context)) {
      reached &&= finding.state !== 'bad';
      yield finding;
    }
  yield reached
    ? await trySpeaking({ service, settings, mayAsk }, context)
    : skipped('request', 'not made: there is no connection');
}

async function* connectionExaminations(
  { url, proxy }: Endpoint,
  settings: Settings,
  { signal }: Context,
): AsyncGenerator<Finding> {
  const to = (url: URL): Probe => ({ url, timeoutMs: settings.timeout.value * 1000, signal });
  const isDirect = !proxy || isExcepted(url, proxy.except);
  if (proxy && !isDirect)
    return yield await examine('proxy', async () => {
      await reach({ ...to(proxy.url), isProxy: true });
      return `${withoutPassword(proxy.url)} answers; it looks up ${url.host} and connects to it`;
    });
  yield await examine('proxy', () => (proxy ? `none for ${url.host}: NO_PROXY names it` : 'none'));
  const looks: [string, () => Promise<string>][] = [
    ['dns', async () => `${url.hostname} is ${(await lookUp(to(url))).join(', ')}`],
    ['connection', async () => reach(to(url)).then(() => `${url.host} answers`)],
    ['tls', () => tls(to(url))],
  ];
  for (const [name, look] of looks) {
    const finding = await examine(name, look);
    yield finding;
    if (finding.state === 'bad') return;
  }
}

async function tls(probe: Probe): Promise<string> {
  if (probe.url.protocol !== 'https:') return 'none: the base URL begins with http://';
  const { protocol, until } = await handshake(probe);
  return `${protocol}, with a certificate until ${until}`;
}

async function lookAtCache(settings: Settings | undefined, { host }: Context): Promise<string> {
  if (settings?.cache.value === false) return `off, as ${settings.cache.origin.name} wants it`;
  const folder = segmentFolder(host);
  if (folder === undefined) throw noSegmentFolder();
  const objection = (await objectionTo({ folder, uid: host.uid })) ?? objectionToWriting(folder);
  if (objection !== undefined)
    throw new TtsError(`${folder} is not used: ${objection}`, {
      exitCode: ExitCode.output,
      hint: 'name another folder with TTS_CACHE_DIR, or switch it off with TTS_CACHE=0',
    });
  const { entries } = await measureCache(folder);
  return `${folder} (entries: ${entries})`;
}
