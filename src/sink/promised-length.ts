import { ExitCode, TtsError } from '../error.ts';

/**
 * Where the header cannot be put right any more by the time that a repeated request turns out longer or shorter: better
 * said than hidden.
 * @param promised by that header; `undefined` where it promises nothing
 * @throws TtsError (service)
 */
export function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it told at first: try again, with -o',
  });
}
