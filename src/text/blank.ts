import { type TtsError, usageError } from '../error.ts';

/** The error of a run that was given no text but white space. */
export function blankText(): TtsError {
  return usageError(
    'nothing to say: the text is blank',
    'give words, a file with -f, or text through a pipe',
  );
}
