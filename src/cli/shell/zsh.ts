import type { Entry, Flag } from './catalog.ts';

export function zsh(entries: readonly Entry[]): string {
  return `#compdef tts
_tts_speakers() {
  local -a names
  names=(\${(f)"$(tts speakers --names 2>/dev/null)"})
  compadd -a names
}
_tts() {
  local -a commands
  commands=(
${entries.map(({ name, help }) => `    ${quotedForZsh(`${name}:${help}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    return
  fi
  case $words[2] in
${entries.map(commandCase).join('\n')}
    *) ${argumentsOf(entries[0])} ;;
  esac
}
if [[ $funcstack[1] == _tts ]]; then _tts "$@"; else compdef _tts tts; fi`;
}

function commandCase(entry: Entry): string {
  return `    ${entry.name}) shift words; (( CURRENT-- )); ${argumentsOf(entry)} ;;`;
}

function argumentsOf(entry: Entry | undefined): string {
  const words = entry?.words.length ? [quotedForZsh(`1:word:(${entry.words.join(' ')})`)] : ["'*:text: '"];
  const names = entry?.names.length ? [quotedForZsh(`*:name:(${entry.names.join(' ')})`)] : [];
  return ['_arguments -s', ...(entry?.flags ?? []).map(spec), ...words, ...names].join(' ');
}

const ACTIONS: Readonly<Record<Flag['takes'], (flag: Flag) => string>> = {
  nothing: () => '',
  text: ({ long }) => `:${long.slice(2)}: `,
  file: () => ':file:_files',
  speaker: () => ':speaker:_tts_speakers',
  choice: ({ long, choices }) => `:${long.slice(2)}:(${choices.join(' ')})`,
};

function spec(flag: Flag): string {
  const tail = `[${flag.help.replace(/[[\]\\]/g, '\\$&')}]${ACTIONS[flag.takes](flag)}`;
  const assigned = flag.takes === 'nothing' ? '' : '=';
  const repeatable = '*';
  const long = quotedForZsh(`${repeatable}${flag.long}${assigned}${tail}`);
  const short = flag.short && quotedForZsh(`${repeatable}${flag.short}${assigned && '+'}${tail}`);
  return [short, long].filter(Boolean).join(' ');
}

function quotedForZsh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
