import { randomBytes } from 'node:crypto';
import { createEngine } from '../service/engine/create.ts';
import { startService } from '../service/service.ts';
import type { OpenService } from './open-service.ts';

/** The service that the tool carries, on a loopback port of its own, with a key that nobody else learns. */
export async function startBuiltIn(): Promise<OpenService> {
  const key = randomBytes(24).toString('base64url');
  const engine = await createEngine({});
  const service = await startService({ engine, apiKey: key });
  return {
    url: new URL(`${service.url}/tts`),
    key,
    keyOrigin: 'this run',
    proxy: undefined,
    async close() {
      await service.close(0);
      await engine.close();
    },
  };
}
