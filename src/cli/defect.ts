import { ExitCode, TtsError } from '../error.ts';

/** The error for whatever is none of ours. */
export function defect(cause: unknown): TtsError {
  return new TtsError(`a defect in tts itself: ${cause instanceof Error ? cause.message : String(cause)}`, {
    exitCode: ExitCode.defect,
    hint: 'please report it, with the lines below',
    cause,
  });
}

/** The stack of each error that led to this one. */
export function* causes({ cause }: Error): Generator<string> {
  for (let error = cause; error instanceof Error; error = error.cause) yield error.stack ?? error.message;
}
