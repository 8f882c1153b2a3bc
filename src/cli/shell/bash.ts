import type { Entry, Flag } from './catalog.ts';

/** Names come from others: `compgen -W` would run a `$(...)` in them, and `(...)` would glob them. */
export function bash(entries: readonly Entry[]): string {
  return `_tts_speakers() {
  local name
  while IFS= read -r name; do
    printf -v name %q "$name"
    [[ $name == "$cur"* ]] && COMPREPLY+=("$name")
  done < <(tts speakers --names 2>/dev/null)
}
_tts_files() {
  local name form=%q
  compopt -o filenames 2>/dev/null && form=%s
  while IFS= read -r name; do
    printf -v name "$form" "$name"
    COMPREPLY+=("$name")
  done < <(compgen -f -- "$cur")
}
_tts() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} options words
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=\${COMP_WORDS[COMP_CWORD-2]}
  COMPREPLY=()
  case $command in
${entries.map(commandCase).join('\n')}
    *) command=speak; ${variables(entries[0])}; [[ $COMP_CWORD == 1 ]] && words='${entries.map(({ name }) => name).join(' ')}' ;;
  esac
  case $command:$prev in
${entries.flatMap(valueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _tts tts`;
}

function commandCase(entry: Entry): string {
  const further =
    entry.names.length > 0 ? `; [[ $COMP_CWORD -gt 2 ]] && words='${entry.names.join(' ')}'` : '';
  return `    ${entry.name}) [[ $COMP_CWORD == 1 ]] && words=${entry.name} || { ${variables(entry)}${further}; } ;;`;
}

function variables(entry: Entry | undefined): string {
  const options = (entry?.flags ?? []).map(({ long }) => long).join(' ');
  return `options='${options}' words='${entry?.words.join(' ') ?? ''}'`;
}

const COMPLETIONS: Readonly<Record<Flag['takes'], (flag: Flag) => string | undefined>> = {
  nothing: () => undefined,
  text: () => 'return',
  // Bash 3.2 has no compopt, which makes bash quote the names of files.
  file: () => '_tts_files; return',
  speaker: () => '_tts_speakers; return',
  choice: ({ choices }) => `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur")); return`,
};

function valueCases({ name, flags }: Entry): string[] {
  return flags.flatMap((flag) => {
    const completion = COMPLETIONS[flag.takes](flag);
    const spellings = [flag.short, flag.long].filter(Boolean).map((spelling) => `${name}:${spelling}`);
    return completion === undefined ? [] : [`    ${spellings.join('|')}) ${completion} ;;`];
  });
}
