import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Notices } from '../../../src/cli/notices.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { processHost } from '../../../src/kit/host.ts';
import { openOutputs } from '../../../src/run/outputs.ts';
import { wav } from '../../../src/sound/encode/wav.ts';
import { emptyFolder } from '../../support/folder.ts';

it('Outputs do not open where the encoding is not ready.', async () => {
  const cwd = emptyFolder();
  const missing = new TtsError('ffmpeg is not installed', { exitCode: ExitCode.output });
  const encoding = { ...wav, assertReady: () => Promise.reject(missing) };
  const output = {
    name: 'out.wav',
    encode: undefined,
    bitrate: undefined,
    encoding,
    clobber: true,
    keepsPartial: false,
    isPlayed: false,
    player: undefined,
    mayFail: false,
  };
  const host = { ...processHost(process), cwd };
  const context = { host, notices: new Notices(host), signal: new AbortController().signal };
  await expect(openOutputs({ output }, context)).rejects.toBe(missing);
  expect(readdirSync(cwd)).toEqual([]);
});
