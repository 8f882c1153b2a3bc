import type { Settings } from '../settings/resolve.ts';
import type { Sink } from '../sink/sink.ts';
import type { Subtitles } from '../subtitles/subtitles.ts';
import type { Context } from './commands.ts';
import { openOutput, warnOfEnding } from './output.ts';

/** All that a run writes to. */
export interface Outputs {
  readonly sink: Sink;
  readonly subtitles: Subtitles | undefined;
}

/**
 * Opens them before anything is asked of a service.
 * @throws TtsError (output) when one of them cannot be written; then none is left open
 */
export async function openOutputs(settings: Settings, { host, notices, signal }: Context): Promise<Outputs> {
  const subtitles =
    settings.subtitles && (await import('../subtitles/open.ts')).openSubtitles(settings, host);
  try {
    const sink = await openOutput(settings, host, signal);
    warnOfEnding(settings, notices);
    return { subtitles, sink };
  } catch (error) {
    subtitles?.discard();
    throw error;
  }
}
