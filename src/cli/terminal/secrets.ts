import { visible } from '../../printable.ts';

/** Shorter secrets are hidden only as whole words: parts of ordinary words would vanish. */
const SHORTEST_ANYWHERE = 4;

/** Shorter secrets would match ordinary words if spaces do not count. */
const SHORTEST_DISGUISED = 8;

/** HTML escapes as libraries of JavaScript, Python and Go write them. */
const HTML = [
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' },
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#x27' },
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': '#34', "'": '#39' },
] as const;

/** Texts that must never be shown. */
export class Secrets {
  readonly #forms = new Set<string>();

  /** From now on `redact` replaces the secret by `***`. */
  add(secret: string): void {
    if (secret === '') return;
    const inJson = JSON.stringify(secret).slice(1, -1);
    const inPhp = inJson.replaceAll('/', '\\/');
    const inHtml = HTML.map((names) =>
      secret.replace(/[&<>"']/g, (sign) => `&${names[sign as keyof typeof names]};`),
    );
    for (const form of [secret, encodeURIComponent(secret), inJson, inPhp, ...inHtml]) this.#forms.add(form);
  }

  redact(text: string): string {
    const safe = [...this.#forms].reduce(
      (rest, secret) => withoutBeginning(without(rest, secret), secret),
      text,
    );
    return [...this.#forms].reduce(withoutDisguised, safe);
  }

  /** Valid JSON without the secrets and without control characters. */
  inJson(value: unknown): string {
    return visible(JSON.stringify(value, (_, item) => (typeof item === 'string' ? this.redact(item) : item)));
  }
}

/** Only short secrets become a pattern: V8 refuses long ones with an error that quotes them. */
function without(text: string, secret: string): string {
  if (secret.length >= SHORTEST_ANYWHERE) return text.replaceAll(secret, '***');
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu'), '***');
}

/**
 * Removes secrets with invisible characters or spaces inside, or percent-encoded. In linear time.
 */
function withoutDisguised(text: string, secret: string): string {
  const plainSecret = undisguised(secret).characters.join('');
  if (plainSecret.length < SHORTEST_DISGUISED) return text;
  const { characters, starts, ends } = undisguised(text);
  const plainText = characters.join('');
  const step = plainSecret.length;
  let safe = '';
  let from = 0;
  for (let at = plainText.indexOf(plainSecret); at >= 0; at = plainText.indexOf(plainSecret, at + step)) {
    safe += `${text.slice(from, starts[at])}***`;
    from = ends[at + step - 1] ?? text.length;
  }
  return safe + text.slice(from);
}

/** The visible UTF-16 units of a text, percent-decoded, with the start and end of each in the text. */
function undisguised(text: string): { characters: string[]; starts: number[]; ends: number[] } {
  const [characters, starts, ends]: [string[], number[], number[]] = [[], [], []];
  for (const { 0: piece, index } of text.matchAll(/%[2-7][\da-f]|[^\s\p{Cc}\p{Cf}]/giu)) {
    const decoded = piece.length === 3 ? String.fromCharCode(Number.parseInt(piece.slice(1), 16)) : piece;
    for (const unit of decoded.split('')) {
      characters.push(unit);
      starts.push(index);
      ends.push(index + piece.length);
    }
  }
  return { characters, starts, ends };
}

/** A long message of a service is cut with `…`, perhaps inside a secret. */
function withoutBeginning(text: string, secret: string): string {
  const pieces = text.split('…');
  const last = pieces.pop() ?? '';
  return [...pieces.map((piece) => withoutEnd(piece, secret)), last].join('…');
}

function withoutEnd(piece: string, secret: string): string {
  for (let length = Math.min(piece.length, secret.length - 1); length >= SHORTEST_ANYWHERE; length--)
    if (piece.endsWith(secret.slice(0, length))) return `${piece.slice(0, -length)}***`;
  return piece;
}
