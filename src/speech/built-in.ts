import { createEngine } from '../service/built-in-engine.ts';
import type { Espeak } from '../service/engine/espeak/voices.ts';
import { identityOf, type NumberedSource } from '../service/engine/external/voice-source.ts';
import { randomKey, startService } from '../service/service.ts';
import type { NamedService } from './service-choice.ts';

/** On a loopback port, with a key of this run. */
export async function startBuiltIn(
  espeak: Espeak | undefined,
  engines: readonly NumberedSource[] = [],
): Promise<NamedService & { close(): Promise<void> }> {
  const key = randomKey();
  const engine = await createEngine({ espeak, engines });
  const service = await startService({ engine, apiKey: key }).catch(async (cause) => {
    await engine.close();
    const { noConnection } = await import('../client/failure.ts');
    throw noConnection(cause, { host: '127.0.0.1', isProxy: false }) ?? cause;
  });
  return {
    url: new URL(`${service.url}/tts`),
    name: espeak || engines.length > 0 ? 'the built-in service' : 'the built-in voice',
    key,
    keyOrigin: 'this run',
    identityOf: (speaker) => identityOf(speaker, engines),
    proxy: undefined,
    async close() {
      await service.close(0);
      await engine.close();
    },
  };
}
