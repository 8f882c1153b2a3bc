import { type Rule, rules } from '../../src/settings/rules.ts';

/** All settings as a table in Markdown, as the README shows it. */
export function settingsTable(): string {
  const rows = Object.values<Rule<unknown>>(rules).map(rowOf);
  return [
    '| option | environment | config key | when nobody says | |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function rowOf({ flags, env, envShown, key, fallback, otherwise, help, userOnly }: Rule<unknown>): string {
  const otherwiseShown = otherwise ?? (typeof fallback === 'boolean' ? '' : String(fallback ?? ''));
  const cells = [
    code(flags),
    code(envShown ?? env),
    code(key),
    otherwiseShown,
    userOnly ? `${help}; your own config only` : help,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
