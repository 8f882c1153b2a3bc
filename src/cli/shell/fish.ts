import type { Entry, Flag } from './catalog.ts';

export function fish(entries: readonly Entry[]): string {
  const names = entries.map(({ name }) => name).join(' ');
  return [
    'complete -c tts -f',
    ...entries.map(
      ({ name, help }) => `complete -c tts -n '__fish_is_first_arg' -a ${name} -d ${quotedForFish(help)}`,
    ),
    ...(entries[0]?.flags ?? []).map((flag) =>
      option(flag, `not __fish_seen_subcommand_from ${names.replace('speak ', '')}`),
    ),
    ...entries.slice(1).flatMap(({ name, flags, words, names }) => {
      const condition = `__fish_seen_subcommand_from ${name}`;
      const isBehind = `__fish_seen_subcommand_from ${words.join(' ')}`;
      return [
        ...flags.map((flag) => option(flag, condition)),
        ...offer(names.length > 0 ? `${condition}; and not ${isBehind}` : condition, words),
        ...offer(`${condition}; and ${isBehind}`, names),
      ];
    }),
  ].join('\n');
}

function offer(condition: string, words: readonly string[]): string[] {
  if (words.length === 0) return [];
  return [`complete -c tts -n ${quotedForFish(condition)} -a ${quotedForFish(words.join(' '))}`];
}

const VALUES: Readonly<Record<Flag['takes'], (flag: Flag) => string>> = {
  nothing: () => '',
  text: () => ' -x',
  file: () => ' -r -F',
  speaker: () => " -x -a '(tts speakers --names 2>/dev/null)'",
  choice: ({ choices }) => ` -x -a ${quotedForFish(choices.join(' '))}`,
};

function option(flag: Flag, condition: string): string {
  const short = flag.short === undefined ? '' : ` -s ${flag.short.slice(1)}`;
  const names = `${short} -l ${flag.long.slice(2)}`;
  return `complete -c tts -n ${quotedForFish(condition)}${names}${VALUES[flag.takes](flag)} -d ${quotedForFish(flag.help)}`;
}

function quotedForFish(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
