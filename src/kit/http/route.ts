/** What the server of HTTP is made of: faces with their routes, what a route gets and answers, and the errors that clients see. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { check, type Schema } from '../schema.ts';

/** One interface of a server: its paths, and how it tells errors. */
export interface Face<Context> {
  readonly name: string;
  /** Where its paths begin. An unknown path below it gets an error in its form. */
  readonly prefix: string;
  readonly routes: readonly Route<Context>[];
  /** The key may come as `Authorization: Bearer` and as `api-key`, too. */
  readonly takesBearer: boolean;
  /** `/v1//audio/speech/` is `/v1/audio/speech`. */
  readonly takesMoreSlashes?: true;
  /** What it answers to a body with a wrong value. */
  readonly invalid: { readonly status: number; readonly code: string };
  /** What {@link error} returns. */
  readonly errors: Schema;
  error(error: HttpError): object;
}

export interface Route<Context, Body = unknown> {
  readonly method: 'GET' | 'POST';
  /** It counts from the base path. */
  readonly path: string;
  /** Without it, the description of the server leaves the route out. */
  readonly about?: About;
  /** True if it needs no key. Pages of another origin may use only those that need one. */
  readonly isOpen?: true;
  /** True if it is there without the base path as well. */
  readonly isAnywhere?: true;
  /** For all other requests, nothing is at this path. */
  isFor?(request: Pick<IncomingMessage, 'method' | 'headers'>): boolean;
  /** What checks the body, and describes it. Without it, no body is read. */
  readonly body?: Schema<Body>;
  /** @throws HttpError, and any other error that the server can make one of */
  handle(exchange: Exchange<Body>, context: Context): Reply | Promise<Reply>;
}

/** What a description says of a route besides its body. */
interface About {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The answers that are no errors, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Further members of the operation in OpenAPI, such as `callbacks`. */
  readonly more?: object;
}

export interface Answer {
  readonly description: string;
  /** What each header says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The schema of each media type; `undefined` for bytes. */
  readonly content: Readonly<Record<string, Schema | undefined>>;
}

/** A request that is being answered. */
export interface Exchange<Body = unknown> {
  /** The client gets it as `X-Request-Id`. */
  readonly id: string;
  /** The time by `performance.now()`. */
  readonly begun: number;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** It aborts when the exchange is over: the client left, or has got all of the answer. */
  readonly signal: AbortSignal;
  /** What the log says of it besides. */
  readonly details: Record<string, string | number>;
}

export interface Reply {
  /** By default it is 200. */
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** A stream is read as fast as the client takes it. An error of it breaks the connection. */
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
  /** The field of the request at fault. */
  readonly field?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** It is 400 to 599. */
  readonly status: number;
  /** It is in snake_case. */
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

/** Characters of a client's word that an error quotes. */
const QUOTED = 80;

/** Cuts a word of a client, and replaces halves of surrogate pairs, which UTF-8 does not have. */
export function quotable(word: string): string {
  return word.slice(0, QUOTED).toWellFormed();
}

const NO_OBJECT = { kind: 'wrong', path: '', problem: 'must be an object' } as const;

/** @throws HttpError that names the field */
export function checked<Body>(data: unknown, schema: Schema<Body>, invalid: Face<never>['invalid']): Body {
  // valibot takes a list for an object without fields.
  const result = Array.isArray(data) ? NO_OBJECT : check(schema, data);
  if (!('problem' in result)) return result.value;
  const { kind, path, problem } = result;
  const field = quotable(path) || undefined;
  const code = kind === 'wrong' ? invalid.code : `${kind}_field`;
  const said = { unknown: 'is not a field of the request', missing: 'is missing', wrong: problem }[kind];
  throw new HttpError(invalid.status, code, `${field ?? 'The body'} ${said}`, { field });
}
