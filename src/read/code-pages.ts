import { decodeAll } from './decode.ts';

export interface Decoded {
  readonly text: string;
  /** What is to be said of it: a sentence without a full stop. */
  readonly remark: string | undefined;
}

/**
 * The text of a whole file, whatever its encoding: UTF-8, UTF-16, or else the code page by whose letters it reads best.
 * @param name of the file, for errors
 * @throws TtsError (usage) for bytes that are no text
 */
export function decodeLegacy(bytes: Uint8Array, name: string): Decoded {
  const [a, b] = bytes;
  const hasMark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const wide = hasMark ? undefined : wideWithoutMark(bytes);
  if (wide) return { text: decoded(bytes, wide), remark: undefined };
  // What has a NUL is no text in any code page, and the error says so.
  if (hasMark || bytes.includes(0) || isUtf8(bytes))
    return { text: decodeAll(bytes, name), remark: undefined };
  const damaged = decoded(bytes, 'utf-8');
  const lost = damaged.split('\ufffd').length - 1;
  const others = damaged.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  if (others > lost * MOST_LOST)
    return {
      text: damaged.replaceAll('\ufffd', ''),
      remark: `${name} has ${lost} bytes that are not text; they are left out`,
    };
  const label = codePageOf(bytes);
  return { text: decoded(bytes, label), remark: `${name} is not UTF-8, and was read as ${label}` };
}

/** A damaged text has this many whole characters beyond ASCII for each that is lost. */
const MOST_LOST = 10;

function decoded(bytes: Uint8Array, label: string): string {
  return new TextDecoder(label).decode(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Most signs of times and markup have a zero byte in UTF-16. */
function wideWithoutMark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = bytes.length / 10;
  if (odd > many && even * 4 < odd) return 'utf-16le';
  return even > many && odd * 4 < even ? 'utf-16be' : undefined;
}

/** The characters that are most frequent in each script with double bytes. They tell a right reading from a wrong one. */
const DOUBLE_BYTES: Readonly<Record<string, RegExp>> = {
  shift_jis: /[\u3041-\u309f\u30a1-\u30fe]/gu,
  'euc-jp': /[\u3041-\u309f\u30a1-\u30fe]/gu,
  'euc-kr': /[\uac00-\ud7a3]/gu,
  gb18030: /[的一是不了我你在有人这他们来到大说就那要会着看没好么吗什吧个为道]/gu,
  big5: /[的一是不了我你在有人這他們來到大說就那要會著看沒好麼嗎什吧個為道]/gu,
};
/** The share of them among the characters beyond ASCII. */
const LEAST_FREQUENT: Readonly<Record<string, number>> = {
  shift_jis: 0.4,
  'euc-jp': 0.4,
  'euc-kr': 0.7,
  gb18030: 0.1,
  big5: 0.1,
};

/** Bytes of letters that tell the languages of central Europe and Turkish from those of the west, which have them rarely. */
const CENTRAL =
  /[\x8a\x8c-\x8f\x9a\x9c-\x9f\xa3\xa5\xaf\xb3\xb9\xbf\xc6\xca\xcc\xcf\xd1-\xd2\xd8\xd9\xe3\xe6\xe8\xea\xec\xef\xf1-\xf2\xf5\xf8\xf9\xfb]/gu;
const WESTERN =
  /[\xe0\xe2\xe4\xe5\xe7\xe8\xe9\xea\xeb\xec\xee\xef\xf1\xf2\xf3\xf4\xf6\xf8\xf9\xfb\xfc\xdf\xc4\xd6\xdc]/gu;
const TURKISH = /[\xdd\xde\xf0\xfd\xfe]/gu;

function codePageOf(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes).toString('latin1');
  const high = raw.match(/[\x80-\xff]/gu)?.length ?? 0;
  const double = Object.entries(DOUBLE_BYTES).map(([label, frequent]) => {
    const text = decoded(bytes, label);
    const all = text.match(/[^\0-\x7f]/gu)?.length ?? 1;
    const wrong = text.match(/[\ufffd\ue000-\uf8ff]/gu)?.length ?? 0;
    const share = ((text.match(frequent)?.length ?? 0) - 5 * wrong) / all;
    return { label, excess: share / (LEAST_FREQUENT[label] ?? 1) };
  });
  const best = double.reduce((one, other) => (other.excess > one.excess ? other : one));
  if (best.excess >= 1) return best.label;
  // Words of other alphabets consist of such bytes; Latin ones have them between letters of ASCII.
  const inWords = (raw.match(/[\x80-\xff]{3,}/gu) ?? []).join('').length;
  return inWords > high / 2 ? alphabetOf(raw) : latinOf(raw);
}

/** The letters of each alphabet are most frequent in other bytes. */
function alphabetOf(raw: string): string {
  const count = (letters: RegExp) => raw.match(letters)?.length ?? 0;
  const letters = count(/[\xc0-\xff]/gu);
  // Hebrew has no letter below 0xE0, and none above 0xFA.
  if (
    count(/[\xe0-\xfa]/gu) > 0.97 * letters &&
    count(/[\xee\xe9\xe5\xe4\xec]/gu) > 0.4 * letters &&
    count(/[\xfb-\xff]/gu) === 0
  )
    return 'windows-1255';
  // Arabic: alef and lam are a quarter of a text.
  if (count(/[\xc7\xe1]/gu) > 0.2 * letters) return 'windows-1256';
  // Greek: alpha, omicron, iota, epsilon, tau and sigma.
  if (
    count(/[\xe1\xef\xe9\xe5\xf4\xf3\xf2\xdc\xdd\xde\xdf\xfc\xfd\xfe]/gu) > 0.6 * letters &&
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

function latinOf(raw: string): string {
  const count = (letters: RegExp) => raw.match(letters)?.length ?? 0;
  const [central, western, turkish] = [count(CENTRAL), count(WESTERN), count(TURKISH)];
  if (turkish > 0.25 * (western + turkish)) return 'windows-1254';
  return central > western ? 'windows-1250' : 'windows-1252';
}
