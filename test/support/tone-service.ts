import { connect, type Socket } from 'node:net';
import { type Service, type ServiceOptions, startService } from '../../src/service/service.ts';
import { ask, type Question, type Reply } from './ask.ts';
import { ToneEngine } from './tone-engine.ts';

export const KEY = 'a key of the tests';

export interface ToneService {
  readonly engine: ToneEngine;
  readonly service: Service;
  /** `POST /tts` with the key. */
  speak(body: unknown, question?: Question): Promise<Reply>;
  /** What the service says of itself. */
  health(): Promise<unknown>;
  /** A bare connection to the service. */
  connect(): Socket;
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
    health: async () => (await ask(`${service.url}/healthz`)).json,
    connect: () => connect(Number(new URL(service.url).port), '127.0.0.1'),
    close: () => service.close(0),
  };
}
