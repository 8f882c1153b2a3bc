/** The parts of an HTTP server: its APIs with their routes, requests and replies, and the errors that clients see. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { check, type Schema } from '../schema.ts';

/** One of the APIs that a server offers, such as OpenAI's: its routes, and the form of its errors. */
export interface HttpApi<Context> {
  readonly name: string;
  /** The prefix of its paths. Unknown paths with this prefix get an error in the form of this API. */
  readonly prefix: string;
  readonly routes: readonly Route<Context>[];
  /** True if the key is accepted as `Authorization: Bearer` and as `api-key`, in addition to `X-API-KEY`. */
  readonly takesBearer: boolean;
  /** True if extra slashes are ignored: `/v1//audio/speech/` means `/v1/audio/speech`. */
  readonly takesMoreSlashes?: true;
  /** The error for a body with a wrong value. */
  readonly invalid: { readonly status: number; readonly code: string };
  /** The schema of what {@link error} returns. */
  readonly errors: Schema;
  /** @returns the body of an error */
  error(error: HttpError): object;
}

export interface Route<Context, Body = unknown> {
  readonly method: 'GET' | 'POST';
  /** The path after the base path. */
  readonly path: string;
  /** The description for OpenAPI; a route without it is left out there. */
  readonly about?: About;
  /** True if the route needs no key. Pages of other origins may use only routes that need one. */
  readonly isOpen?: true;
  /** True if the route also exists without the base path. */
  readonly isAnywhere?: true;
  /** @returns false for requests that get 404 at this path */
  isFor?(request: Pick<IncomingMessage, 'method' | 'headers'>): boolean;
  /** The schema that checks the body and describes it. Without it, no body is read. */
  readonly body?: Schema<Body>;
  /** @throws HttpError, or an error that `errorOf` of the server turns into one */
  handle(exchange: Exchange<Body>, context: Context): Reply | Promise<Reply>;
}

/** The description of a route, except for its body. */
interface About {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The answers other than errors, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Further fields of the OpenAPI operation, such as `callbacks`. */
  readonly more?: object;
}

export interface Answer {
  readonly description: string;
  /** The headers with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The schemas by media type; `undefined` for bytes. */
  readonly content: Readonly<Record<string, Schema | undefined>>;
}

/** A request that is being answered. */
export interface Exchange<Body = unknown> {
  /** A UUID, sent to the client as `X-Request-Id`. */
  readonly id: string;
  /** When the request began, by `performance.now()`. */
  readonly begun: number;
  /** The request target: path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Aborts when the exchange is over: the client left, or has received the whole answer. */
  readonly signal: AbortSignal;
  /** Further fields of the log entry. */
  readonly details: Record<string, string | number>;
}

export interface Reply {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** A stream is read as fast as the client accepts it. If it throws, the connection is closed. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export function json(value: object, { status = 200, headers }: Omit<Reply, 'body'> = {}): Reply {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  };
}

interface HttpErrorOptions {
  /** The field of the request that is wrong. */
  readonly field?: string | undefined;
  /** Seconds for the header `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** 400 to 599. */
  readonly status: number;
  /** In snake_case. */
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, { field, retryAfter }: HttpErrorOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/** UTF-16 units of a client's input that an error quotes. */
const MOST_QUOTED = 80;

/** Cuts a client's input for a quotation, and replaces lone surrogates, which UTF-8 cannot encode. */
export function quotable(word: string): string {
  return word.slice(0, MOST_QUOTED).toWellFormed();
}

const NOT_AN_OBJECT = { kind: 'wrong', path: '', problem: 'must be an object' } as const;

/** Checks a body. @throws HttpError that names the field */
export function checked<Body>(data: unknown, schema: Schema<Body>, invalid: HttpApi<never>['invalid']): Body {
  // valibot accepts a list as an object without fields.
  const result = Array.isArray(data) ? NOT_AN_OBJECT : check(schema, data);
  if (!('problem' in result)) return result.value;
  const { kind, path, problem } = result;
  const field = quotable(path) || undefined;
  const code = kind === 'wrong' ? invalid.code : `${kind}_field`;
  const said = { unknown: 'is not a field of the request', missing: 'is missing', wrong: problem }[kind];
  throw new HttpError(invalid.status, code, `${field ?? 'The body'} ${said}`, { field });
}
