/** In characters; of what is longer the beginning is shown. */
const LONGEST = 200;

/**
 * What stands in a config file, or was said elsewhere, as a message shows it: in quotes, not endless, and without the
 * password and the query of an address. A list or an object is only called that, since a few lines of YAML, each naming
 * the one before ten times, would take minutes to write down.
 */
export function quoted(data: unknown): string {
  // YAML has numbers that JSON has no words for.
  if (typeof data === 'number') return String(data);
  if (Array.isArray(data)) return 'a list';
  if (data instanceof Date) return 'a date';
  if (typeof data === 'object' && data !== null) return 'an object';
  const shown = JSON.stringify(data)
    .replace(/^"([a-z][a-z\d+.-]*:\/\/)?.*@/i, '"$1***@')
    .replace(/(:\/\/[^"?#]*[?#]).*"$/, '$1***"');
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…"` : shown;
}
