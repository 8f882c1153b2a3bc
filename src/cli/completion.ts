import type { Option } from 'commander';
import { ExitCode, usageError } from '../kit/error.ts';
import { choicesOf } from '../kit/schema.ts';
import { isName, rowOf } from '../options/rows.ts';
import { describeCommand, howToSpeak } from './command-line.ts';
import { type CommandLine, type Context, commandOf, commands } from './commands.ts';
import { printLine } from './print.ts';

export async function run({ words: [shell = ''] }: CommandLine, { host }: Context): Promise<number> {
  const script = SCRIPTS[shell];
  if (!script)
    throw usageError(
      'for which shell?',
      `there are: ${Object.keys(SCRIPTS).join(', ')}; ${howToSpeak('tts completion')}`,
    );
  printLine(host.stdout, script(await commandEntries()));
  return ExitCode.ok;
}

export interface Flag {
  readonly short: string | undefined;
  readonly long: string;
  /** The placeholder of the value, as in `<file>`; empty for a switch. */
  readonly value: string;
  readonly takes: 'nothing' | 'file' | 'speaker' | 'choice' | 'text';
  readonly choices: readonly string[];
  readonly help: string;
}

export interface CommandEntry {
  readonly name: string;
  readonly help: string;
  /** The words after the command, as in `[options] [clear]`. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly words: readonly string[];
  /** Names that may follow one of these words. */
  readonly names: readonly string[];
}

/** Describes all commands, `speak` first. */
export async function commandEntries(): Promise<CommandEntry[]> {
  return Promise.all([...commands.keys()].map(entryOf));
}

async function entryOf(name: string): Promise<CommandEntry> {
  const { words = [], load } = commandOf(name);
  const command = describeCommand(name);
  // Names follow only a word of a command, as in `voices install NAME`.
  const names = words.length > 0 ? await (await load()).names?.() : undefined;
  const flags = command.options.filter((option) => !option.hidden).map(flagOf);
  return { name, help: command.description(), usage: command.usage(), flags, words, names: names ?? [] };
}

function flagOf(option: Option): Flag {
  const { short, long, flags, description } = option;
  const name = option.attributeName();
  const choices = isName(name) ? choicesOf(rowOf(name).schema) : undefined;
  const value = /[<[].*$/s.exec(flags)?.[0] ?? '';
  return {
    short,
    long: long ?? '',
    value,
    takes: takenBy(value, choices),
    choices: choices ?? [],
    help: description,
  };
}

function takenBy(value: string, choices: readonly string[] | undefined): Flag['takes'] {
  if (value === '') return 'nothing';
  if (choices) return 'choice';
  if (value.startsWith('<file')) return 'file';
  return value === '<no|name>' ? 'speaker' : 'text';
}

/** The script quotes names, which others choose: `compgen -W` would run a `$(...)` in them, and `(...)` would glob them. */
function bash(entries: readonly CommandEntry[]): string {
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
${entries.map(bashCommandCase).join('\n')}
    *) command=speak; ${bashVariables(entries[0])}; [[ $COMP_CWORD == 1 ]] && words='${entries.map(({ name }) => name).join(' ')}' ;;
  esac
  case $command:$prev in
${entries.flatMap(bashValueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _tts tts`;
}

function bashCommandCase(entry: CommandEntry): string {
  const further =
    entry.names.length > 0 ? `; [[ $COMP_CWORD -gt 2 ]] && words='${entry.names.join(' ')}'` : '';
  return `    ${entry.name}) [[ $COMP_CWORD == 1 ]] && words=${entry.name} || { ${bashVariables(entry)}${further}; } ;;`;
}

function bashVariables(entry: CommandEntry | undefined): string {
  const options = (entry?.flags ?? []).map(({ long }) => long).join(' ');
  return `options='${options}' words='${entry?.words.join(' ') ?? ''}'`;
}

const BASH_COMPLETIONS: Readonly<Record<Flag['takes'], (flag: Flag) => string | undefined>> = {
  nothing: () => undefined,
  text: () => 'return',
  // `_tts_files` quotes file names itself on Bash 3.2, which lacks compopt.
  file: () => '_tts_files; return',
  speaker: () => '_tts_speakers; return',
  choice: ({ choices }) => `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur")); return`,
};

function bashValueCases({ name, flags }: CommandEntry): string[] {
  return flags.flatMap((flag) => {
    const completion = BASH_COMPLETIONS[flag.takes](flag);
    const spellings = [flag.short, flag.long].filter(Boolean).map((spelling) => `${name}:${spelling}`);
    return completion === undefined ? [] : [`    ${spellings.join('|')}) ${completion} ;;`];
  });
}

function fish(entries: readonly CommandEntry[]): string {
  const names = entries.map(({ name }) => name).join(' ');
  return [
    'complete -c tts -f',
    ...entries.map(
      ({ name, help }) => `complete -c tts -n '__fish_is_first_arg' -a ${name} -d ${quotedForFish(help)}`,
    ),
    ...(entries[0]?.flags ?? []).map((flag) =>
      fishOption(flag, `not __fish_seen_subcommand_from ${names.replace('speak ', '')}`),
    ),
    ...entries.slice(1).flatMap(({ name, flags, words, names }) => {
      const condition = `__fish_seen_subcommand_from ${name}`;
      const isBehind = `__fish_seen_subcommand_from ${words.join(' ')}`;
      return [
        ...flags.map((flag) => fishOption(flag, condition)),
        ...fishOffer(names.length > 0 ? `${condition}; and not ${isBehind}` : condition, words),
        ...fishOffer(`${condition}; and ${isBehind}`, names),
      ];
    }),
  ].join('\n');
}

function fishOffer(condition: string, words: readonly string[]): string[] {
  if (words.length === 0) return [];
  return [`complete -c tts -n ${quotedForFish(condition)} -a ${quotedForFish(words.join(' '))}`];
}

const FISH_VALUES: Readonly<Record<Flag['takes'], (flag: Flag) => string>> = {
  nothing: () => '',
  text: () => ' -x',
  file: () => ' -r -F',
  speaker: () => " -x -a '(tts speakers --names 2>/dev/null)'",
  choice: ({ choices }) => ` -x -a ${quotedForFish(choices.join(' '))}`,
};

function fishOption(flag: Flag, condition: string): string {
  const short = flag.short === undefined ? '' : ` -s ${flag.short.slice(1)}`;
  const names = `${short} -l ${flag.long.slice(2)}`;
  return `complete -c tts -n ${quotedForFish(condition)}${names}${FISH_VALUES[flag.takes](flag)} -d ${quotedForFish(flag.help)}`;
}

function quotedForFish(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

/** The script quotes names of speakers, which others choose: PowerShell inserts a completion as it is given. */
function powershell(entries: readonly CommandEntry[]): string {
  return `Register-ArgumentCompleter -Native -CommandName tts -ScriptBlock {
  param($word, $ast, $cursor)
  $commands = [ordered]@{
${entries.map(({ name, help }) => `    ${quotedForPowerShell(name)} = ${quotedForPowerShell(help)}`).join('\n')}
  }
  $options = @{
${entries.map(({ name, flags }) => `    ${quotedForPowerShell(name)} = [ordered]@{ ${flags.map(powershellRow).join('; ')} }`).join('\n')}
  }
  $words = @{
${entries.map(({ name, words }) => `    ${quotedForPowerShell(name)} = @(${words.map(quotedForPowerShell).join(', ')})`).join('\n')}
  }
  $names = @{
${entries.map(({ name, names }) => `    ${quotedForPowerShell(name)} = @(${names.map(quotedForPowerShell).join(', ')})`).join('\n')}
  }
  $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  $command = if ($typed.Count -gt 1 -and $commands.Contains($typed[1])) { $typed[1] } else { 'speak' }
  $previous = $typed[-1]
  function Offer($text, $help) {
    $quoted = if ($text -match '^[-\\w.]+$') { $text } else {
      "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
    }
    if ($text -like "$word*" -or $quoted -like "$word*") {
      [System.Management.Automation.CompletionResult]::new($quoted, $text, 'ParameterValue', $help)
    }
  }
  if ($previous -cin @(${powershellSpellings(entries, 'speaker')})) { tts speakers --names 2>$null | ForEach-Object { Offer $_ $_ }; return }
  if ($previous -cin @(${powershellSpellings(entries, 'file')})) { return }
  if ($word -like '-*') { $options[$command].GetEnumerator() | ForEach-Object { Offer $_.Key $_.Value }; return }
  if ($typed.Count -eq 1) { $commands.GetEnumerator() | ForEach-Object { Offer $_.Key $_.Value }; return }
  if ($typed.Count -gt 2 -and $names[$command].Count -gt 0) { $names[$command] | ForEach-Object { Offer $_ $_ }; return }
  $words[$command] | ForEach-Object { Offer $_ $_ }
}`;
}

function powershellRow({ long, help }: Flag): string {
  return `${quotedForPowerShell(long)} = ${quotedForPowerShell(help || long)}`;
}

function powershellSpellings(entries: readonly CommandEntry[], takes: Flag['takes']): string {
  const flags = entries.flatMap((entry) => entry.flags.filter((flag) => flag.takes === takes));
  const all = flags.flatMap(({ short, long }) => (short === undefined ? [long] : [short, long]));
  return [...new Set(all)].map(quotedForPowerShell).join(', ');
}

function quotedForPowerShell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function zsh(entries: readonly CommandEntry[]): string {
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
${entries.map(zshCommandCase).join('\n')}
    *) ${zshArguments(entries[0])} ;;
  esac
}
if [[ $funcstack[1] == _tts ]]; then _tts "$@"; else compdef _tts tts; fi`;
}

function zshCommandCase(entry: CommandEntry): string {
  return `    ${entry.name}) shift words; (( CURRENT-- )); ${zshArguments(entry)} ;;`;
}

function zshArguments(entry: CommandEntry | undefined): string {
  const words = entry?.words.length ? [quotedForZsh(`1:word:(${entry.words.join(' ')})`)] : ["'*:text: '"];
  const names = entry?.names.length ? [quotedForZsh(`*:name:(${entry.names.join(' ')})`)] : [];
  return ['_arguments -s', ...(entry?.flags ?? []).map(zshSpec), ...words, ...names].join(' ');
}

const ZSH_ACTIONS: Readonly<Record<Flag['takes'], (flag: Flag) => string>> = {
  nothing: () => '',
  text: ({ long }) => `:${long.slice(2)}: `,
  file: () => ':file:_files',
  speaker: () => ':speaker:_tts_speakers',
  choice: ({ long, choices }) => `:${long.slice(2)}:(${choices.join(' ')})`,
};

function zshSpec(flag: Flag): string {
  const tail = `[${flag.help.replace(/[[\]\\]/g, '\\$&')}]${ZSH_ACTIONS[flag.takes](flag)}`;
  const assigned = flag.takes === 'nothing' ? '' : '=';
  const repeatable = '*';
  const long = quotedForZsh(`${repeatable}${flag.long}${assigned}${tail}`);
  const short = flag.short && quotedForZsh(`${repeatable}${flag.short}${assigned && '+'}${tail}`);
  return [short, long].filter(Boolean).join(' ');
}

function quotedForZsh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const SCRIPTS: Readonly<Record<string, (entries: readonly CommandEntry[]) => string>> = {
  bash,
  zsh,
  fish,
  powershell,
};
