import { NameTemplate, parseShard } from '../batch/plan.ts';
import { hasHeader, parseColumns, type TableKind, tableKindOf, tableKinds } from '../batch/table.ts';
import { usageError } from '../kit/error.ts';
import { visible } from '../kit/words.ts';
import { type Flags, resolveSettings } from '../options/load.ts';
import { ENCODINGS } from '../sound/encode/encoding.ts';
import { assertEncodable, usualEnding } from '../sound/encode/encodings.ts';
import type { BatchRequest } from './batch.ts';
import type { CommandLine, Context } from './commands.ts';

export async function run({ flags, words }: CommandLine, context: Context): Promise<number> {
  const {
    table,
    delimiter,
    columns,
    shard,
    check,
    prune,
    yes,
    filesFrom,
    allowEmpty,
    maxFailures,
    report,
    approved,
  } = resolveSettings({ flags });
  const request: BatchRequest = {
    flags,
    tables: words.map((name) => ({
      name,
      kind: table?.value ?? kindOf(name, delimiter ? 'csv' : undefined),
    })),
    delimiter: delimiter?.value,
    columns: columns ? parseColumns(columns.value) : new Map(),
    template: templateOf(flags),
    shard: shard && parseShard(shard.value),
    check: check.value,
    prune: prune.value,
    yes: yes.value,
    filesFrom: filesFrom?.value,
    allowEmpty: allowEmpty.value,
    maxFailures: maxFailures?.value ?? Number.POSITIVE_INFINITY,
    report: report?.value,
    approved: approved?.value,
  };
  assertTogether(request);
  const { batch } = await import('./batch.ts');
  return batch(request, context);
}

function kindOf(name: string, otherwise: TableKind | undefined): TableKind {
  const kind = tableKindOf(name) ?? otherwise;
  if (kind) return kind;
  throw usageError(
    `what kind of table is ${name === '-' ? 'stdin' : visible(name)}? Its name does not say`,
    `say it: --table ${tableKinds.join('|')}`,
  );
}

function assertTogether({
  tables,
  delimiter,
  shard,
  check,
  prune,
  report,
  approved,
  flags,
}: BatchRequest): void {
  if (tables.length === 0)
    throw usageError(
      'no table is given',
      'name one, such as lines.csv, or give it through a pipe: --table csv -',
    );
  if (tables.filter(({ name }) => name === '-').length > 1)
    throw usageError('the table "-" is given twice', 'stdin can be read only once');
  const other = delimiter === undefined ? undefined : tables.find(({ kind }) => !hasHeader(kind));
  if (other)
    throw usageError(
      `--delimiter is for CSV and TSV, and ${visible(other.name)} is ${other.kind.toUpperCase()}`,
      'leave it out, or say what the table is: --table csv',
    );
  if (prune && shard)
    throw usageError('--prune and --shard are given together', 'prune in a run of the whole table');
  if (check && (prune || flags.dryRun))
    throw usageError('--check changes nothing', 'leave --prune and --dry-run out, or --check');
  if (approved !== undefined && !check && report === undefined)
    throw usageError('--approved is given alone', 'add --check or --report');
  if (report !== undefined && (check || flags.dryRun))
    throw usageError(
      '--report needs a run that makes files',
      'leave --check and --dry-run out; a run without work writes the page, too',
    );
}

/** A format that is unknown is refused with all other settings. */
function templateOf({ output, encode }: Flags): NameTemplate {
  const format = ENCODINGS.find((each) => each === encode);
  const template = output === undefined ? `{id}${usualEnding(format)}` : String(output);
  if (encode === undefined || format) assertEncodable(template, { encode: format });
  return new NameTemplate(template);
}
