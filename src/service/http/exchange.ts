import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Exchange {
  readonly id: string;
  /** The time by `performance.now()`. */
  readonly begun: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** It aborts when the client leaves or is given up. */
  readonly signal: AbortSignal;
  readonly details: { -readonly [K in Detail]?: NonNullable<RequestRecord[K]> };
  readonly path: string;
  cancel(): void;
}

type Detail = 'speaker' | 'characters' | 'refusal' | 'status';

/** @param closed is called once, when the answer ends */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  closed: (record: RequestRecord) => void,
): Exchange {
  const controller = new AbortController();
  const exchange: Exchange = {
    id: randomUUID(),
    begun: performance.now(),
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
    closed({
      event: 'request',
      id: exchange.id,
      method: request.method ?? '',
      path: exchange.path,
      status: response.headersSent ? response.statusCode : undefined,
      cut: !whole,
      milliseconds: Math.round(performance.now() - exchange.begun),
      ...exchange.details,
    });
  });
  return exchange;
}

/** A target is `/tts?x=1`, `http://host/tts` or, for CONNECT, `host:443`. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target.split('?', 1)[0] ?? '/';
  return /^https?:/i.test(target) && URL.canParse(target) ? new URL(target).pathname : target;
}

/** What the log gets of a request. It holds neither keys nor texts. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  /** It is missing if the bytes were not a request. */
  readonly method?: string;
  readonly path?: string;
  /** It is missing if the client left before the answer. */
  readonly status: number | undefined;
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly speaker?: number;
  /** Code points. */
  readonly characters?: number;
  readonly refusal?: string;
}

interface CallbackRecord {
  readonly event: 'callback';
  readonly id: string;
  readonly origin: string;
  readonly delivered: boolean;
  readonly tries: number;
  readonly reason?: string;
}

/** The words of an engine that clients do not get. */
interface EngineRecord {
  readonly event: 'engine';
  readonly id: string;
  readonly reason: string;
}

interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | EngineRecord | DefectRecord;
export type Log = (record: LogRecord) => void;
