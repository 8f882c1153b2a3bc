import type { IncomingMessage } from 'node:http';
import { EngineError, queueFull } from '../../engine/contract.ts';
import type { Exchange, Log } from './exchange.ts';
import { hasUnreadBody } from './json-body.ts';
import { DEFAULT_RETRY_AFTER, Refusal, refusalOf } from './refusal.ts';

/** A refused body is read up to these bytes and milliseconds, so that its sender sees the answer. */
const DRAIN = { bytes: 16 * 1024 * 1024, time: 5_000 };

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string };
}

export function errorBody({ code, message, field }: Refusal): ErrorBody {
  return { error: { code, message, ...(field !== undefined && { field }) } };
}

export function sendJson({ response }: Exchange, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  response.end(bytes);
}

/** How one interface of the service tells errors. */
export interface ErrorForm {
  /** The value of `WWW-Authenticate` for a request without the right key. */
  readonly challenge: string;
  body(refusal: Refusal): object;
}

/** The errors of `POST /tts` and of all that describes the service. */
export const plainErrors: ErrorForm = { challenge: 'ApiKey header="X-API-KEY"', body: errorBody };

export async function refuse(exchange: Exchange, refusal: Refusal, form: ErrorForm): Promise<void> {
  const { request, response } = exchange;
  const { status } = refusal;
  const body = Buffer.from(JSON.stringify(form.body(refusal)));
  const unread = hasUnreadBody(request);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...(status === 401 && { 'WWW-Authenticate': form.challenge }),
    ...(status === 429 || status === 503 || refusal.retryAfter !== undefined
      ? { 'Retry-After': String(Math.ceil(refusal.retryAfter ?? DEFAULT_RETRY_AFTER)) }
      : {}),
    ...(unread && { Connection: 'close' }),
  });
  response.write(body);
  // A client that waits for "100 Continue" sends no body.
  if (unread && request.headers.expect === undefined) await drain(request);
  response.end();
}

/**
 * Words of an engine may quote its key, and those of a full folder name it. A refusal of a field has the service's own
 * words.
 */
function withoutInnerWords({ status, code, message, field, retryAfter }: Refusal): Refusal {
  const isBusy = status === 429 || status === 503;
  const said = isBusy ? queueFull().message : 'The voice failed; the log of the service says why';
  return new Refusal(status, code, field === undefined ? said : message, { field, retryAfter });
}

/** @returns what the client may know of an error that ended its sound; the log gets the rest */
export function forClient(error: unknown, id: string, { log }: { readonly log: Log | undefined }): unknown {
  if (!(error instanceof EngineError || error instanceof Refusal)) return error;
  const refusal = refusalOf(error);
  const known = withoutInnerWords(refusal);
  if (known.message !== error.message) log?.({ event: 'engine', id, reason: error.message });
  return known;
}

function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = DRAIN.bytes;
    const timer = setTimeout(resolve, DRAIN.time);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left < 0) done();
    });
    request.once('end', done).once('close', done).once('error', done);
    request.resume();
  });
}
