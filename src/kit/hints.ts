/**
 * Hints for options and values that people know from other tools.
 * Each new wrong guess becomes a row here.
 */

const LANGUAGE = 'choose a voice that speaks the language: -s de for German; tts speakers lists them all';
const LIST = 'tts speakers lists the voices that can speak here, tts voices those that can be installed';
const SPEED = '--speed 1.5 is how fast it is heard; -r, --sample-rate is a number of Hz, such as 22050';
const GENDER =
  '-s slt is a woman and -s rms a man; tts speakers lists all the others, and -s NAME lets you hear one';
export const SSML = '--marks reads [pause:1s] and [voice:NAME] in a text';

/** Hints for options that `tts`, or the command after which they were typed, does not have. */
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

/** @param complaint the error message of commander, which quotes the option */
export function optionHint(complaint: string): string | undefined {
  return OPTIONS.get(/'(--[\w-]+)[ ']/u.exec(complaint)?.[1] ?? '');
}

/** Hints for wrong values of settings, by their keys in a config file. */
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
  // Any other value may be very long as text.
  if (typeof typed !== 'string' && typeof typed !== 'number') return undefined;
  return VALUES.find((row) => row.key === key && row.value.test(String(typed).trim()))?.hint;
}

/** Hints for texts that were probably meant as a command, or as SSML. */
const TEXTS: readonly { readonly text: RegExp; readonly hint: string }[] = [
  { text: /^version$/u, hint: 'did you mean tts --version?' },
  { text: /^(?:(?:list|show) (?:all )?voices?|voice list)$/u, hint: 'did you mean tts voices?' },
  { text: /^(?:list|show) (?:all )?speakers?$/u, hint: 'did you mean tts speakers?' },
  {
    text: /^(?:install|add|download)(?: an?)? voices?(?: [\w-]+)?$/u,
    hint: 'did you mean tts voices install NAME?',
  },
  { text: /^https?:\/\/\S+$/u, hint: 'curl -s URL | tts speaks the page itself' },
  { text: /^\s*<speak[\s>]/u, hint: `SSML is not read: ${SSML}` },
];

export function textHint(text: string): string | undefined {
  return TEXTS.find((row) => row.text.test(text))?.hint;
}
