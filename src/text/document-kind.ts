interface DocumentKind {
  /** How it begins, in hexadecimal digits. */
  readonly signature: RegExp;
  readonly what: string;
  readonly hint: string;
}

const PANDOC = 'make text of it first, for example with `pandoc -t plain FILE | tts`';

/** What people keep texts in that is no text, though its bytes may well be characters. */
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

/** Bytes of the longest signature. */
const LOOKED_AT = 12;

/** What an input is by its first bytes, where that is known to be no text. */
export function documentKind(start: Uint8Array): DocumentKind | undefined {
  const head = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  return KINDS.find(({ signature }) => signature.test(head));
}
