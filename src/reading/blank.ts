import { type TtsError, usageError } from '../error.ts';
import type { Watched } from './watched.ts';

/** The error for sources in which nothing is to be spoken. */
export function nothingToSay(sources: readonly Watched[]): TtsError {
  const [only, ...others] = sources;
  if (sources.some(({ isWritten }) => isWritten)) return nothingSpoken();
  return only && others.length === 0 && only.source.name === '-' && !only.hasBytes
    ? nothingPiped()
    : blankText();
}

function nothingSpoken(): TtsError {
  return usageError(
    'nothing to say: the text has no words that are spoken',
    'tts --show-text shows what is spoken of it; in Markdown, --code read and --footnotes read leave less out',
  );
}

function nothingPiped(): TtsError {
  return usageError(
    'nothing to say: no text came from stdin',
    'give words, or a file with -f; a program that was to write the text may have failed',
  );
}

export function blankText(): TtsError {
  return usageError(
    'nothing to say: the text is blank',
    'give words, a file with -f, or text through a pipe',
  );
}
