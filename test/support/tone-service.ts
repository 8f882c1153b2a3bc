import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../../src/engines/engine.ts';
import { aborted } from '../../src/kit/wait.ts';
import { type Service, type ServiceOptions, startService } from '../../src/serve/service.ts';
import type { QueuedUtterance, ServedVoices } from '../../src/serve/speak.ts';
import { bareFormat, type Speech } from '../../src/sound/pcm.ts';
import type { Voice } from '../../src/sound/voice.ts';
import { supportedBy } from '../../src/voices/sources.ts';
import { ask, type Question, type Reply } from './ask.ts';
import { speakerThat } from './speaker.ts';

export const KEY = 'a key of the tests';

export interface ToneService {
  readonly engine: ToneEngine;
  readonly service: Service;
  /** Sends `POST /tts` with the key. */
  speak(body: unknown, question?: Question): Promise<Reply>;
  /** The answer of `GET /healthz`. */
  health(): Promise<unknown>;
  /** Opens a TCP connection to the service. */
  connect(): Socket;
  close(): Promise<void>;
}

const PLAIN = {
  apiKey: KEY,
  host: '127.0.0.1',
  port: 0,
  wyoming: undefined,
  basePath: '',
  maxText: 500_000,
  callbacks: [],
  cors: undefined,
  log: () => {},
  reading: undefined,
  hide: (text: string) => text,
  programs: { env: {}, platform: 'linux' },
} as const;

/** Starts a service that speaks with {@link ToneEngine}. */
export async function startToneService(options: Partial<ServiceOptions> = {}): Promise<ToneService> {
  const engine = new ToneEngine();
  const service = await startService({ ...PLAIN, voices: engine, ...options });
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
    close: () => service.close(0),
  };
}

/** Samples per character. */
export const FRAMES_PER_CHARACTER = 100;

const { voice: tone } = speakerThat(async () => undefined, { kind: 'espeak', sampleRate: 16_000 });

const voices: readonly Voice[] = [1, 2, 3, 4, 5, 11, 12, 13, 14, 15].map((no) => {
  const kind = no < 10 ? 'neo.one' : 'Mermish';
  return { ...tone, no, name: `tone-${no}`, kind, supports: supportedBy(kind), language: 'en-US' };
});

/**
 * Speaks every word as a constant: {@link FRAMES_PER_CHARACTER} samples per character, each with the number of the voice
 * as its value. Some words do more: "slow" takes 50 ms, "stuck" never ends, "crash" throws an error that no engine may
 * throw, "broken" fails with an error of the engine, "full", "mute" and "🔇" are refused at once, "沈黙" after a while.
 */
export class ToneEngine implements ServedVoices {
  readonly all = voices;
  workers = 2;
  queued = 0;
  /** The number of utterances being spoken. */
  active = 0;
  readonly utterances: QueuedUtterance[] = [];
  /** Bytes of sound made so far. */
  made = 0;

  numbered(no: number): Voice | undefined {
    return voices.find((voice) => voice.no === no);
  }

  async speak(utterance: QueuedUtterance, signal: AbortSignal): Promise<Speech> {
    const { sampleRate = 22_050 } = utterance.fields;
    return { format: bareFormat(sampleRate), bytes: undefined, pcm: this.#pcmOf(utterance, signal) };
  }

  async *#pcmOf(utterance: QueuedUtterance, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.utterances.push(utterance);
    if (utterance.text.includes('full')) {
      throw new EngineError('busy', 'Too many requests are waiting', { retryAfter: 3 });
    }
    if (/mute|🔇/u.test(utterance.text)) {
      throw new EngineError('unsupported text', 'Nothing here can be spoken');
    }
    this.active += 1;
    try {
      if (utterance.text.includes('沈黙')) {
        await sleep(50, undefined, { signal });
        throw new EngineError('unsupported text', 'Nothing here can be spoken');
      }
      for (const word of utterance.text.trim().split(/\s+/u)) {
        if (word === 'slow') await sleep(50, undefined, { signal });
        if (word === 'stuck') await aborted(signal).then(() => signal.throwIfAborted());
        if (word === 'broken') throw new EngineError('failed', 'tones: bad key for 7f3a');
        if (word === 'crash') throw new Error('the secret of the engine');
        const sound = new Int16Array(word.length * FRAMES_PER_CHARACTER).fill(utterance.voice.no);
        this.made += sound.byteLength;
        yield new Uint8Array(sound.buffer);
      }
    } finally {
      this.active -= 1;
    }
  }

  async close(): Promise<void> {}
}
