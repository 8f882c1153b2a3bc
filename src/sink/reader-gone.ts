/** What the system, or Node in its place, says when nobody reads any more. */
const SAID = new Set(['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** Whether writing failed because the reader has left, which ends a run quietly. */
export function isReaderGone(error: Error): boolean {
  return SAID.has((error as NodeJS.ErrnoException).code ?? '');
}
