/** Shorter ones are hidden only where they stand alone: elsewhere they would tear holes into ordinary words. */
const SHORTEST_ANYWHERE = 4;

/** What must never be shown. */
export class Secrets {
  readonly #patterns = new Map<string, RegExp>();

  /** From here on this text is replaced by `***`, wherever it would appear. */
  add(secret: string): void {
    if (secret === '') return;
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
      this.#patterns.set(form, patternOf(form));
  }

  /** Text without the secrets. */
  redact(text: string): string {
    return [...this.#patterns].reduce(
      (safe, [secret, pattern]) => withoutBeginning(safe.replace(pattern, '***'), secret),
      text,
    );
  }

  /** JSON without the secrets: whatever they are, it can be parsed. */
  inJson(value: unknown): string {
    return JSON.stringify(value, (_, item) => (typeof item === 'string' ? this.redact(item) : item));
  }
}

function patternOf(secret: string): RegExp {
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return secret.length < SHORTEST_ANYWHERE
    ? new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu')
    : new RegExp(literal, 'gu');
}

/** The service's words are cut when they are long, and a secret that is cut in its midst is still one. */
function withoutBeginning(text: string, secret: string): string {
  if (!text.includes('…')) return text;
  let safe = text;
  for (let length = secret.length - 1; length >= SHORTEST_ANYWHERE; length--)
    safe = safe.replaceAll(`${secret.slice(0, length)}…`, '***…');
  return safe;
}
