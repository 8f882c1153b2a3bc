import { plainWav, speechFormat } from '../unit/sound/wav-builder.ts';
import { type Script, serveBytes } from './byte-server.ts';
import { answer, complete, streamed } from './http-bytes.ts';

/** The body of a request, as the interface defines it. */
interface StrictRequest {
  readonly text: string;
  readonly speaker_no: number;
  readonly config?: {
    readonly use_streaming_response?: boolean;
    readonly sample_rate?: number;
    readonly instructions?: string;
  };
  readonly callback_url?: string;
}

export interface StrictService {
  readonly url: string;
  readonly key: string;
  /** The bodies of all accepted requests. */
  readonly bodies: StrictRequest[];
  /** The messages of all refusals. */
  readonly refused: string[];
}

/** The only speaker that ignores `sample_rate`. */
export const FIXED_RATE_SPEAKER = -3;
/** The only number without a speaker. */
export const UNKNOWN_SPEAKER = 404;

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  speaker_no: Number.isInteger,
  callback_url: (value) => typeof value === 'string',
  config: (value) => value?.constructor === Object,
  'config.use_streaming_response': (value) => typeof value === 'boolean',
  'config.sample_rate': (value) => typeof value === 'number' && value >= 8000 && value <= 48_000,
  'config.instructions': (value) => typeof value === 'string',
};

/** The first field that the interface does not allow, or that is missing. */
function wrongIn(body: StrictRequest): string | undefined {
  const config = Object.entries(body.config ?? {}).map(([name, value]) => [`config.${name}`, value] as const);
  const wrong = [...Object.entries(body), ...config].find(([name, value]) => !FIELDS[name]?.(value));
  return wrong?.[0] ?? ['text', 'speaker_no'].find((name) => !Object.hasOwn(body, name));
}

function soundFor({ speaker_no, config = {} }: StrictRequest): Script {
  const { sample_rate = 22_050, use_streaming_response: isStreamed } = config;
  const sampleRate = speaker_no === FIXED_RATE_SPEAKER ? 22_050 : Math.round(sample_rate);
  const pcm = Buffer.from(new Int16Array(sampleRate / 50).fill(1000).buffer);
  const wav = plainWav(pcm, isStreamed ? 0xffff_ffff : undefined, { ...speechFormat, sampleRate });
  return isStreamed ? streamed(wav) : complete(wav);
}

/**
 * Starts a service with the bare interface: it has no list of speakers, and refuses all that the interface does not define.
 */
export async function serveStrict(): Promise<StrictService> {
  const key = 'the-key-of-the-seed';
  const bodies: StrictRequest[] = [];
  const refused: string[] = [];
  const { url } = await serveBytes((wire, request, number) => {
    const refuse = (status: number, message: string) => {
      refused.push(`${request.method} ${request.path}: ${message}`);
      const error = JSON.stringify({ error: { code: 'invalid', message } });
      return answer(status, error, { 'Content-Type': 'application/json' })(wire, request, number);
    };
    if (request.method !== 'POST' || request.path !== '/api/tts')
      return refuse(404, 'there is only POST /tts');
    if (request.header('X-API-KEY') !== key) return refuse(401, 'the key is wrong');
    const body = request.json as StrictRequest;
    const wrong = wrongIn(body);
    if (wrong) return refuse(422, `${wrong} is not allowed, or missing`);
    if (body.speaker_no === UNKNOWN_SPEAKER) return refuse(422, 'no such speaker');
    bodies.push(body);
    return soundFor(body)(wire, request, number);
  });
  return { url: `${url}/api`, key, bodies, refused };
}
