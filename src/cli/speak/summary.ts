import { secondsOf } from '../../audio/pcm.ts';
import type { Host } from '../../host.ts';
import type { Settings } from '../../settings/resolve.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import { isPlayed } from '../../speech/outputs.ts';
import type { Tally } from '../../speech/totals.ts';
import type { Notices } from '../terminal/notices.ts';
import { tell } from '../terminal/print.ts';

export interface Outcome {
  readonly settings: Pick<Settings, 'output' | 'clobber' | 'play' | 'player' | 'callbackUrl' | 'subtitles'>;
  readonly tally: Tally;
  /** `undefined` where the service sends the sound elsewhere. */
  readonly delivery: Delivery | undefined;
}

/** One JSON object about the run: on stdout if that is not where the audio went, otherwise on stderr. */
export async function tellSummary(
  outcome: Outcome,
  { host, notices }: { host: Pick<Host, 'stdout'>; notices: Notices },
): Promise<void> {
  const { settings, delivery } = outcome;
  const isPlayer = isPlayed(settings, host);
  const output = settings.output?.value ?? (isPlayer || !delivery ? null : '-');
  const told = summary(outcome, { output, ...(isPlayer && { played: true }) });
  if (output !== null && isStdout(output)) notices.printJson(told);
  else tell(host.stdout, notices.inJson(told));
}

interface Whereabouts {
  /** A file's name, "-" for stdout, `null` for neither. */
  readonly output: string | null;
  readonly played?: true;
}

function summary({ settings, tally, delivery }: Outcome, where: Whereabouts) {
  const isWhole = delivery && !delivery.readerLeft;
  return {
    ...(delivery ? sound(delivery, where, tally) : elsewhere(settings)),
    ...(isWhole && settings.subtitles && { subtitles: settings.subtitles.value }),
    characters: tally.characters,
    segments: tally.segments,
    fromCache: tally.fromCache,
    requests: tally.requests,
    retries: tally.retries,
    secondsToFirstAudio: inSeconds(tally.firstAudio),
    seconds: inSeconds(tally.elapsed),
  };
}

/** `bytes` are those of the WAV, its header included. */
function sound({ bytes, overheadBytes, readerLeft }: Delivery, where: Whereabouts, { format }: Tally) {
  return {
    ...where,
    format: format ?? null,
    duration: format ? secondsOf(format, bytes) : 0,
    bytes: bytes + overheadBytes,
    ...(readerLeft && { readerLeft }),
  };
}

function elsewhere({ callbackUrl }: Outcome['settings']) {
  return { output: null, callbackUrl: callbackUrl?.value.href, format: null, duration: null, bytes: 0 };
}

function inSeconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds) / 1000;
}
