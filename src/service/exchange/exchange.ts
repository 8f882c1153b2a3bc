import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its answer, from the first header byte to the last byte of the body. */
export interface Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the client has gone, or is not waited for any longer. */
  readonly signal: AbortSignal;
  /** What the log tells about it, beyond what the request line and the answer do. */
  readonly details: { -readonly [K in Detail]?: NonNullable<RequestRecord[K]> };
  /** Path without the query. */
  readonly path: string;
  cancel(): void;
}

type Detail = 'speaker' | 'characters' | 'refusal' | 'status';

/** @param closed called once, when the exchange is over */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  closed: (exchange: Exchange, record: RequestRecord) => void,
): Exchange {
  const start = performance.now();
  const controller = new AbortController();
  const exchange: Exchange = {
    id: randomUUID(),
    request,
    response,
    signal: controller.signal,
    details: {},
    path: pathOf(request.url ?? '/'),
    cancel() {
      controller.abort();
      response.destroy();
    },
  };
  response.setHeader('X-Request-Id', exchange.id);
  response.once('close', () => {
    const whole = response.writableFinished;
    if (!whole) controller.abort();
    closed(exchange, {
      event: 'request',
      id: exchange.id,
      method: request.method ?? '',
      path: exchange.path,
      status: response.headersSent ? response.statusCode : undefined,
      cut: !whole,
      milliseconds: Math.round(performance.now() - start),
      ...exchange.details,
    });
  });
  return exchange;
}

/** Of `/tts?x=1`, or of the form that proxies get: `http://host/tts`. A CONNECT has `host:443` instead. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target.split('?', 1)[0] ?? '/';
  return /^https?:/i.test(target) && URL.canParse(target) ? new URL(target).pathname : target;
}

/** What happened to one request. Never holds a key or a text. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  /** Undefined, as the path is, of what was not understood as a request. */
  readonly method?: string;
  /** Without the query. */
  readonly path?: string;
  /** Of the answer; undefined when the client left before there was one. */
  readonly status: number | undefined;
  /** The client left, or the answer broke, before its end. */
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly speaker?: number;
  /** Length of the text in code points, as `--max-text` counts it. */
  readonly characters?: number;
  /** Code of the refusal. */
  readonly refusal?: string;
}

/** How a callback ended. */
interface CallbackRecord {
  readonly event: 'callback';
  readonly id: string;
  readonly origin: string;
  readonly delivered: boolean;
  readonly tries: number;
  /** Why the last try failed. */
  readonly reason?: string;
}

/** A defect of the service, answered with 500. */
interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | DefectRecord;
export type Log = (record: LogRecord) => void;
