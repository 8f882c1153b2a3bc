import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Notices } from '../../../../src/cli/terminal/notices.ts';
import { ExitCode, TtsError } from '../../../../src/error.ts';
import type { Host } from '../../../../src/host.ts';

/** A resource that cannot be closed, against the rule that disposers do not throw. */
function unclosable(what: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      throw new Error(`${what} cannot be closed`);
    },
  };
}

async function failing(error: Error): Promise<unknown> {
  try {
    await using outer = unclosable('outer');
    await using inner = unclosable('inner');
    throw Object.assign(error, { outer, inner });
  } catch (thrown) {
    return thrown;
  }
}

it('An error is printed, and gives the exit status, though closing fails behind it.', async () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const notices = new Notices({
    stderr: { fd: 2, isTTY: false, columns: undefined, stream },
  } as unknown as Host);
  const thrown = await failing(new TtsError('no sound', { exitCode: ExitCode.service, hint: 'try again' }));
  expect(thrown).toMatchObject({ name: 'SuppressedError' });
  expect(notices.failure(thrown)).toBe(ExitCode.service);
  expect(stream.read()).toBe('tts: no sound\nhint: try again\n');
});
