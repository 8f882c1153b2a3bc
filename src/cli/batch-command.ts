import { Option } from 'commander';
import { NameTemplate, parseShard } from '../batch/plan.ts';
import { parseColumns, type TableKind, tableKindOf, tableKinds } from '../batch/table.ts';
import { usageError } from '../kit/error.ts';
import { nearestName, visible } from '../kit/words.ts';
import type { Flags } from '../options/load.ts';
import type { Name } from '../options/rows.ts';
import { ENCODINGS } from '../sound/encode/encoding.ts';
import { assertEncodable, usualEnding } from '../sound/encode/encodings.ts';
import type { BatchRequest } from './batch.ts';
import { OF_REQUESTS, OF_SOUND, readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';

const ACCEPTED: readonly Name[] = [
  'speaker',
  'format',
  'code',
  'math',
  'footnotes',
  'all',
  'lexicon',
  'maxChars',
  'concurrency',
  'marks',
  'voices',
  ...OF_SOUND,
  'encode',
  'bitrate',
  'dryRun',
  ...OF_REQUESTS.filter((name) => name !== 'stream'),
];

const OWN = [
  new Option(
    '-o, --output <file>',
    'name of each file, with columns in braces: out/{lang}/{id}.mp3 (default: {id}.wav)',
  ),
  new Option('--table <kind>', `what the tables are, whatever their names say: ${tableKinds.join(', ')}`),
  new Option('--columns <field=column,...>', 'columns by other names: id=Filename,text=Text'),
  new Option('--shard <i/n>', 'make one of n parts of the table, from 1: 3/8'),
  new Option('--check', 'send nothing; say what is missing, stale or damaged'),
  new Option('--files-from <folder>', 'also take the texts of the column file from this folder'),
  new Option('--prune', 'delete the files of rows that are no longer in the table; asks before'),
  new Option('--yes', 'let --prune delete without a question'),
  new Option('--allow-empty', 'skip rows without a text, which otherwise count as failed or missing'),
  new Option('--max-failures <n>', 'stop when this many rows have failed'),
  new Option('--report <file.html>', 'write a page to listen to all rows and approve them'),
  new Option(
    '--approved <file.jsonl>',
    'what a report has saved; --check tells which rows it does not approve',
  ),
];

export const describeCommand = () =>
  subcommand(
    'batch',
    'Read a table (CSV, TSV, JSONL, PSV) with columns id and text; write one sound file for each row.',
    ACCEPTED,
    OWN,
  )
    // Required by `assertTogether`: --help needs none.
    .argument('[table...]')
    .usage('[options] <table...>');

export async function run(context: Context): Promise<number> {
  const line = readSubcommand(describeCommand(), context, { most: Number.POSITIVE_INFINITY });
  if (!line) return 0;
  const {
    table,
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
    ...flags
  } = line.flags;
  const request: BatchRequest = {
    flags,
    tables: line.words.map((name) => ({ name, kind: kindOf(name, table as string | undefined) })),
    columns: columns === undefined ? new Map() : parseColumns(String(columns)),
    template: templateOf(flags),
    shard: shard === undefined ? undefined : parseShard(String(shard)),
    check: check === true,
    prune: prune === true,
    yes: yes === true,
    filesFrom: filesFrom as string | undefined,
    allowEmpty: allowEmpty === true,
    maxFailures: maxFailures === undefined ? Number.POSITIVE_INFINITY : count(String(maxFailures)),
    report: report as string | undefined,
    approved: approved as string | undefined,
  };
  assertTogether(request);
  const { batch } = await import('./batch.ts');
  return batch(request, context);
}

function kindOf(name: string, named: string | undefined): TableKind {
  const kind = named === undefined ? tableKindOf(name) : tableKinds.find((each) => each === named);
  if (kind) return kind;
  if (named !== undefined) {
    const nearest = nearestName(named, tableKinds);
    throw usageError(
      `--table: "${visible(named)}" is not a kind of table`,
      `${nearest ? `did you mean ${nearest}? U` : 'u'}se one of ${tableKinds.join(', ')}`,
    );
  }
  throw usageError(
    `what kind of table is ${name === '-' ? 'stdin' : visible(name)}? Its name does not say`,
    `say it: --table ${tableKinds.join('|')}`,
  );
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(
    `--max-failures: "${visible(text)}" is not allowed; expected a whole number from 1`,
    'see tts batch --help',
  );
}

function assertTogether({ tables, shard, check, prune, report, approved, flags }: BatchRequest): void {
  if (tables.length === 0)
    throw usageError(
      'no table is given',
      'name one, such as lines.csv, or give it through a pipe: --table csv -',
    );
  if (tables.filter(({ name }) => name === '-').length > 1)
    throw usageError('the table "-" is given twice', 'stdin can be read only once');
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
  if (encode === undefined || format) assertEncodable(template, format);
  return new NameTemplate(template);
}
