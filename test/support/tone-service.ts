import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Service, type ServiceOptions, startService } from '../../src/serve/service.ts';
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
  /**
   * `POST /tts` with the key, of which the service has read the head. What is returned sends the body, and resolves with
   * all that comes back before the service closes the connection.
   */
  announce(body: object): Promise<() => Promise<string>>;
  close(): Promise<void>;
}

/** A running service that speaks in tones. */
export async function startToneService(options: Partial<ServiceOptions> = {}): Promise<ToneService> {
  const engine = new ToneEngine();
  const service = await startService({ voices: engine, apiKey: KEY, ...options });
  const open = () => connect(Number(new URL(service.url).port), '127.0.0.1');
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
    connect: open,
    announce: (body) => announce(open(), JSON.stringify(body)),
    close: () => service.close(0),
  };
}

async function announce(socket: Socket, json: string): Promise<() => Promise<string>> {
  socket.write(
    `POST /tts HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEY}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n`,
  );
  const [go] = (await once(socket, 'data')) as [Buffer];
  if (!/^HTTP\/1\.1 100 /.test(String(go))) throw new Error(`not asked to go on, but told ${go}`);
  return async () => {
    socket.write(json);
    let answer = '';
    for await (const piece of socket) answer += piece.toString('latin1');
    return answer;
  };
}
