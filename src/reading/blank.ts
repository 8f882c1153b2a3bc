import { ExitCode, TtsError } from '../error.ts';
import type { Watched } from './watched.ts';

/** The error for a text in which nothing is to be spoken. */
export class NothingToSay extends TtsError {
  constructor(why: string, hint: string) {
    super(`nothing to say: ${why}`, { exitCode: ExitCode.usage, hint });
  }
}

/** The error for sources in which nothing is to be spoken. */
export function nothingToSay(sources: readonly Watched[]): NothingToSay {
  const [only, ...others] = sources;
  if (sources.some(({ isWritten }) => isWritten)) return nothingSpoken();
  return only && others.length === 0 && only.source.name === '-' && !only.hasBytes
    ? nothingPiped()
    : blankText();
}

function nothingSpoken(): NothingToSay {
  return new NothingToSay(
    'the text has no words that are spoken',
    'tts --show-text shows what is spoken of it; in Markdown, --code read and --footnotes read leave less out',
  );
}

function nothingPiped(): NothingToSay {
  return new NothingToSay(
    'no text came from stdin',
    'give words, or a file with -f; a program that was to write the text may have failed',
  );
}

export function blankText(): NothingToSay {
  return new NothingToSay('the text is blank', 'give words, a file with -f, or text through a pipe');
}
