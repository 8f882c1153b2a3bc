import { ExitCode, TtsError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { singleItem } from '../kit/wait.ts';
import { countOf, inOneLine } from '../kit/words.ts';
import { type Flags, type LoadedSettings, loadSettings, type Settings } from '../options/load.ts';
import { openPlayer } from '../out/players.ts';
import { ENCODINGS } from '../sound/encode/encoding.ts';
import { encodingOf } from '../sound/encode/encodings.ts';
import { bareFormat, silentPieces, untagged } from '../sound/pcm.ts';
import type { VoiceEvent } from '../sound/voice.ts';
import { manifestsOf } from '../voices/installed.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { openVoices } from '../voices/voices.ts';
import type { CommandLine, Context } from './commands.ts';
import { askYes } from './print.ts';
import { describe } from './speak-report.ts';

interface Finding {
  readonly name: string;
  readonly state: 'good' | 'bad' | 'skipped';
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly exitCode?: ExitCode;
}

export async function run(
  { flags: { yes = false, ...flags } }: CommandLine,
  context: Context,
): Promise<number> {
  const { host, notices } = context;
  const findings: Finding[] = [];
  for await (const finding of examinations(flags, yes === true, context)) {
    findings.push(finding);
    if (!notices.json) notices.result(notices.redact(inWords(finding, host)));
  }
  notices.result(notices.json ? { findings } : nextStep(findings));
  return findings.find(({ state }) => state === 'bad')?.exitCode ?? ExitCode.ok;
}

/** Yields one finding after the other. An examination is skipped if an earlier one that it depends on has failed. */
async function* examinations(flags: Flags, mayAsk: boolean, context: Context): AsyncGenerator<Finding> {
  const { host } = context;
  let loaded: LoadedSettings | undefined;
  let found: { readonly service: Endpoint | undefined } | undefined;
  yield await examine('node', () => host.runtime);
  yield await examine('config', async () => {
    loaded = await loadSettings({ flags }, context);
    const files = loaded.files.map(({ path }) => path).join(', ');
    return files || 'no config file; tts config tells where to put one';
  });
  yield await examine('service', async () => {
    const { settings, files } = needed(loaded, 'not looked at: the config comes first');
    const service = await chooseService(settings, { ...context, files });
    const detail = service ? await greet(service, settings, context) : NO_SERVICE;
    found = { service };
    return detail;
  });
  yield await examine('request', async () => {
    const { settings } = needed(loaded, 'not looked at: the config comes first');
    const { service } = needed(found, 'not made: the service comes first');
    if (service && !mayAsk) await assertAgreed(service, context);
    return speak({ service, settings }, context);
  });
  yield await examine('player', () => tryPlayer(loaded?.settings, context));
  yield await encodersFinding(context);
  yield await examine('espeak-ng', () => lookForEspeak(context));
  yield await examine('voices', () => tryInstalled(loaded?.settings, context));
}

/** Thrown by an examination that does not take place. */
class Skipped extends Error {
  readonly hint: string | undefined;

  constructor(detail: string, hint?: string) {
    super(detail);
    this.hint = hint;
  }
}

function needed<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new Skipped(otherwise);
  return value;
}

async function examine(name: string, look: () => string | Promise<string>): Promise<Finding> {
  try {
    return { name, state: 'good', detail: await look() };
  } catch (error) {
    if (error instanceof Skipped) return { name, state: 'skipped', detail: error.message, hint: error.hint };
    if (!(error instanceof TtsError)) throw error;
    const { message, hint, exitCode } = error;
    return { name, state: 'bad', detail: message, hint, exitCode };
  }
}

const NO_SERVICE = 'none needed: no base URL is set, so a voice of this machine speaks';

/** Asks for the list of speakers, which costs nothing and shows whether the service can be reached and accepts the key. */
async function greet(service: Endpoint, settings: Settings, context: Context): Promise<string> {
  await using voices = await openVoices({ settings, service: async () => service }, context);
  const listed = await voices.list({ retries: 0 });
  const speakers = listed ? `lists ${countOf(listed.length, 'speaker')}` : 'does not list its speakers';
  return `${service.url.host} answers and ${speakers}; key from ${service.keyOrigin}`;
}

const TEXT = 'Hi';
const COST = `${TEXT.length} characters`;

async function assertAgreed({ url }: Endpoint, context: Context): Promise<void> {
  const agrees = await askYes(`Make one request to ${url.host}? It costs ${COST}.`, context);
  if (agrees === undefined) throw new Skipped(`not made: it would cost ${COST}`, 'tts doctor --yes makes it');
  if (!agrees) throw new Skipped('not made');
}

interface TrialRequest {
  readonly service: Endpoint | undefined;
  readonly settings: Settings;
  /** The number of an installed voice; without it, the voice of the settings speaks. */
  readonly number?: number;
}

async function speak({ service, settings, number }: TrialRequest, context: Context): Promise<string> {
  const { notices, signal } = context;
  // Sound from the cache would prove nothing.
  const uncached = { ...settings, cache: { ...settings.cache, value: false } };
  await using voices = await openVoices({ settings: uncached, service: async () => service }, context);
  const origin = { place: 'default', name: 'tts doctor' } as const;
  const speaker = await voices.of(number === undefined ? {} : { speaker: { value: number, origin } });
  await voices.open(speaker);
  const { voice, fields } = speaker;
  const start = performance.now();
  const report = (event: VoiceEvent) => notices.detail(() => describe(event));
  const speech = await voice.source.speak({ text: TEXT, index: 0, voice, fields, report }, signal);
  if (!speech) return 'accepted; the audio goes to the callback URL';
  let bytes = 0;
  for await (const piece of speech.pcm) bytes += piece.length;
  const milliseconds = Math.round(performance.now() - start);
  return `speaker ${voice.no} spoke: ${bytes} bytes at ${speech.format.sampleRate} Hz in ${milliseconds} ms`;
}

/** Lets each installed voice speak a word. */
async function tryInstalled(settings: Settings | undefined, context: Context): Promise<string> {
  const manifests = manifestsOf(context);
  if (manifests.length === 0)
    throw new Skipped('no natural voice is installed', 'tts voices install cori brings one');
  const names = manifests.map(({ name }) => name).join(', ');
  if (!settings) return `${names}: not tried`;
  const own = { ...settings, baseUrl: undefined, engine: undefined };
  const faults: string[] = [];
  for (const { name, number } of manifests) {
    const { state, detail } = await examine(name, () =>
      speak({ service: undefined, settings: own, number }, context),
    );
    context.signal.throwIfAborted();
    if (state === 'bad') faults.push(`${name} does not speak: ${detail}`);
  }
  if (faults.length === 0) return `${names}: ${manifests.length === 1 ? 'it speaks' : 'all of them speak'}`;
  throw new TtsError(faults.join('; '), {
    exitCode: ExitCode.service,
    hint: 'tts voices verify finds damaged files; tts voices install --force NAME installs a voice again',
  });
}

const FORMAT = bareFormat(22_050);
const SILENT_SECONDS = 0.05;

/** Milliseconds that a player may take: a sound device may need seconds to wake up. */
const LIMIT_MS = 5000;

/**
 * Plays a moment of silence.
 * @throws TtsError (output) if no player works
 */
async function tryPlayer(settings: Settings | undefined, { host, signal }: Context): Promise<string> {
  const samples = Buffer.concat([...silentPieces(FORMAT, SILENT_SECONDS)]);
  const moment = untagged({ format: FORMAT, bytes: samples.length, pcm: singleItem(samples) });
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const sink = await openPlayer(settings?.player?.value, host);
    const { player = '' } = await sink.write(moment, AbortSignal.any([signal, limit]));
    return `${player} took a moment of silence`;
  } catch (error) {
    signal.throwIfAborted();
    if (error !== limit.reason && !(error instanceof TtsError)) throw error;
    const late = `the player did not end within ${LIMIT_MS / 1000} s`;
    const message = error instanceof TtsError ? error.message : late;
    throw new TtsError(message, { exitCode: ExitCode.output, hint: PLAYERS });
  }
}

const PLAYERS =
  'files (-o FILE) and pipes need none; to hear sound, install one such as aplay (alsa-utils) or ffplay, or name one with --player';

/** Tells which formats of sound can be written here. */
async function encodersFinding({ host }: Context): Promise<Finding> {
  const written: string[] = [];
  const lacking: string[] = [];
  let hint: string | undefined;
  // A read-along book (EPUB) needs only MP3, which is in the list.
  for (const encode of ENCODINGS.filter((each) => each !== 'epub')) {
    const found = await examine(encode, async () => {
      await encodingOf('', { encode, programs: host }).assertReady();
      return '';
    });
    (found.state === 'good' ? written : lacking).push(encode);
    hint ??= found.hint;
  }
  const without = lacking.length > 0 ? `; not ${lacking.join(', ')}` : '';
  return { name: 'formats', state: 'good', detail: `${written.join(', ')}${without}`, hint };
}

async function lookForEspeak(context: Context): Promise<string> {
  const { findEspeak } = await import('../engines/espeak.ts');
  const { espeak, fault } = await findEspeak(context);
  if (espeak) return `${countOf(espeak.voices.length, 'voice')} of other languages: -s de`;
  const detail = fault === undefined ? 'not installed' : `it does not work: ${fault}`;
  throw new Skipped(detail, 'it speaks some hundred languages, and is not needed for English');
}

const SIGNS = { good: '✔', bad: '✘', skipped: '-' };
const ASCII_SIGNS = { good: 'ok', bad: '!!', skipped: '--' };

function inWords({ name, state, detail, hint }: Finding, { env, platform }: Host): string {
  const isUtf8 = /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') && env.TERM !== 'linux';
  const showsUnicode = platform === 'win32' ? env.WT_SESSION !== undefined : isUtf8;
  const sign = (showsUnicode ? SIGNS : ASCII_SIGNS)[state];
  const line = `${sign} ${name.padEnd(10)} ${inOneLine(detail)}`;
  return hint === undefined ? line : `${line}\n${' '.repeat(sign.length + 12)}${inOneLine(hint)}`;
}

function nextStep(findings: readonly Finding[]): string {
  const isGood = (name: string) => findings.some((each) => each.name === name && each.state === 'good');
  const bad = findings.find(({ state }) => state === 'bad');
  if (bad && !isGood('request')) return `\nNext: fix ${bad.name}, and run tts doctor again.`;
  const voice = isGood('voices') ? '' : '\n      tts voices install cori    for a natural voice';
  const sound = isGood('player') ? '--play' : '-o hello.wav';
  return `\nNext: tts "Hello from this machine." ${sound}${voice}`;
}
