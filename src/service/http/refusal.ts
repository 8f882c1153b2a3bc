import { EngineError, type EngineFault } from '../../engine/contract.ts';

interface RefusalOptions {
  readonly field?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

/** An answer of the service that is an error. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** It is 400 to 599. `--fault` also takes statuses from 300 on. */
  readonly status: number;
  /** It is in snake_case. */
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, { field, retryAfter }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

const ANSWERS: Readonly<Record<EngineFault, readonly [status: number, code: string]>> = {
  'unsupported text': [422, 'unsupported_text'],
  busy: [503, 'busy'],
  broken: [500, 'engine_failed'],
  failed: [502, 'engine_failed'],
  late: [504, 'engine_late'],
  unreachable: [502, 'engine_unreachable'],
  refused: [502, 'engine_failed'],
  'no storage': [507, 'storage_failed'],
};

/** A busy engine keeps its own status. */
function ofEngine({ kind, message, retryAfter, status: own }: EngineError): Refusal {
  const [status, code] = ANSWERS[kind];
  const field = kind === 'unsupported text' ? 'text' : undefined;
  return new Refusal(kind === 'busy' ? (own ?? status) : status, code, message, { field, retryAfter });
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof EngineError) return ofEngine(error);
  return new Refusal(500, 'internal_error', 'The service failed on this request');
}

export const DEFAULT_HOST = '127.0.0.1';

/** Characters. It is nine hours of speech. */
export const DEFAULT_MAX_TEXT = 500_000;

/** Seconds. */
export const DEFAULT_RETRY_AFTER = 1;

/** What clients may use of the service. Times are in milliseconds. */
export interface Limits {
  /** The largest body of a request, in bytes. */
  readonly body: number;
  readonly connections: number;
  /** Connections of one address without a request. The oldest are closed. */
  readonly idle: number;
  readonly headers: number;
  readonly request: number;
  /** The longest time in which no byte of an answer goes out. */
  readonly stall: number;
  readonly callbacks: number;
  /** The longest time of one try. */
  readonly callbackTry: number;
  /** The wait after the first try. It doubles for each further one. */
  readonly callbackBackoff: number;
}

export const defaultLimits: Limits = {
  body: 1024 * 1024,
  connections: 2048,
  idle: 1024,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};
