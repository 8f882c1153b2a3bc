import type { RunTotals } from '../../speech/totals.ts';
import { excerpt } from '../../text/unicode.ts';
import type { VoiceEvent } from '../../voices/voice.ts';
import type { Notices } from '../terminal/notices.ts';
import type { Progress } from '../terminal/progress.ts';

export function eventsTo(
  totals: RunTotals,
  progress: Progress | undefined,
  notices: Notices,
): (event: VoiceEvent) => void {
  const warned = new Set<string>();
  const warnOnce = (about: string, text: string) => {
    if (!warned.has(about)) notices.warn(text);
    warned.add(about);
  };
  return (event) => {
    totals.onEvent(event);
    progress?.count.onEvent(event);
    notices.detail(() => describe(event));
    if (!progress) warnOfPause(event, notices);
    if (event.type === 'leftover') warnOnce(event.type, `${describe(event)}: words may be missing`);
    if (event.type === 'ignored') warnOnce(event.type, describe(event));
    if (event.type === 'cut') warnOnce(`${event.type} ${event.how}`, describe(event));
  };
}

/** docs/instructions.md has all of the built-in voice. */
const KNOWN_INSTRUCTIONS = 'slow, fast, deep, high, loud, quiet, whisper, longer pauses';

const CUT = {
  'in parts': 'the text was spoken in smaller parts',
  late: 'this was only noticed by the sound of later texts, so words may be missing',
  heard: 'this was only noticed while it was heard',
} as const;

export function describe(event: VoiceEvent): string {
  switch (event.type) {
    case 'request':
      return `segment ${event.index + 1} ${JSON.stringify(excerpt(event.text))}: ${requestText(event)}`;
    case 'answer': {
      const what = event.status === undefined ? 'sound' : `status ${event.status}`;
      return `segment ${event.index + 1}: ${what} after ${Math.round(event.milliseconds)} ms`;
    }
    case 'cache':
      return `segment ${event.index + 1}: ${event.found === 'hit' ? '' : 'not '}in the cache`;
    case 'retry':
      return `${event.error.message}: another try in ${event.seconds.toFixed(1)} s`;
    case 'leftover':
      return `the service sent ${event.bytes} bytes after the samples of a WAV that are neither sound nor a chunk`;
    case 'ignored':
      return `the voice does not understand "${event.instructions}"; it knows words such as ${KNOWN_INSTRUCTIONS}`;
    case 'cut':
      return `${event.message}; ${CUT[event.how]}`;
    case 'other take':
      return 'on retry the service sent different audio: a word may be repeated or missing; this segment is not cached';
  }
}

function requestText({ by, post }: Extract<VoiceEvent, { type: 'request' }>): string {
  return post ? `POST ${post.url.href}  X-API-KEY: ***  ${post.body}` : `spoken by ${by}`;
}

const LONG_PAUSE_SECONDS = 10;

export function warnOfPause(event: VoiceEvent, notices: Notices): void {
  if (event.type !== 'retry' || event.seconds < LONG_PAUSE_SECONDS || notices.verbose) return;
  notices.warn(`${event.error.message}: another try in ${Math.round(event.seconds)} s`);
}
