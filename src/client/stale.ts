const LOSSES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A kept connection was closed by the other side before it answered with a byte: most likely before it read the request. */
export class StaleError extends Error {
  override readonly name = 'StaleError';
}

/** Whether an error is the loss of a connection. */
export function isLoss(error: Error): boolean {
  return LOSSES.has((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Sends again what went over a stale connection, at once: a service may end a connection at the very moment in which a
 * request leaves (RFC 9112, section 9.3.1).
 * @param connections that may be stale, all of them
 */
export async function overAnother<T>(send: () => Promise<T>, connections: number): Promise<T> {
  for (let left = connections; ; left -= 1) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof StaleError)) throw error;
      if (left === 0) throw error.cause;
    }
  }
}
