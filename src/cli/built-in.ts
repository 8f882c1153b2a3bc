import { noAnswer } from '../client/failure.ts';
import { createEngine } from '../service/engine/create.ts';
import { randomKey } from '../service/http/api-key.ts';
import { startService } from '../service/service.ts';
import type { OpenService } from './open-service.ts';

const LOOPBACK = new URL('http://127.0.0.1');

/** The service that the tool carries, on a loopback port of its own, with a key that nobody else learns. */
export async function startBuiltIn(): Promise<OpenService> {
  const key = randomKey();
  const engine = await createEngine({});
  const service = await startService({ engine, apiKey: key }).catch(async (cause) => {
    await engine.close();
    throw noAnswer(cause, LOOPBACK, 0);
  });
  return {
    url: new URL(`${service.url}/tts`),
    name: 'the built-in voice',
    key,
    keyOrigin: 'this run',
    proxy: undefined,
    async close() {
      await service.close(0);
      await engine.close();
    },
  };
}
