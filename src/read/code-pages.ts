/** Guesses the encoding of old text files. */
import { isUtf8 } from 'node:buffer';
import { decodeAll } from './decode.ts';

export interface Decoded {
  readonly text: string;
  /** What the user should know about the decoding: a sentence without a full stop. */
  readonly remark: string | undefined;
}

/**
 * Decodes a whole file: as UTF-8, UTF-16, or else the code page whose letters fit best.
 * @param name of the file, for errors
 * @throws TtsError (usage) for bytes that are not text
 */
export function decodeLegacy(bytes: Uint8Array, name: string): Decoded {
  const [a, b] = bytes;
  const hasMark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const wide = hasMark ? undefined : wideWithoutMark(bytes);
  if (wide) return { text: decoded(bytes, wide), remark: undefined };
  // NUL is not text in any code page, so the strict decoder reports it.
  if (hasMark || bytes.includes(0) || isUtf8(bytes))
    return { text: decodeAll(bytes, name), remark: undefined };
  const damaged = decoded(bytes, 'utf-8');
  const lost = damaged.split('\ufffd').length - 1;
  const others = damaged.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  if (others > lost * VALID_PER_LOST)
    return {
      text: damaged.replaceAll('\ufffd', ''),
      remark: `${name} has ${lost} bytes that are not text; they are left out`,
    };
  const label = codePageOf(bytes);
  return { text: decoded(bytes, label), remark: `${name} is not UTF-8, and was read as ${label}` };
}

/** A damaged UTF-8 text has at least this many valid characters beyond ASCII per invalid one. */
const VALID_PER_LOST = 10;

function decoded(bytes: Uint8Array, label: string): string {
  // Without `stream`, Node 20 decodes Windows-1252 as ISO 8859-1.
  return new TextDecoder(label).decode(bytes, { stream: label === 'windows-1252' });
}

/** Detects UTF-16 by its zero bytes: most characters in times and markup have one. */
function wideWithoutMark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = bytes.length / 10;
  if (odd > many && even * 4 < odd) return 'utf-16le';
  return even > many && odd * 4 < even ? 'utf-16be' : undefined;
}

/** Double-byte encodings. Correctly decoded, at least this share of the characters beyond ASCII are frequent ones. */
const DOUBLE_BYTES: readonly (readonly [label: string, least: number, frequent: RegExp])[] = [
  ['shift_jis', 0.4, /[\u3041-\u309f\u30a1-\u30fe]/gu],
  ['euc-jp', 0.4, /[\u3041-\u309f\u30a1-\u30fe]/gu],
  ['euc-kr', 0.7, /[\uac00-\ud7a3]/gu],
  ['gb18030', 0.1, /[的一是不了我你在有人这他们来到大说就那要会着看没好么吗什吧个为道]/gu],
  ['big5', 0.1, /[的一是不了我你在有人這他們來到大說就那要會著看沒好麼嗎什吧個為道]/gu],
];

function codePageOf(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes).toString('latin1');
  const high = raw.match(/[\x80-\xff]/gu)?.length ?? 0;
  const double = DOUBLE_BYTES.map(([label, least, frequent]) => {
    const text = decoded(bytes, label);
    const all = text.match(/[^\0-\x7f]/gu)?.length ?? 1;
    const wrong = text.match(/[\ufffd\ue000-\uf8ff]/gu)?.length ?? 0;
    const share = ((text.match(frequent)?.length ?? 0) - 5 * wrong) / all;
    return { label, excess: share / least };
  });
  const best = double.reduce((one, other) => (other.excess > one.excess ? other : one));
  if (best.excess >= 1) return best.label;
  // Words in other alphabets consist of such bytes; Latin words have them between ASCII letters.
  const inWords = (raw.match(/[\x80-\xff]{3,}/gu) ?? []).join('').length;
  return inWords > high / 2 ? alphabetOf(raw) : latinOf(raw);
}

/** Tells alphabets apart by their most frequent bytes. */
function alphabetOf(raw: string): string {
  const count = (letters: RegExp) => raw.match(letters)?.length ?? 0;
  const letters = count(/[\xc0-\xff]/gu);
  // Hebrew has no capitals, and only direction marks above 0xFA.
  if (count(/[\xc0-\xdf\xfb\xfc\xff]/gu) === 0 && count(/[\xee\xe9\xe5\xe4\xec]/gu) > 0.3 * letters)
    return 'windows-1255';
  // Alef and lam make up a quarter of an Arabic text.
  if (count(/[\xc7\xe1]/gu) > 0.2 * letters) return 'windows-1256';
  // The Greek letters alpha, omicron, iota, epsilon, tau and sigma.
  if (
    count(/[\xe1\xef\xe9\xe5\xf4\xf3\xf2\xdc\xdd\xde\xdf\xfc\xfd\xfe]/gu) > 0.45 * letters &&
    count(/[\xe0\xc0]/gu) < 0.03 * letters
  )
    return 'windows-1253';
  if (count(/[\xa1-\xdf]/gu) > count(/[\xe0-\xff]/gu)) {
    if (
      count(/[\xd0-\xdf]/gu) + count(/[\xb0-\xcf]/gu) > 0.8 * count(/[\x80-\xff]/gu) &&
      count(/[\xe0-\xef]/gu) > 0.15 * letters
    )
      return 'iso-8859-5';
    return count(/[\xa1-\xbf]/gu) > 0.25 * count(/[\x80-\xff]/gu) ? 'windows-874' : 'koi8-r';
  }
  return 'windows-1251';
}

/**
 * Letters of Turkish; of Polish, Czech, Slovak, Slovenian, Croatian and Romanian (signs in Western texts); of Hungarian.
 */
const TURKISH = /[\xdd\xde\xf0\xfd\xfe]/gu;
const CENTRAL = /[\x8a\x8d-\x8f\x9a\x9d-\x9f\xa3\xa5\xaa\xb3\xb9\xba\xbc\xbe\xfe]|\x9c(?!u)|\xbf(?=[a-z])/gu;
const HUNGARIAN = /[\xf5\xfb]/gu;

function latinOf(raw: string): string {
  const count = (letters: RegExp) => raw.match(letters)?.length ?? 0;
  const letters = count(/[\x8a\x8c-\x8f\x9a\x9c-\x9f\xa3\xa5\xaa\xb3\xb9\xba\xbc\xbe-\xff]/gu);
  if (count(/\xfd/gu) > 0.15 * letters && count(TURKISH) > 0.4 * letters) return 'windows-1254';
  const isHungarian =
    count(HUNGARIAN) > 0.03 * letters && count(/\xe1/gu) > 0.1 * letters && count(/[\xe3\xe7]/gu) === 0;
  return isHungarian || count(CENTRAL) > 0.08 * letters ? 'windows-1250' : 'windows-1252';
}
