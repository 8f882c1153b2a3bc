import { type Rule, rules } from '../../src/settings/rules.ts';

/** All settings as a table in Markdown, as the README shows it: four columns, so that it fits on a page. */
export function settingsTable(): string {
  const rows = Object.values<Rule<unknown>>(rules).map(rowOf);
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
}: Rule<unknown>): string {
  const places = [...(envShown ?? env ?? '').split(', '), keyShown ?? '']
    .filter(Boolean)
    .map(code)
    .join('<br>');
  const cells = [
    flags === undefined ? '' : code(flags),
    userOnly ? `${help} (in a config file: only in your own)` : help,
    places,
    otherwise ?? (typeof fallback === 'boolean' ? '' : String(fallback ?? '')),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
