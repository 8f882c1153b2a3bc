import { FILE, HELP, VERSION } from '../../src/cli/command-line.ts';
import type { Entry } from '../../src/cli/completion.ts';
import { type Rule, rules } from '../../src/options/rows.ts';

/** All settings as a table in Markdown: four columns, so that it fits on a page. */
export function settingsTable(): string {
  const rows = [FILE, ...Object.values<Omit<Rule<unknown>, 'kind'>>(rules), HELP, VERSION].map(rowOf);
  return ['| option | what | environment, config key | default |', '|---|---|---|---|', ...rows].join('\n');
}

function rowOf({
  flags,
  env,
  envShown,
  key,
  keyShown = key,
  fallback,
  otherwise,
  help,
  userOnly,
}: Omit<Rule<unknown>, 'kind'>): string {
  const places = [...(envShown ?? env ?? '').split(', '), keyShown ?? '']
    .filter(Boolean)
    .map(code)
    .join('<br>');
  return tableRow([
    flags === undefined ? '' : code(flags),
    userOnly ? `${help} (in a config file: only in your own)` : help,
    places,
    otherwise ?? (typeof fallback === 'boolean' ? '' : String(fallback ?? '')),
  ]);
}

/** All commands besides speaking, each with the options that it does not share with speaking. */
export function commandsTable([speak, ...others]: readonly Entry[]): string {
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
