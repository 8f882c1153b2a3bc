/** What `tts help TOPIC` says, and the manual with it. The help of a command of the same name ends with it. */
export const TOPICS: Readonly<Record<string, readonly string[]>> = {
  voices: [
    'The built-in voices speak English and need nothing: -s 1 to 5, 11 to 15.',
    'espeak-ng, where it is installed, speaks some hundred languages: -s de.',
    'A natural voice comes with one command: tts voices lists what there is,',
    'tts voices install NAME fetches it, and -s NAME speaks with it.',
    'Servers, programs and models of your own: --engine. A service: --base-url.',
    'tts speakers lists all that can speak here.',
  ],
  books: [
    'tts -f novel.epub -o novel.m4b       one file with chapters (needs ffmpeg)',
    'tts -f novel.epub -o novel.mp3       one file, with nothing installed',
    "tts -f novel.epub --split chapters -o 'novel/{nn} {title}.mp3'",
    'tts -f novel.epub --dry-run          chapters, length, price, what is left out',
    'A stopped run goes on: what was spoken is kept, but for built-in voices.',
    '--chapters 3,5-7 picks, --all reads all, --footnotes read reads notes.',
  ],
  marks: [
    'With --marks, [voice:NAME] changes the voice and [pause:1.5s] is silent.',
    "--voices 'Alice=1,Bob=de,*=2' gives the names of a dialogue their voices.",
    "--pauses 'paragraph=0.5,chapter=2' sets all other silences, in seconds.",
  ],
  config: [
    'Options override environment variables (TTS_...), these override the config',
    'file of the project, and that overrides your own. tts config shows what counts',
    'here, where it comes from, and where your own file lies: JSON or YAML, with keys',
    'such as speaker: cori. tts login keeps the key of a service.',
    'A project may not name programs, keys or services that you do not trust.',
  ],
  exit: [
    '0 all of it was delivered, or the reader left    5 timeout',
    '1 a defect in tts itself                         6 no connection',
    '2 a bad option, text, config file or value       7 the service failed',
    '3 the key: none, refused or not allowed          8 cannot write or play',
    '4 rate limit or quota                            9 in part, or by another voice',
    '9: rows of a batch failed, --keep-going left text out, or --fallback spoke on.',
    'A signal ends a run with 128 and its number. An error says what to do.',
  ],
};

export function topicOf(name: string): string | undefined {
  return Object.hasOwn(TOPICS, name) ? TOPICS[name]?.join('\n') : undefined;
}
