import { NameTemplate, parseShard, type Shard } from '../batch/plan.ts';
import {
  type ColumnNames,
  hasHeader,
  parseColumns,
  type TableKind,
  tableKindOf,
  tableKinds,
} from '../batch/table.ts';
import { usageError } from '../kit/error.ts';
import { visible } from '../kit/words.ts';
import { type LoadedSettings, loadSettings } from '../options/load.ts';
import { assertEncodable, usualEnding } from '../sound/encode/encodings.ts';
import type { CommandLine, Context } from './commands.ts';

/** The checked command line of `tts batch`. */
export interface BatchRequest extends LoadedSettings {
  readonly tables: readonly { readonly name: string; readonly kind: TableKind }[];
  readonly columns: ColumnNames;
  readonly template: NameTemplate;
  readonly shard: Shard | undefined;
}

/** @throws TtsError (usage) */
export async function readBatch({ flags, words }: CommandLine, context: Context): Promise<BatchRequest> {
  const loaded = await loadSettings({ flags }, context);
  const { table, delimiter, columns, shard, output, encode } = loaded.settings;
  const template = output?.value ?? `{id}${usualEnding(encode?.value)}`;
  assertEncodable(template, { encode: encode?.value });
  const request: BatchRequest = {
    ...loaded,
    tables: words.map((name) => ({
      name,
      kind: table?.value ?? kindOf(name, delimiter ? 'csv' : undefined),
    })),
    columns: columns ? parseColumns(columns.value) : new Map(),
    template: new NameTemplate(template),
    shard: shard && parseShard(shard.value),
  };
  assertTogether(request);
  return request;
}

function kindOf(name: string, otherwise: TableKind | undefined): TableKind {
  const kind = tableKindOf(name) ?? otherwise;
  if (kind) return kind;
  throw usageError(
    `what kind of table is ${name === '-' ? 'stdin' : visible(name)}? Its name does not say`,
    `say it: --table ${tableKinds.join('|')}`,
  );
}

function assertTogether({ tables, shard, settings }: BatchRequest): void {
  const { delimiter, check, prune, dryRun, report, approved } = settings;
  if (tables.length === 0)
    throw usageError(
      'no table is given',
      'name one, such as lines.csv, or give it through a pipe: --table csv -',
    );
  if (tables.filter(({ name }) => name === '-').length > 1)
    throw usageError('the table "-" is given twice', 'stdin can be read only once');
  const other = delimiter && tables.find(({ kind }) => !hasHeader(kind));
  if (other)
    throw usageError(
      `--delimiter is for CSV and TSV, and ${visible(other.name)} is ${other.kind.toUpperCase()}`,
      'leave it out, or say what the table is: --table csv',
    );
  if (prune.value && shard)
    throw usageError('--prune and --shard cannot be used together', 'prune in a run of the whole table');
  if (check.value && (prune.value || dryRun.value))
    throw usageError('--check changes nothing', 'leave --prune and --dry-run out, or --check');
  if (approved && !check.value && !report)
    throw usageError('--approved only works with --check or --report', 'add one of them');
  if (report && (check.value || dryRun.value))
    throw usageError(
      '--report needs a run that makes files',
      'leave --check and --dry-run out; a run without work writes the page, too',
    );
}
