/** Help texts that are the same for every run. The build replaces this module by finished strings: .config/finished.ts. */
import { ExitCode } from '../kit/error.ts';
import { defaultOf, GROUPS, type Option } from '../options/option.ts';
import { optionsOf, rowOf } from '../options/rows.ts';
import { HELP, namedCommands, VERSION } from './commands.ts';

const WIDTH = 80;

/** The meaning of each exit status. */
export const STATUSES: Readonly<Record<ExitCode, string>> = {
  [ExitCode.ok]: 'all of it was delivered, or the reader left, or the run was silenced',
  [ExitCode.defect]: 'a defect in tts itself',
  [ExitCode.usage]: 'usage: a bad option, text, config file or value',
  [ExitCode.key]: 'the key: none, refused, or not allowed',
  [ExitCode.quota]: 'rate limit or quota',
  [ExitCode.timeout]: 'timeout',
  [ExitCode.connection]: 'no connection',
  [ExitCode.service]: 'the service: an error, or an answer that is not audio or not complete',
  [ExitCode.output]: 'output: cannot write, no player, or the player failed',
  [ExitCode.partial]: 'a row failed, text was left out, --fallback spoke, or sound is doubtful',
  [ExitCode.hangup]: 'the terminal is gone',
  [ExitCode.interrupted]: 'interrupted',
  [ExitCode.terminated]: 'terminated',
};

/** The lines of `tts help TOPIC`, also in the manual and at the end of the help of a command with the same name. */
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
  exit: Object.entries(STATUSES).map(([status, meaning]) => `${status.padStart(3)}  ${meaning}`),
};

/** Printed by `tts` without arguments on a terminal. Each command works when it is copied. */
export const FIRST_STEPS = [
  'tts speaks any text. To begin with:',
  '  tts "Hello from this machine." -o hello.wav    a file, with the built-in voice',
  '  tts voices                                     natural voices to install',
  '  tts --help                                     all that it can do',
].join('\n');

/** The text of `tts --help`, which fits on a screen of 40 lines. */
export const SHORT_HELP = [
  'Speaks any text: words, files, or what comes through a pipe.',
  '  tts "hello" -o hello.wav             to a file, with the built-in voice',
  '  cat book.txt | tts --play            heard while it is made',
  '  tts -f novel.epub -o novel.mp3       a book, with chapters',
  '',
  'tts [options] [text...]        speak; tts speak ... if the text is a command',
  ...wrap('Commands:', namedCommands(), ' '),
  ...GROUPS.flatMap(grouped),
  `tts speak --help explains them all; ${HELP.flags}; ${VERSION.flags}`,
  ...wrap('tts help TOPIC tells more:', Object.keys(TOPICS)),
].join('\n');

function grouped(title: string): string[] {
  const options = optionsOf('speak')
    .map(rowOf)
    .filter(({ group }) => group === title);
  return [
    `${title}:`,
    ...options.flatMap(({ flags, shortHelp, help }) =>
      shortHelp === undefined ? [] : row(flags, shortHelp === true ? help : shortHelp),
    ),
    ...wrap(
      '  also:',
      options.filter(({ shortHelp }) => shortHelp === undefined).map(({ flags }) => nameOf(flags)),
    ),
  ];
}

function nameOf(flags = ''): string {
  return flags.replace(/ <[^>]*>/g, '');
}

/** The text of `tts speak --help`: all options of a run. */
export const FULL_HELP = [
  'tts speak [options] [text...]',
  '',
  ...optionsOf('speak')
    .map(rowOf)
    .flatMap((option) => [row(option.flags, option.help), ...elsewhere(option)]),
  ...[HELP, VERSION].map(({ flags, help }) => row(flags, help)),
].join('\n');

function row(flags = '', help = ''): string {
  return `  ${flags.padEnd(27)} ${help}`;
}

function elsewhere(option: Option): string[] {
  const { env, envShown = env, key, keyShown = key } = option;
  const unless = defaultOf(option);
  const parts = [envShown, keyShown && `config: ${keyShown}`, unless && `default: ${unless}`];
  const text = parts.filter(Boolean).join('; ');
  return text === '' ? [] : [row('', `  ${text}`)];
}

function wrap(label: string, entries: readonly (string | undefined)[], gap = '  '): string[] {
  const lines = [label];
  for (const entry of entries) {
    if (entry === undefined) continue;
    const longer = `${lines.at(-1)}${gap}${entry}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`    ${entry}`);
  }
  return lines;
}
