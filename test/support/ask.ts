import { Agent, request } from 'undici';

/** Keeps no connections: a server might close a kept one just when the next request is sent. */
const dispatcher = new Agent({ pipelining: 0 });

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the contents of the answer
  readonly json: any;
}

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are sent unchanged, everything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Sends an HTTP request, and reads its answer to the end. */
export async function ask(
  url: string,
  { method = 'GET', headers = {}, body, signal }: Question = {},
): Promise<Reply> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  const answer = await request(url, {
    dispatcher,
    method,
    headers: { ...headers },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  const json = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
  return { status: answer.statusCode, headers: answer.headers, bytes, json };
}
