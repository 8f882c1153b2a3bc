import { type Service, type ServiceOptions, startService } from '../../src/service/service.ts';
import { ask, type Question, type Reply } from './ask.ts';
import { ToneEngine } from './tone-engine.ts';

export const KEY = 'a key of the tests';

export interface ToneService {
  readonly engine: ToneEngine;
  readonly service: Service;
  /** `POST /tts` with the key. */
  speak(body: unknown, question?: Question): Promise<Reply>;
  close(): Promise<void>;
}

/** A running service that speaks in tones. */
export async function startToneService(options: Partial<ServiceOptions> = {}): Promise<ToneService> {
  const engine = new ToneEngine();
  const service = await startService({ engine, apiKey: KEY, ...options });
  return {
    engine,
    service,
    speak: (body, { headers, ...rest } = {}) =>
      ask(`${service.url}/tts`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers },
        body,
        ...rest,
      }),
    close: () => service.close(0),
  };
}
