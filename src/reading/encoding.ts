export interface Encoding {
  /** It is the length of the byte order mark in bytes. */
  readonly mark: number;
  /** @throws TypeError for invalid bytes and an incomplete last character */
  decode(bytes: Uint8Array): string;
  /** Bytes of an incomplete last character. */
  tornTail(bytes: Uint8Array): number;
  /** It gives the index of the first invalid byte or NUL, or -1. */
  firstBad(bytes: Uint8Array): number;
}

export const LONGEST_MARK = 3;

/** Unicode Standard, section 23.8. */
export function detectEncoding(start: Uint8Array): Encoding {
  const [a, b, c] = start;
  if (a === 0xff && b === 0xfe) return utf16('utf-16le');
  if (a === 0xfe && b === 0xff) return utf16('utf-16be');
  return utf8(a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0);
}

const REPLACEMENT = '\ufffd';

function utf8(mark: number): Encoding {
  const { decode, lenient } = decoders('utf-8');
  return {
    mark,
    decode,
    tornTail(bytes) {
      for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
        const byte = bytes[bytes.length - length] ?? 0;
        if (byte >= 0xc0) return length < utf8Length(byte) ? length : 0;
        if (byte < 0x80) return 0;
      }
      return 0;
    },
    firstBad(bytes) {
      let offset = 0;
      for (const character of lenient(bytes)) {
        const isReal = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd;
        if (character === '\0' || (character === REPLACEMENT && !isReal)) return offset;
        offset += Buffer.byteLength(character);
      }
      return -1;
    },
  };
}

/** It gives the bytes of the character, or 1 for a byte that begins none (RFC 3629, section 4). */
function utf8Length(firstByte: number): number {
  if (firstByte < 0xc2 || firstByte > 0xf4) return 1;
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function utf16(label: 'utf-16le' | 'utf-16be'): Encoding {
  const { decode, lenient } = decoders(label);
  const high = label === 'utf-16le' ? 1 : 0;
  const unit = (bytes: Uint8Array, at: number) =>
    ((bytes[at + high] ?? 0) << 8) | (bytes[at + 1 - high] ?? 0);
  return {
    mark: 2,
    decode,
    tornTail(bytes) {
      const odd = bytes.length % 2;
      const last = bytes.length - odd - 2;
      return last >= 0 && (unit(bytes, last) & 0xfc00) === 0xd800 ? odd + 2 : odd;
    },
    firstBad(bytes) {
      const text = lenient(bytes);
      for (let at = 0; at < text.length; at += 1) {
        const character = text[at];
        const isReal = unit(bytes, at * 2) === 0xfffd;
        if (character === '\0' || (character === REPLACEMENT && !isReal)) return at * 2;
      }
      return -1;
    },
  };
}

function decoders(label: string) {
  const strict = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  const lax = new TextDecoder(label, { ignoreBOM: true });
  return {
    decode: (bytes: Uint8Array) => strict.decode(bytes),
    lenient: (bytes: Uint8Array) => lax.decode(bytes),
  };
}
