import { type TtsError, usageError } from '../error.ts';
import { detectEncoding, type Encoding, LONGEST_MARK } from './encoding.ts';

/**
 * UTF-8, or UTF-16 with a byte order mark. CRLF becomes LF.
 * @param name a file or "stdin", for errors
 * @throws TtsError (usage) with the offset of the first byte that is not text, or with the kind of document
 */
export async function* decode(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  let held = '';
  for await (const characters of decodeCharacters(bytes, name)) {
    const text = held + characters;
    held = text.endsWith('\r') ? '\r' : '';
    const whole = text.slice(0, text.length - held.length).replaceAll('\r\n', '\n');
    if (whole !== '') yield whole;
  }
  if (held !== '') yield held;
}

/**
 * Line ends stay.
 * @throws TtsError (usage)
 */
export function decodeAll(bytes: Uint8Array, name: string): string {
  const encoding = detectEncoding(bytes);
  const offset = encoding.mark;
  return decodeWhole(bytes.subarray(offset), { encoding, offset, name });
}

async function* decodeCharacters(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  let torn: Uint8Array = new Uint8Array();
  let encoding: Encoding | undefined;
  let offset = 0;
  for await (const piece of bytes) {
    let data = torn.length === 0 ? piece : Buffer.concat([torn, piece]);
    torn = data;
    if (encoding === undefined) {
      if (data.length < leastBytes(data)) continue;
      assertNoDocument(data, name);
      encoding = detectEncoding(data);
      offset = encoding.mark;
      data = data.subarray(offset);
    }
    const whole = data.subarray(0, data.length - encoding.tornTail(data));
    yield decodeWhole(whole, { encoding, offset, name });
    torn = data.slice(whole.length);
    offset += whole.length;
  }
  if (encoding === undefined) assertNoDocument(torn, name);
  encoding ??= detectEncoding(torn);
  const skip = offset === 0 ? encoding.mark : 0;
  yield decodeWhole(torn.subarray(skip), { encoding, offset: offset + skip, name });
}

function leastBytes(start: Uint8Array): number {
  if (start[0] !== 0x3c) return LONGEST_MARK;
  const isComment = Buffer.from(start.subarray(0, 4)).equals(Buffer.from('<!--'));
  return isComment ? COMMENTED_HTML_BYTES : HTML_BYTES;
}

function assertNoDocument(start: Uint8Array, name: string): void {
  const kind = documentKind(start, name);
  if (kind) throw usageError(`${name} is not text: it is ${kind.what}`, kind.hint);
}

interface Place {
  readonly encoding: Encoding;
  /** In the whole input. */
  readonly offset: number;
  readonly name: string;
}

function decodeWhole(bytes: Uint8Array, place: Place): string {
  try {
    const text = place.encoding.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch (cause) {
    throw notText(bytes, place, cause);
  }
  throw notText(bytes, place);
}

function notText(bytes: Uint8Array, { encoding, offset, name }: Place, cause?: unknown): TtsError {
  const at = encoding.firstBad(bytes);
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
  return usageError(
    `${name} is not text: byte 0x${byte} at offset ${offset + at}`,
    howToConvert(bytes, at, encoding),
    cause,
  );
}

const CONVERT = 'convert it to UTF-8 first, for example with `iconv -f WINDOWS-1252 -t UTF-8`';

function howToConvert(bytes: Uint8Array, at: number, { mark, tornTail }: Encoding): string {
  if (mark === 2) return 'the byte order mark says UTF-16, but the file is damaged or cut off';
  if (at + tornTail(bytes) === bytes.length)
    return `it ends within a character: if it is not cut off, ${CONVERT}`;
  if (bytes[at] !== 0) return CONVERT;
  const everySecond = bytes[at + 2] === 0 && bytes[at + 1] !== 0;
  if (!everySecond) return 'it looks like a binary file: give text in UTF-8';
  const label = at % 2 === 1 ? 'UTF-16LE' : 'UTF-16BE';
  return `it looks like UTF-16 without a byte order mark: try \`iconv -f ${label} -t UTF-8\``;
}

interface DocumentKind {
  /** In hexadecimal. */
  readonly signature: RegExp;
  readonly what: string;
  readonly hint: string;
}

const PANDOC = 'make text of it first, for example with `pandoc -t plain FILE | tts`';

const KINDS: readonly DocumentKind[] = [
  {
    signature: /^255044462d/,
    what: 'a PDF',
    hint: 'make text of it first, for example with `pdftotext FILE - | tts`',
  },
  { signature: /^7b5c727466/, what: 'an RTF document', hint: PANDOC },
  { signature: /^504b0304/, what: 'a zip file, as .docx, .odt and .epub are', hint: PANDOC },
  { signature: /^1f8b/, what: 'packed', hint: 'unpack it first: `gunzip -c FILE | tts`' },
  {
    signature: /^(?:52494646.{8}57415645|4f67675300|664c614300|4944330[2-4])/,
    what: 'sound',
    hint: 'name a file that holds text',
  },
];

const LOOKED_AT = 12;

const HTML_BYTES = 64;
const COMMENTED_HTML_BYTES = 1024;
const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/is;

const HTML_KIND: Omit<DocumentKind, 'signature'> = {
  what: 'HTML',
  hint: 'make text of it first, for example with `pandoc -f html -t plain FILE | tts`',
};

function documentKind(start: Uint8Array, name: string): Omit<DocumentKind, 'signature'> | undefined {
  const text = Buffer.from(start.subarray(0, COMMENTED_HTML_BYTES)).toString('latin1');
  if (HTML.test(text) || /\.x?html?$/i.test(name)) return HTML_KIND;
  const head = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  return KINDS.find(({ signature }) => signature.test(head));
}
