import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its answer. */
export interface Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the client has left or is given up. */
  readonly signal: AbortSignal;
  /** Entries for the log. */
  readonly details: { -readonly [K in Detail]?: NonNullable<RequestRecord[K]> };
  /** Without the query. */
  readonly path: string;
  cancel(): void;
}

type Detail = 'speaker' | 'characters' | 'refusal' | 'status';

/** @param closed called once, at the end */
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

/** Of `/tts?x=1`, or of a proxy's form `http://host/tts`. A CONNECT has `host:443`. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target.split('?', 1)[0] ?? '/';
  return /^https?:/i.test(target) && URL.canParse(target) ? new URL(target).pathname : target;
}

/** One request in the log, without keys and texts. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  /** Missing, as the path is, if it was no request. */
  readonly method?: string;
  readonly path?: string;
  /** Undefined if the client left before the answer. */
  readonly status: number | undefined;
  /** True if the answer did not end. */
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly speaker?: number;
  /** Code points, as in `--max-text`. */
  readonly characters?: number;
  /** Its code. */
  readonly refusal?: string;
}

interface CallbackRecord {
  readonly event: 'callback';
  readonly id: string;
  readonly origin: string;
  readonly delivered: boolean;
  readonly tries: number;
  /** Why the last try failed. */
  readonly reason?: string;
}

/** Answered with 500. */
interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | DefectRecord;
export type Log = (record: LogRecord) => void;
