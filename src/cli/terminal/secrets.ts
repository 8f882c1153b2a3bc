import { visible } from '../../printable.ts';

/** Shorter ones are hidden only where they stand alone: elsewhere they would tear holes into ordinary words. */
const SHORTEST_ANYWHERE = 4;

/** Shorter ones would be found in ordinary words when spaces do not count. */
const SHORTEST_DISGUISED = 8;

/** How JavaScript's, Python's and Go's libraries write in HTML what has a meaning there. */
const HTML = [
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' },
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#x27' },
  { '&': 'amp', '<': 'lt', '>': 'gt', '"': '#34', "'": '#39' },
] as const;

/** What must never be shown. */
export class Secrets {
  readonly #forms = new Set<string>();

  /** From here on this text is replaced by `***`, wherever it would appear. */
  add(secret: string): void {
    if (secret === '') return;
    const inJson = JSON.stringify(secret).slice(1, -1);
    const inPhp = inJson.replaceAll('/', '\\/');
    const inHtml = HTML.map((names) =>
      secret.replace(/[&<>"']/g, (sign) => `&${names[sign as keyof typeof names]};`),
    );
    for (const form of [secret, encodeURIComponent(secret), inJson, inPhp, ...inHtml]) this.#forms.add(form);
  }

  /** Text without the secrets. */
  redact(text: string): string {
    const safe = [...this.#forms].reduce(
      (rest, secret) => withoutBeginning(without(rest, secret), secret),
      text,
    );
    return [...this.#forms].reduce(withoutDisguised, safe);
  }

  /** JSON without the secrets, which can be parsed whatever they are, and without what would rule a terminal. */
  inJson(value: unknown): string {
    return visible(JSON.stringify(value, (_, item) => (typeof item === 'string' ? this.redact(item) : item)));
  }
}

/** A pattern is made of short ones only: V8 takes none of any length, and tells the whole of it when it refuses. */
function without(text: string, secret: string): string {
  if (secret.length >= SHORTEST_ANYWHERE) return text.replaceAll(secret, '***');
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'gu'), '***');
}

/**
 * Removes a secret with characters in it that do not show, or spaces in their place, and one whose characters are
 * percent-encoded. In linear time.
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

/** The UTF-16 units of a text that show, percent-encoded ones decoded, and where each begins and ends in the text. */
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

/** The service's words are cut when they are long, and a secret that is cut in its midst is still one. */
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
