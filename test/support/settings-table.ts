import { HELP, VERSION } from '../../src/cli/commands.ts';
import type { CommandEntry } from '../../src/cli/completion.ts';
import { defaultOf, type Option } from '../../src/options/option.ts';
import { names, rowOf } from '../../src/options/rows.ts';

/** All settings as a Markdown table. Four columns fit on a page. */
export function settingsTable(): string {
  const settings = names
    .map(rowOf)
    .filter(({ commands, key, env }) => commands.includes('speak') || key !== undefined || env !== undefined);
  const rows = [...settings.map(rowFor), ...[HELP, VERSION].map(({ flags, help }) => plainRow(flags, help))];
  return ['| option | what | environment, config key | default |', '|---|---|---|---|', ...rows].join('\n');
}

function rowFor(row: Option): string {
  const { flags, env, envShown, key, keyShown = key, help, setBy } = row;
  const places = [...(envShown ?? env ?? '').split(', '), keyShown ?? '']
    .filter(Boolean)
    .map(code)
    .join('<br>');
  const what = setBy === 'user' ? `${help} (in a config file: only in your own)` : help;
  return tableRow([flags === undefined ? '' : code(flags), what, places, defaultOf(row) ?? '']);
}

function plainRow(flags: string, help: string): string {
  return tableRow([code(flags), help, '', '']);
}

/** All commands except speaking, each with the options that speaking does not have. */
export function commandsTable([speak, ...others]: readonly CommandEntry[]): string {
  const shared = new Map(speak?.flags.map(({ long, help }) => [long, help]));
  const rows = others.flatMap(({ name, usage, help, flags }) => [
    tableRow([code(`tts ${name} ${usage}`.trim()), help]),
    ...flags
      .filter((flag) => shared.get(flag.long) !== flag.help)
      .map(({ short, long, value, help: what }) =>
        tableRow([`… ${code([short && `${short}, `, long, value && ` ${value}`].join(''))}`, what]),
      ),
  ]);
  return ['| command | what |', '|---|---|', ...rows].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
