import { expect, it } from 'vitest';
import { singleItem } from '../../../src/async.ts';
import { refusal } from '../../../src/client/refusal.ts';
import { ExitCode } from '../../../src/error.ts';

it.each([
  [true, ExitCode.output, /TMPDIR/],
  [undefined, ExitCode.service, /what the service said/],
])(
  'A disk without room is that of the run only inside this process: %s',
  async (isInside, exitCode, hint) => {
    const body = singleItem(Buffer.from('{"error":{"message":"cannot write /tmp: no space is left there"}}'));
    const to = { url: new URL('http://127.0.0.1:9/tts'), keyOrigin: 'this run', isInside };
    expect(await refusal({ status: 507, headers: {}, body }, to)).toMatchObject({
      exitCode,
      hint: expect.stringMatching(hint),
      message: expect.stringContaining('cannot write /tmp: no space is left there'),
      retry: undefined,
    });
  },
);
