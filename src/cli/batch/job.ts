import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ColumnNames } from '../../batch/columns.ts';
import type { NamedTable, PlanOptions } from '../../batch/plan.ts';
import { RowFolder } from '../../batch/row-folder.ts';
import type { Shard } from '../../batch/shard.ts';
import { readTable, type TableKind } from '../../batch/table.ts';
import type { NameTemplate } from '../../batch/template.ts';
import type { RequestFields } from '../../client/request.ts';
import { assertUnlinked } from '../../files/own-file.ts';
import { unwritable } from '../../files/writable.ts';
import { decode } from '../../reading/decode.ts';
import { abortable, openUnchanged } from '../../reading/source.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Flags, Settings } from '../../settings/resolve.ts';
import {
  cacheBytesOf,
  cutsParagraphs,
  fieldsOf,
  limitsOf,
  type Pricing,
  pricingOf,
  type RunPlan,
} from '../../speech/job.ts';
import { stagesOf } from '../../speech/readers.ts';
import { chooseService } from '../../voices/service-choice.ts';
import type { Context } from '../context.ts';
import { RowTexts } from './row-text.ts';
import { TextFiles } from './text-files.ts';
import { RowVoices } from './voices.ts';

export interface BatchRequest {
  readonly flags: Flags;
  readonly tables: readonly { readonly name: string; readonly kind: TableKind }[];
  readonly columns: ColumnNames;
  readonly template: NameTemplate;
  readonly shard: Shard | undefined;
  readonly check: boolean;
  readonly prune: boolean;
  /** `--prune` deletes without a question. */
  readonly yes: boolean;
  readonly filesFrom: string | undefined;
  readonly maxFailures: number;
  readonly report: string | undefined;
}

export interface BatchJob {
  readonly tables: readonly NamedTable[];
  readonly planOptions: PlanOptions;
  readonly folder: RowFolder;
  /** The user names it so. */
  readonly folderName: string;
  readonly shard: Shard | undefined;
  readonly maxFailures: number;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly pricing: Pricing | undefined;
  readonly paragraphPause: number;
  openTexts(): Promise<RowTexts>;
  /** A run without work needs no service. */
  chooseTarget(): Promise<Target>;
}

interface Target extends Pick<RunPlan, 'service' | 'espeak' | 'sources' | 'limits' | 'cacheBytes'> {
  readonly fields: Omit<RequestFields, 'speaker'>;
}

/** @throws TtsError (usage) */
export async function resolveBatch(request: BatchRequest, context: Context): Promise<BatchJob> {
  const { host } = context;
  const loaded = await loadSettings(request, context);
  const { settings, files } = loaded;
  const voices = new RowVoices(settings, context);
  const textFiles = new TextFiles(host, loaded, request.filesFrom);
  return {
    tables: request.tables.map((table) => openTable(table, context)),
    planOptions: {
      columns: request.columns,
      template: request.template,
      shard: request.shard,
      voiceOf: (cells, where) => voices.of(cells, where),
      textFileOf: (cell, table) => textFiles.pathOf(cell, table),
    },
    folder: openFolder(request.template.fixedFolder, host),
    folderName: request.template.fixedFolder,
    shard: request.shard,
    maxFailures: request.maxFailures,
    dryRun: settings.dryRun.value,
    json: settings.json.value,
    pricing: pricingOf(settings),
    paragraphPause: settings.paragraphPause.value,
    async openTexts() {
      const shape = { identity: identityOf(settings), paragraphPause: settings.paragraphPause.value };
      return new RowTexts({
        settings,
        stages: await stagesOf(settings, context),
        maxChars: settings.maxChars.value,
        cutsParagraphs: cutsParagraphs(settings),
        host,
        ...shape,
      });
    },
    async chooseTarget() {
      const service = await chooseService(settings, { ...context, files });
      const { espeak } = voices;
      const sources = [...voices.sources];
      const cacheBytes = cacheBytesOf(settings, service, sources);
      const { speaker: _, ...fields } = fieldsOf(settings, 0);
      return { service, espeak, sources, limits: limitsOf(settings), cacheBytes, fields };
    },
  };
}

function openTable({ name, kind }: BatchRequest['tables'][number], { host, signal }: Context): NamedTable {
  const label = name === '-' ? 'stdin' : name;
  const bytes = name === '-' ? abortable(host.stdin.stream, signal) : openUnchanged(name, host.cwd, signal);
  return { name: label, rows: readTable(decode(bytes, label), kind, label) };
}

function identityOf({ baseUrl }: Settings): string {
  return baseUrl ? baseUrl.value.href.replace(/\/$/, '') : 'built-in';
}

/** @throws TtsError (usage) for a link, and for a file in its place */
function openFolder(name: string, { cwd }: Context['host']): RowFolder {
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw unwritable(path, Object.assign(new Error('not a folder'), { code: 'ENOTDIR' }));
  return new RowFolder(path);
}
