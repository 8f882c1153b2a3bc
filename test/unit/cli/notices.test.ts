import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Notices } from '../../../src/cli/notices.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import type { Host } from '../../../src/kit/host.ts';

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

function printing(): { notices: Notices; stream: PassThrough } {
  const stream = new PassThrough({ encoding: 'utf8' });
  const stderr = { fd: 2, isTTY: false, columns: undefined, stream };
  return { notices: new Notices({ stderr } as unknown as Host), stream };
}

it.each([true, false])(
  'A key that may be a word is hidden only in errors that quote others (JSON: %s).',
  (json) => {
    const { notices, stream } = printing();
    notices.json = json;
    notices.hide('speaker');
    notices.failure(new TtsError('--speaker: no speaker', { exitCode: ExitCode.usage, hint: 'a speaker' }));
    expect(stream.read()).not.toContain('***');
    notices.failure(new TtsError('it says: speaker', { exitCode: ExitCode.service, hint: 'ask it' }));
    expect(stream.read()).toContain('it says: ***');
  },
);

it('An error is printed, and gives the exit status, though closing fails after it.', async () => {
  const { notices, stream } = printing();
  const thrown = await failing(new TtsError('no sound', { exitCode: ExitCode.service, hint: 'try again' }));
  expect(thrown).toMatchObject({ name: 'SuppressedError' });
  expect(notices.failure(thrown)).toBe(ExitCode.service);
  expect(stream.read()).toBe('tts: no sound\nhint: try again\n');
});

it('An error that quotes a very long name is printed without the middle of it.', () => {
  const { notices, stream } = printing();
  const message = `no speaker is called "${'a'.repeat(1_000_000)}" in a.csv`;
  notices.failure(new TtsError(message, { exitCode: ExitCode.usage }));
  expect(stream.read()).toMatch(/^tts: no speaker is called "a{2478}…a{2490}" in a\.csv\n$/);
});
