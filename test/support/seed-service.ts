import { createServer, type IncomingMessage } from 'node:http';
import { listen } from './listen.ts';

/** The body of a request, as the interface has it. */
interface SeedRequest {
  readonly text: string;
  readonly speaker_no: number;
  readonly config?: {
    readonly use_streaming_response?: boolean;
    readonly sample_rate?: number;
    readonly instructions?: string;
  };
  readonly callback_url?: string;
}

export interface SeedService {
  readonly url: string;
  readonly key: string;
  /** The bodies of all requests that it accepted. */
  readonly bodies: SeedRequest[];
  /** What it refused, in its own words. */
  readonly refused: string[];
}

/** The one speaker that does not honour a sample rate. */
export const FIXED_RATE_SPEAKER = -3;
/** The one speaker that it does not have. */
export const UNKNOWN_SPEAKER = 404;

type Check = (value: unknown) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const CONFIG: Readonly<Record<string, Check>> = {
  use_streaming_response: (value) => typeof value === 'boolean',
  sample_rate: (value) => typeof value === 'number' && value >= 8000 && value <= 48_000,
  instructions: (value) => typeof value === 'string',
};

const BODY: Readonly<Record<string, Check>> = {
  text: (value) => typeof value === 'string',
  speaker_no: Number.isInteger,
  config: isObject,
  callback_url: (value) => typeof value === 'string',
};

function faultIn(body: unknown, fields: Readonly<Record<string, Check>>, path = ''): string | undefined {
  if (!isObject(body)) return 'the body is not an object';
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(fields, name)) return `${path}${name} is not allowed`;
    if (!fields[name]?.(value)) return `${path}${name} is not valid`;
  }
  return undefined;
}

function faultOf({ method, url, headers }: IncomingMessage, body: unknown, key: string) {
  if (method !== 'POST' || url !== '/api/tts') return [404, 'there is only POST /tts'] as const;
  if (headers['x-api-key'] !== key) return [401, 'the key is wrong'] as const;
  if (headers['content-type'] !== 'application/json') return [415, 'not JSON'] as const;
  const fault =
    faultIn(body, BODY) ??
    ['text', 'speaker_no']
      .map((name) => (Object.hasOwn(body as object, name) ? undefined : `${name} is missing`))
      .find(Boolean) ??
    ((body as SeedRequest).config && faultIn((body as SeedRequest).config, CONFIG, 'config.'));
  if (fault) return [422, fault] as const;
  if ((body as SeedRequest).speaker_no === UNKNOWN_SPEAKER) return [422, 'no such speaker'] as const;
  return undefined;
}

/** The service of the interface and no more: no list of speakers, and a refusal of all that the interface does not allow. */
export async function serveSeed(): Promise<SeedService> {
  const key = 'the-key-of-the-seed';
  const bodies: SeedRequest[] = [];
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const body = text === '' ? undefined : JSON.parse(text);
    const fault = faultOf(request, body, key);
    if (fault) {
      refused.push(`${request.method} ${request.url}: ${fault[1]}`);
      response.writeHead(fault[0], { 'Content-Type': 'application/json' });
      return void response.end(JSON.stringify({ error: { code: 'invalid', message: fault[1] } }));
    }
    bodies.push(body);
    const { speaker_no: no, config = {} }: SeedRequest = body;
    const rate = no === FIXED_RATE_SPEAKER ? 22_050 : Math.round(config.sample_rate ?? 22_050);
    const pcm = Buffer.from(new Int16Array(rate / 50).fill(1000).buffer);
    const isStreamed = config.use_streaming_response === true;
    const head = wavHead(rate, isStreamed ? 0xffff_ffff : pcm.length);
    response.writeHead(200, {
      'Content-Type': 'audio/wav',
      ...(!isStreamed && { 'Content-Length': head.length + pcm.length }),
    });
    response.write(head);
    response.end(pcm);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/api`, key, bodies, refused };
}

function wavHead(rate: number, bytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(Math.min(bytes + 36, 0xffff_ffff), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}
