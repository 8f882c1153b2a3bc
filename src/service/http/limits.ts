/** What one client may take from the others. Times in ms. */
export interface Limits {
  /** Longest body of a request, in bytes. */
  readonly body: number;
  /** Connections open at once; further ones are closed. */
  readonly connections: number;
  /** Time for the headers of a request to arrive. */
  readonly headers: number;
  /** Time for a request to arrive whole. */
  readonly request: number;
  /** Time without a byte going out, while there are some, until the client counts as gone. */
  readonly stall: number;
  /** Callbacks accepted and not delivered yet. */
  readonly callbacks: number;
  /** Time for one try of a callback. */
  readonly callbackTry: number;
  /** Wait before the second try of a callback; it doubles from try to try. */
  readonly callbackBackoff: number;
}

export const defaultLimits: Limits = {
  body: 1024 * 1024,
  connections: 2048,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};
