import { frameBytes } from '../audio/pcm.ts';
import { headerBytes, padding } from '../audio/wav-header.ts';
import type { Host } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { isStdout } from '../sink/open.ts';
import type { Delivery } from '../sink/sink.ts';
import type { Notices } from './notices.ts';
import type { Tally } from './tally.ts';
import { tell } from './tell.ts';

export interface Outcome {
  readonly settings: Pick<Settings, 'output' | 'callbackUrl' | 'subtitles'>;
  readonly tally: Tally;
  /** `undefined` where the service sends the sound elsewhere. */
  readonly delivery: Delivery | undefined;
}

/** One JSON object about the run: on stdout if that is not where the audio went, otherwise on stderr. */
export function tellSummary(
  outcome: Outcome,
  { host, notices }: { host: Pick<Host, 'stdout'>; notices: Notices },
): void {
  const output = outcome.settings.output?.value ?? '-';
  const text = JSON.stringify(summary(outcome, output));
  if (outcome.delivery && isStdout(output)) notices.print(text);
  else tell(host.stdout, notices.redact(text));
}

function summary({ settings, tally, delivery }: Outcome, output: string) {
  return {
    ...(delivery ? sound(delivery, output, tally) : elsewhere(settings)),
    ...(settings.subtitles && { subtitles: settings.subtitles.value }),
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
function sound({ bytes, readerLeft }: Delivery, output: string, { format }: Tally) {
  if (!format) throw new Error('sound was delivered that nobody heard');
  return {
    output,
    format,
    duration: bytes / frameBytes(format) / format.sampleRate,
    bytes: headerBytes(format, bytes) + bytes + padding(bytes),
    ...(readerLeft && { readerLeft }),
  };
}

function elsewhere({ callbackUrl }: Outcome['settings']) {
  return { output: null, callbackUrl: callbackUrl?.value.href, format: null, duration: null, bytes: 0 };
}

function inSeconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds) / 1000;
}
