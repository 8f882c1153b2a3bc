import { type Command, Option } from 'commander';
import { isExcepted } from '../../address.ts';
import { objectionTo, objectionToWriting } from '../../cache/folder.ts';
import { measureCache } from '../../cache/inspect.ts';
import { handshake, lookUp, type Probe, reach } from '../../client/probe.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { noSegmentFolder, segmentFolder } from '../../files/folders.ts';
import { type LoadedSettings, loadSettings } from '../../settings/load.ts';
import { chooseProxy, type Settings } from '../../settings/resolve.ts';
import type { Name } from '../../settings/rules.ts';
import { manifestsOf } from '../../voices/installed.ts';
import { chooseService, type Endpoint } from '../../voices/service-choice.ts';
import { type CommandLine, OF_REQUESTS, readSubcommand, subcommand } from '../command-line.ts';
import { withoutPassword } from '../config.ts';
import type { Context } from '../context.ts';
import { examine, type Finding, findingInWords, skipped } from './finding.ts';
import { examinePlayer } from './player.ts';
import { examineEncoders, examineEspeak } from './programs.ts';
import { trySpeaking } from './speaking.ts';
import { tryInstalled } from './voices.ts';

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
