/** Seconds. */
const SHORTEST_REQUESTED_WAIT = 0.05;

/** The largest number of seconds (RFC 9111, section 1.2.2). */
const LARGEST_SECONDS = 2 ** 31;

interface Headers {
  readonly 'retry-after'?: string | undefined;
  readonly date?: string | undefined;
}

/**
 * Reads a number or a date (RFC 9110, section 10.2.3). The date of the answer counts: the clocks of two machines may differ.
 * @param now milliseconds since 1970, for an answer without a date
 * @returns seconds, at least 0.05
 */
export function retryAfter(headers: Headers, now = Date.now()): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text));
  // All forms of a date are in GMT, and one of them does not say so.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(/\d$/.test(text) ? `${text} GMT` : text) : Number.NaN;
  const sent = Date.parse(headers.date ?? '') || now;
  return Number.isNaN(date) ? undefined : bounded((date - sent) / 1000);
}

function bounded(seconds: number): number {
  return Math.min(LARGEST_SECONDS, Math.max(SHORTEST_REQUESTED_WAIT, seconds));
}
