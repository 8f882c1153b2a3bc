/**
 * What people type who know other tools, and what they name that holds no text: each with the hint that leads on.
 * A wrong guess that somebody makes is one more row here.
 */

const LANGUAGE = 'choose a voice that speaks the language: -s de for German; tts speakers lists them all';
const LIST = 'tts speakers lists the voices that can speak here, tts voices those that can be installed';
const SPEED = '--speed 1.5 is how fast it is heard; -r, --sample-rate is a number of Hz, such as 22050';
const GENDER =
  '-s slt is a woman and -s rms a man; tts speakers lists all the others, and -s NAME lets you hear one';
const SSML = '--marks reads [pause:1s] and [voice:NAME] in a text';

/** Options that `tts`, or the command with which they are typed, does not have. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--voice', 'choose a voice with -s, by name or number: tts speakers lists them'],
  [
    '--voices',
    'tts speakers lists the voices; --voices Alice=anna,Bob=7 gives the lines of a dialogue theirs',
  ],
  ['--list', LIST],
  ['--list-voices', LIST],
  ['--list-speakers', LIST],
  ['--gender', GENDER],
  ['--lang', LANGUAGE],
  ['--language', LANGUAGE],
  ['--rate', SPEED],
  ['--pitch', 'a voice with instructions speaks higher or deeper: -s 11 -i "deeper"'],
  ['--volume', 'a voice with instructions speaks louder or softer: -s 11 -i "louder"'],
  ['--text', 'the text needs no option: tts "Hello"; -f FILE speaks what is in a file'],
  ['--ssml', SSML],
  [
    '--model',
    'a folder with a model is given with --engine FOLDER; the model of a server is set in your own config: "engines": { "kokoro": { "url": "http://127.0.0.1:8880/v1", "model": "kokoro" } }',
  ],
]);

/** @param complaint quotes the option, as commander does */
export function optionHint(complaint: string): string | undefined {
  return OPTIONS.get(/'(--[\w-]+)[ ']/u.exec(complaint)?.[1] ?? '');
}

/** Values of settings, by their keys in a config file. */
const VALUES: readonly { readonly key: string; readonly value: RegExp; readonly hint: string }[] = [
  {
    key: 'format',
    value: /^(?:mp3|wav|ogg|opus|flac|aac|m4a|m4b|pcm)$/iu,
    hint: '--format says how the text is written; the sound has the format of its ending, or of --encode: -o x.mp3',
  },
  { key: 'format', value: /^ssml$/iu, hint: SSML },
  { key: 'sampleRate', value: /^[-+]?\d{1,3}(?:\.\d{1,9})?[%x]?$|^(?:fast|slow)$/iu, hint: SPEED },
  { key: 'input', value: /^/u, hint: '-f FILE speaks what is in a file; a pipe needs no option' },
  { key: 'speaker', value: /^(?:male|female|man|woman)$/iu, hint: GENDER },
];

export function valueHint(key: string | undefined, typed: unknown): string | undefined {
  // Anything else may be endless when it is written out.
  if (typeof typed !== 'string' && typeof typed !== 'number') return undefined;
  return VALUES.find((row) => row.key === key && row.value.test(String(typed).trim()))?.hint;
}

/** Texts of a command line that are likely to be something else. */
const TEXTS: readonly { readonly text: RegExp; readonly hint: string }[] = [
  { text: /^version$/u, hint: 'did you mean tts --version?' },
  { text: /^(?:(?:list|show) (?:all )?voices?|voice list)$/u, hint: 'did you mean tts voices?' },
  { text: /^(?:list|show) (?:all )?speakers?$/u, hint: 'did you mean tts speakers?' },
  {
    text: /^(?:install|add|download)(?: an?)? voices?(?: [\w-]+)?$/u,
    hint: 'did you mean tts voices install NAME?',
  },
  { text: /^\s*<speak[\s>]/u, hint: `SSML is not read: ${SSML}` },
];

export function textHint(text: string): string | undefined {
  return TEXTS.find((row) => row.text.test(text))?.hint;
}

interface Document {
  /** The first bytes in hexadecimal. */
  readonly bytes?: RegExp;
  /** The first characters. */
  readonly begins?: RegExp;
  /** The end of a name. */
  readonly ending?: RegExp;
  readonly what: string;
  /** @param file its name as a shell takes it */
  readonly hint: (file: string) => string;
}

/** The command line of a run replaces the name of its output. */
export const OUTPUT = '-o OUT';

function pandoc(format: string): Document['hint'] {
  return (file) =>
    `make Markdown of it first: \`pandoc -f ${format} -t gfm --wrap=none ${file} | tts --format markdown ${OUTPUT}\``;
}

const DOCUMENTS: readonly Document[] = [
  {
    bytes: /^255044462d/u,
    what: 'a PDF',
    hint: (file) => `make text of it first: \`pdftotext ${file} - | tts ${OUTPUT}\``,
  },
  { bytes: /^7b5c727466/u, what: 'an RTF document', hint: pandoc('rtf') },
  { bytes: /^504b0304/u, what: 'a zip file, as .docx and .odt are', hint: pandoc('docx') },
  {
    bytes: /^1f8b/u,
    what: 'packed',
    hint: (file) => `unpack it first: \`gunzip -c ${file} | tts ${OUTPUT}\``,
  },
  {
    bytes: /^.{120}424f4f4b4d4f4249/u,
    what: 'a book for Kindle (MOBI or AZW)',
    hint: (file) =>
      `make an EPUB of it first: \`ebook-convert ${file} book.epub && tts -f book.epub ${OUTPUT}\``,
  },
  {
    bytes: /^(?:89504e470d0a1a0a|ffd8ff|47494638(?:37|39)61|52494646.{8}57454250)/u,
    what: 'a picture',
    hint: (file) => `find the words in it first: \`tesseract ${file} - | tts ${OUTPUT}\``,
  },
  {
    bytes: /^(?:52494646.{8}57415645|4f67675300|664c614300|4944330[2-4])/u,
    what: 'sound',
    hint: () => 'name a file that holds text',
  },
  {
    begins: /^\s*(?:<\?xml[^>]*>\s*)?<speak[\s>]/u,
    ending: /\.ssml$/iu,
    what: 'SSML',
    hint: (file) =>
      `take its text: \`sed 's/<[^>]*>//g' ${file} | tts ${OUTPUT}\`; ${SSML}, in place of its tags`,
  },
  {
    begins: /^\s*(?:<\?xml[^>]*>\s*)?<FictionBook\b/u,
    ending: /\.fb2$/iu,
    what: 'a FictionBook',
    hint: pandoc('fb2'),
  },
  {
    begins: /^(?:\s|%[^\n]*\n)*\\(?:documentclass|documentstyle|begin\{document\})/u,
    ending: /\.(?:tex|latex|ltx)$/iu,
    what: 'a TeX document',
    hint: pandoc('latex'),
  },
  {
    begins: /^= \S[^\n]*\r?\n(?:[^\n]+\r?\n)?:[\w-]+:/u,
    ending: /\.(?:adoc|asciidoc)$/iu,
    what: 'an AsciiDoc document',
    hint: (file) =>
      `make Markdown of it first: \`asciidoctor -b docbook -o - ${file} | pandoc -f docbook -t gfm --wrap=none | tts --format markdown ${OUTPUT}\``,
  },
  {
    begins: /^\s*\{\s*"(?:cells|nbformat)"\s*:/u,
    ending: /\.ipynb$/iu,
    what: 'a notebook',
    hint: pandoc('ipynb'),
  },
];

/** Bytes that tell a kind of document. */
const LOOKED_AT = 68;

/**
 * @param start the first bytes, as far as they are looked at
 * @param name its ending may tell the kind of document
 */
export function documentOf(start: Uint8Array, name: string): Pick<Document, 'what' | 'hint'> | undefined {
  const head = Buffer.from(start.subarray(0, LOOKED_AT)).toString('hex');
  const text = Buffer.from(start)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/u, '');
  return DOCUMENTS.find(
    ({ bytes, begins, ending }) => bytes?.test(head) || begins?.test(text) || ending?.test(name),
  );
}
