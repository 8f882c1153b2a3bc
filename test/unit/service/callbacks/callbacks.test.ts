import { expect, it } from 'vitest';
import { Callbacks } from '../../../../src/service/callbacks/callbacks.ts';
import { defaultLimits } from '../../../../src/service/engine/contract.ts';
import type { LogRecord } from '../../../../src/service/exchange/exchange.ts';
import { inPieces } from '../../audio/body.ts';
import { sound, speechFormat } from '../../audio/wav-builder.ts';

it('A callback to an address that is not public is tried once: that does not pass.', async () => {
  const records: LogRecord[] = [];
  const limits = { ...defaultLimits, callbackBackoff: 1 };
  const log = (record: LogRecord) => void records.push(record);
  const callbacks = new Callbacks({ apiKey: null, origins: new Set(), limits, log });
  const speech = { format: speechFormat, speakable: true, pcm: inPieces(sound(100)) };
  callbacks.accept('id', new URL('http://127.0.0.1:9/'), () => speech);
  await callbacks.settled();
  expect(records).toEqual([
    expect.objectContaining({
      ...{ event: 'callback', delivered: false, tries: 1 },
      reason: expect.stringContaining('has no public address'),
    }),
  ]);
});
