import type { Answer } from './exchange.ts';

/** The body without its content coding. What unpacks it is loaded only where there is one. */
export async function plainBody({ headers, body }: Answer): Promise<AsyncIterable<Uint8Array>> {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding === 'identity' || coding === '') return body;
  const { decompress } = await import('./decompress.ts');
  return decompress(body, coding);
}
