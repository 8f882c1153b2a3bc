import type { Answer } from './http-answer.ts';

/** Each takes memory of its own, and nobody means to pack a thing so often: more are one that is not known. */
const MOST_CODINGS = 4;

/** The body without its content codings. What unpacks it is loaded only where there is one. */
export async function plainBody({ headers, body }: Answer): Promise<AsyncIterable<Uint8Array>> {
  const codings = codingsIn(headers['content-encoding'] ?? '');
  if (codings.length === 0) return body;
  const { decompress } = await import('./decompress.ts');
  if (codings.length > MOST_CODINGS) return decompress(body, codings.join(', '));
  // What was done last is undone first.
  return codings.reduceRight(decompress, body);
}

/** In the order in which they were applied (RFC 9110, section 8.4). */
function codingsIn(header: string): string[] {
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== '' && coding !== 'identity');
}
