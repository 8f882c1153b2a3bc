import { TtsError, usageError } from '../kit/error.ts';
import type { Host, RunContext } from '../kit/host.ts';
import type { Settings } from '../options/load.ts';
import { checkSink, isStdout, openSink } from '../out/open.ts';
import type { Sink } from '../out/sink.ts';
import type { Encoding, EncodingName } from '../sound/encode/encoding.ts';
import { encodingKey, encodingOf } from '../sound/encode/encodings.ts';
import { rateOf, type Speaker } from '../sound/voice.ts';
import type { Subtitles, SubtitlesPlan } from './subtitles.ts';
import type { WordTimes } from './words.ts';

export interface OutputPlan {
  /** The value of `-o`. */
  readonly name: string | undefined;
  readonly encode: EncodingName | undefined;
  /** kbit/s. */
  readonly bitrate: number | undefined;
  readonly encoding: Encoding;
  readonly clobber: boolean;
  /** After an error, the file keeps what was written before. */
  readonly keepsPartial: boolean;
  readonly isPlayed: boolean;
  readonly player: readonly string[] | undefined;
  /** The run works without this output: a service sends the sound elsewhere. */
  readonly mayFail: boolean;
}

export function planOutput(settings: Settings, context: Pick<RunContext, 'host' | 'notices'>): OutputPlan {
  const { output, encode, clobber, keepPartial, play, player, callbackUrl } = settings;
  const isPlayerTyped = player?.origin.place === 'option';
  return {
    name: output?.value,
    encode: encode?.value,
    bitrate: settings.bitrate?.value,
    encoding: encodingsOf(settings, context)(output?.value ?? '-'),
    clobber: clobber.value,
    keepsPartial: keepPartial.value,
    isPlayed: play?.value ?? (isPlayerTyped || (!output && context.host.stdout.isTTY)),
    player: player?.value,
    mayFail: callbackUrl !== undefined && !output && !play?.value && !isPlayerTyped,
  };
}

/** `--split`: a file for each chapter. */
export interface SplitPlan {
  /** Makes nothing, and reports what is missing. */
  readonly checks: boolean;
  readonly prunes: boolean;
  /** Deletes files without asking. */
  readonly yes: boolean;
}

const SPLIT_EXAMPLE = "-o 'novel/{nn} {title}.mp3'";

/** @throws TtsError (usage) for options that do not go together */
export function planSplit(settings: Settings, { name, isPlayed }: OutputPlan): SplitPlan | undefined {
  const { split, check, prune, yes, subtitles, callbackUrl, dryRun } = settings;
  if (!split) {
    const alone = [check, prune, yes].find(({ value }) => value);
    if (alone)
      throw usageError(
        `${alone.origin.name} only works with --split`,
        `add --split chapters ${SPLIT_EXAMPLE}`,
      );
    if (/\{(?:n+|title)\}/u.test(name ?? ''))
      throw usageError(`-o ${name} is a template for several names`, `add --split chapters ${SPLIT_EXAMPLE}`);
    return undefined;
  }
  if (name === undefined || isStdout(name) || /[/\\]$/u.test(name))
    throw usageError('--split writes several files, and needs a template of their names', SPLIT_EXAMPLE);
  if (isPlayed || subtitles || callbackUrl)
    throw usageError('--split makes files of sound only', 'leave --play, --subtitles and --callback-url out');
  if (check.value && (prune.value || dryRun.value))
    throw usageError('--check changes nothing', 'leave --prune and --dry-run out, or --check');
  return { checks: check.value, prunes: prune.value, yes: yes.value };
}

/** @returns a function that gives the encoding of a file; files of one format share it */
export function encodingsOf(
  { encode, bitrate, timeout }: Settings,
  { host, notices }: Pick<RunContext, 'host' | 'notices'>,
): (file: string) => Encoding {
  const options = {
    encode: encode?.value,
    bitrate: bitrate?.value,
    programs: host,
    timeoutMs: 1000 * timeout.value,
    warn: (text: string) => notices.warn(text),
  };
  const known = new Map<string, Encoding>();
  return (file) => {
    const key = encodingKey(file, encode?.value);
    const encoding = known.get(key) ?? encodingOf(file, options);
    known.set(key, encoding);
    return encoding;
  };
}

/** Disposing discards what is not published, and never throws. */
export interface Outputs extends AsyncDisposable {
  readonly sink: Sink;
  readonly subtitles: Subtitles | undefined;
}

interface OutputPlans {
  readonly output: OutputPlan;
  readonly speaker?: Speaker;
  readonly subtitles?: SubtitlesPlan | undefined;
  readonly words?: WordTimes | undefined;
  /** Replaces the encoding of the output, for a read-along book. */
  readonly encoding?: Encoding | undefined;
}

/** @throws TtsError (output); then none is left open */
export async function openOutputs(
  { output, speaker, subtitles: plan, words, encoding = output.encoding }: OutputPlans,
  context: RunContext,
): Promise<Outputs> {
  const subtitles = plan && new (await import('./subtitles.ts')).Subtitles(plan, words);
  try {
    const opened = openOutput({ ...output, encoding }, speaker && rateOf(speaker), context);
    const sink = await (output.mayFail ? opened.catch(failingSink) : opened);
    return {
      sink,
      subtitles,
      async [Symbol.asyncDispose]() {
        await sink.discard();
        subtitles?.discard();
      },
    };
  } catch (error) {
    subtitles?.discard();
    throw error;
  }
}

async function openOutput(
  { name, encoding, clobber, keepsPartial, isPlayed, player }: OutputPlan,
  sampleRate: number | undefined,
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<Sink> {
  await encoding.assertReady(sampleRate);
  const open = (output: string) => openSink({ output, encoding, clobber, keepsPartial }, host, signal);
  if (!isPlayed) return open(name ?? '-');
  const file = name === undefined ? undefined : await open(name);
  const { openPlayer } = await import('../out/players.ts');
  const opened = openPlayer(player, host);
  if (!file) return opened;
  try {
    const { tee } = await import('../out/tee.ts');
    // If the player fails to start, the file is still written.
    return tee(file, await opened.catch(failingSink));
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function failingSink(error: unknown): Sink {
  if (!(error instanceof TtsError)) throw error;
  return {
    isLive: false,
    write: async () => {
      throw error;
    },
    discard: async () => {},
  };
}

/**
 * @returns true where the sound goes into a file, even if it is played as well
 * @throws TtsError (output) as opening would
 */
export async function makesFile({ name, clobber, isPlayed }: OutputPlan, host: Host): Promise<boolean> {
  if (name === undefined && isPlayed) return false;
  return !(await checkSink({ output: name ?? '-', clobber }, host));
}

/**
 * @returns true for sound that is heard live
 * @throws TtsError (output), but not for a missing player
 */
export async function checkOutput(
  { name, clobber, isPlayed, player }: OutputPlan,
  host: Host,
): Promise<boolean> {
  const isHeard = isPlayed && (await (await import('../out/players.ts')).playsLive(player, host));
  if (name === undefined && isPlayed) return isHeard;
  const output = name ?? '-';
  if (isStdout(output) && host.stdout.isTTY) return true;
  return (await checkSink({ output, clobber }, host)) || isHeard;
}
