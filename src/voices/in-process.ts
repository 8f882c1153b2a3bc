import type { Espeak } from '../engine/espeak/voices.ts';
import type { NumberedSource } from '../engine/source.ts';
import { openEngines } from '../service/engine-set.ts';
import { randomKey, startService } from '../service/service.ts';
import { type Client, type ClientOptions, openClient } from './client.ts';

export interface InProcess {
  open(options: ClientOptions): Promise<Client>;
  close(): Promise<void>;
}

/** The engines of a run, in a service on a loopback port, with a key of this run. */
export async function startInProcess(
  espeak: Espeak | undefined,
  sources: readonly NumberedSource[],
): Promise<InProcess> {
  const key = randomKey();
  const engine = await openEngines({ espeak, sources });
  const service = await startService({ engine, apiKey: key, tellsEngineWords: true }).catch(async (cause) => {
    await engine.close();
    const { noConnection } = await import('../client/failure.ts');
    throw noConnection(cause, { host: '127.0.0.1', isProxy: false }) ?? cause;
  });
  const endpoint = {
    url: new URL(`${service.url}/tts`),
    name: espeak || sources.length > 0 ? 'the built-in service' : 'the built-in voice',
    key,
    keyOrigin: 'this run',
    isInside: true,
    proxy: undefined,
  };
  return {
    open: (options) => openClient(endpoint, options),
    async close() {
      await service.close(0);
      await engine.close();
    },
  };
}
