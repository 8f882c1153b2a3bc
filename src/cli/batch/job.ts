import type { ColumnNames } from '../../batch/columns.ts';
import type { NamedTable, PlanOptions } from '../../batch/plan.ts';
import { openRowFolder, type RowFolder } from '../../batch/row-folder.ts';
import type { Shard } from '../../batch/shard.ts';
import { readTable, type TableKind } from '../../batch/table.ts';
import type { NameTemplate } from '../../batch/template.ts';
import { decode } from '../../reading/decode.ts';
import { abortable, openUnchanged } from '../../reading/source.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Flags, Settings } from '../../settings/resolve.ts';
import type { Encoding } from '../../sink/encoding/encoding.ts';
import { bordersOf, mixOf } from '../../speech/cutting.ts';
import { castOf, type Pricing, pricingOf } from '../../speech/job.ts';
import type { Mix } from '../../speech/mix.ts';
import { encodingsOf } from '../../speech/outputs.ts';
import { replacementsOf } from '../../speech/readers.ts';
import { chooseService, type Endpoint } from '../../voices/service-choice.ts';
import type { VoiceShape } from '../../voices/voice.ts';
import { openVoices, type RunVoices } from '../../voices/voices.ts';
import type { Context } from '../context.ts';
import { RowTexts } from './row-text.ts';
import { TextFiles } from './text-files.ts';
import { wishOf } from './wish.ts';

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
  /** Rows without a text are skipped. */
  readonly allowEmpty: boolean;
  readonly maxFailures: number;
  readonly report: string | undefined;
  readonly approved: string | undefined;
}

export interface BatchJob {
  readonly tables: readonly NamedTable[];
  readonly planOptions: PlanOptions;
  readonly folder: RowFolder;
  /** The user names it so. */
  readonly folderName: string;
  readonly shard: Shard | undefined;
  readonly allowEmpty: boolean;
  readonly maxFailures: number;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly pricing: Pricing | undefined;
  readonly mix: Mix;
  encodingOf(file: string): Encoding;
  openTexts(): Promise<RowTexts>;
  readonly rowsAtOnce: number;
  readonly voices: RunVoices;
  /** The service is chosen once, and not by a run without work: that needs no key. */
  chooseService(): Promise<Endpoint | undefined>;
}

/** @throws TtsError (usage) */
export async function resolveBatch(request: BatchRequest, context: Context): Promise<BatchJob> {
  const { host } = context;
  const loaded = await loadSettings(request, context);
  const { settings, files } = loaded;
  let chosen: Promise<Endpoint | undefined> | undefined;
  const service = () => {
    chosen ??= chooseService(settings, { ...context, files });
    return chosen;
  };
  const voices = await openVoices({ settings, service }, context);
  const encodingOf = encodingsOf(settings, context);
  const textFiles = new TextFiles(host, loaded, request.filesFrom);
  return {
    tables: request.tables.map((table) => openTable(table, context)),
    planOptions: {
      columns: request.columns,
      template: request.template,
      shard: request.shard,
      encode: settings.encode?.value,
      voiceOf: async (cells, where) => (await voices.of(wishOf(cells, where))).shape,
      textFileOf: (cell, table) => textFiles.pathOf(cell, table),
    },
    folder: openRowFolder(request.template.fixedFolder, host.cwd),
    folderName: request.template.fixedFolder,
    shard: request.shard,
    allowEmpty: request.allowEmpty,
    maxFailures: request.maxFailures,
    dryRun: settings.dryRun.value,
    json: settings.json.value,
    pricing: pricingOf(settings),
    mix: mixOf(settings),
    encodingOf,
    openTexts: () => openTexts(settings, { encodingOf, voices }, context),
    rowsAtOnce: 2 * settings.concurrency.value,
    voices,
    chooseService: service,
  };
}

async function openTexts(
  settings: Settings,
  { encodingOf, voices }: Pick<BatchJob, 'encodingOf' | 'voices'>,
  context: Context,
): Promise<RowTexts> {
  return new RowTexts({
    settings,
    ...(await replacementsOf(settings, context)),
    cast: await castOf(settings, voices),
    maxChars: settings.maxChars.value,
    ...bordersOf(settings),
    mix: mixOf(settings),
    host: context.host,
    ownerOf: ownersIn(settings),
    encodedAs: (file) => {
      const { name } = encodingOf(file);
      return name === 'wav' ? undefined : [name, settings.bitrate?.value ?? null];
    },
  });
}

function openTable({ name, kind }: BatchRequest['tables'][number], { host, signal }: Context): NamedTable {
  const label = name === '-' ? 'stdin' : name;
  const bytes = name === '-' ? abortable(host.stdin.stream, signal) : openUnchanged(name, host.cwd, signal);
  const hasHeader = kind === 'csv' || kind === 'tsv';
  return { name: label, hasHeader, rows: readTable(decode(bytes, label), kind, label) };
}

/** Manifests name a service by its base URL. */
function ownersIn({ baseUrl }: Settings): (voice: VoiceShape) => string {
  const base = baseUrl?.value.href.replace(/\/$/, '');
  return ({ identity }) => base ?? identity;
}
