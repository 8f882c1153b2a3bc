import { printable } from '../printable.ts';

interface Circumstances {
  /** Whether only the beginning of the body was read. */
  readonly isCut?: boolean;
  /** The header, which may name the encoding. */
  readonly contentType?: string | undefined;
}

/**
 * What an error body says, as one readable sentence: `{"error":{"code","message"}}`, `{"error":"…"}`,
 * `{"message":"…"}`, `{"detail":"…"}`, FastAPI's `{"detail":[{"loc","msg"}]}`, plain text, or the text of an HTML
 * page. Empty when it says nothing or is no text. A body of which only the beginning was read ends in "…": without that
 * mark nobody could tell that the last word, which may be the key, is half of one.
 */
export function complaint(body: Uint8Array, { isCut = false, contentType }: Circumstances = {}): string {
  if (!isText(body)) return '';
  const said = decoded(body, contentType).trim();
  const text = isCut && said !== '' ? `${said}…` : said;
  return printable(fromJson(text) ?? (looksLikeHtml(text) ? fromHtml(text) : text));
}

/** As UTF-8, unless the service names another encoding that is known here. */
function decoded(bytes: Uint8Array, contentType = ''): string {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Whether bytes may be text in any encoding that goes on with ASCII; escape sequences are. */
export function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

function fromJson(text: string): string | undefined {
  try {
    return sentence(JSON.parse(text)) || undefined;
  } catch {
    return undefined;
  }
}

function sentence(data: unknown): string {
  if (typeof data === 'string') return data;
  if (Array.isArray(data)) return data.map(sentence).filter(Boolean).join('; ');
  if (typeof data !== 'object' || data === null) return '';
  const { error, errors, message, msg, detail, title, description, code, loc, field } = data as Record<
    string,
    unknown
  >;
  const said = [message, msg, detail, error, errors, description, title].map(sentence).find(Boolean) ?? '';
  if (Array.isArray(loc) && loc.length > 0) return `${loc.join('.')}: ${said}`;
  const about = [code, field].filter(
    (part) => typeof part === 'string' && part !== '' && !said.includes(part),
  );
  if (said === '') return about.join(' ');
  return about.length > 0 ? `${said} (${about.join(', ')})` : said;
}

function looksLikeHtml(text: string): boolean {
  return /^<(!doctype|!--|\?xml|[a-z][a-z\d]*[\s/>])/i.test(text);
}

const SIGNS: Readonly<Record<string, string>> = {
  nbsp: ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
};

function fromHtml(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  const text = html
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(
      /&(?:#(\d{1,7}|x[\da-f]{1,6})|(nbsp|lt|gt|quot|apos|amp));/gi,
      (_, number?: string, name = '') =>
        number === undefined
          ? (SIGNS[name.toLowerCase()] ?? '')
          : character(Number(number.replace(/^x/i, '0x'))),
    )
    .replace(/\s+/g, ' ')
    .trim();
  if (!title || text.startsWith(title)) return text || title || '';
  return text ? `${title}: ${text}` : title;
}

function character(number: number): string {
  return number <= 0x10ffff ? String.fromCodePoint(number) : '';
}
