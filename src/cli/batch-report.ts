import { closeSync, createReadStream, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { isBatchFile, type ManifestEntry, type RowStates } from '../batch/manifest.ts';
import type { BatchRow } from '../batch/plan.ts';
import { assertTextWritable, writeText } from '../batch/row-files.ts';
import { readTable } from '../batch/table.ts';
import { digestIn } from '../kit/checksum.ts';
import { usageError } from '../kit/error.ts';
import { writing } from '../kit/folders.ts';
import { assertUnlinked, isSameFile, realOf } from '../kit/guard.ts';
import { countOf, escaped } from '../kit/words.ts';
import { decode } from '../read/decode.ts';
import { openFile } from '../read/source.ts';
import { secondsOf } from '../sound/pcm.ts';
import { readWav } from '../sound/wav.ts';
import type { BatchOutput, RowResult } from './batch-output.ts';
import template from './batch-report.html?raw';
import type { Context } from './commands.ts';

const STATES: readonly RowResult[] = ['failed', 'made', 'unchanged', 'skipped'];
const NOT_REACHED = 'not reached';

/**
 * Checks the place of the report before anything is sent.
 * @throws TtsError (output), (usage) for a link, for a file that the batch reads or writes, and for one that is not a report
 */
export function assertReportPlace(
  name: string,
  { plan, folder, tables }: Pick<RowStates, 'plan' | 'folder'> & { readonly tables: readonly string[] },
  host: Context['host'],
): void {
  const { cwd } = host;
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  const old = writing(name, () => statSync(path, { throwIfNoEntry: false }));
  const isReport = !old || writing(name, () => mayBeReport(path, old));
  const inFolder = relative(realOf(folder.path) ?? folder.path, realOf(path) ?? path)
    .split(sep)
    .join('/');
  const isWritten = isBatchFile(inFolder) || plan.hasFile(inFolder);
  const read = [...tables, ...plan.rows.flatMap(({ textFile }) => textFile ?? [])];
  const isOld = (other: string) =>
    old && isSameFile(old, statSync(resolve(cwd, other), { throwIfNoEntry: false }));
  if (isWritten || read.some(isOld))
    throw usageError(`--report ${name}: this batch reads or writes that file`, 'choose another name');
  if (!isReport)
    throw usageError(`--report ${name}: that file is not a report`, 'choose another name, or remove it');
  assertTextWritable({ path, name, writer: host });
}

/** False for a file that no report replaces, such as a lexicon, a config file or a WAV. */
function mayBeReport(path: string, stats: Stats): boolean {
  if (!stats.isFile() || stats.size === 0) return true;
  const start = Buffer.alloc(PAGE_START.length);
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, start) === start.length && start.toString('latin1') === PAGE_START;
  } finally {
    closeSync(fd);
  }
}

interface Reported {
  readonly states: RowStates;
  readonly output: BatchOutput;
  readonly approvals: Approvals | undefined;
}

/**
 * Writes the report, with failed rows first. After an interruption, it has no waveforms, since these take time.
 * @throws TtsError (output)
 */
export async function writeReport(
  name: string,
  { states, output, approvals }: Reported,
  { host, notices, signal }: Context,
): Promise<void> {
  const path = resolve(host.cwd, name);
  const { plan, folder } = states;
  const counts = STATES.map((state) => `${output.counts[state]} ${state}`);
  const left = plan.mine.filter((row) => output.resultOf(row) === undefined).length;
  if (left > 0) counts.push(`${left} ${NOT_REACHED}`);
  const table = plan.rows[0]?.table ?? '';
  async function* rows(): AsyncGenerator<ReportRow> {
    for (const isFailed of [true, false])
      for (const row of plan.mine) if ((output.resultOf(row) === 'failed') === isFailed) yield reportRow(row);
  }
  async function reportRow(row: BatchRow): Promise<ReportRow> {
    const { id, text, textFile, speaker, file } = row;
    const sound = folder.pathOf(file);
    const error = output.messageOf(row);
    const isThere = statSync(sound, { throwIfNoEntry: false })?.isFile();
    // A waveform is drawn only for WAV.
    const wave = isThere && (await waveForm(sound, signal).catch(() => undefined));
    const state = output.resultOf(row) ?? NOT_REACHED;
    const isCurrent = isThere && (state === 'made' || state === 'unchanged');
    const entry = isCurrent ? states.entryOf(row) : undefined;
    const approval = entry && { id, key: entry.key, sha256: entry.sha256 };
    // Others may get to see the page, and a table or a service may quote the key.
    return {
      id: notices.redactOwn(id),
      text: notices.redactOwn(text ?? relative(host.cwd, textFile ?? '')),
      speaker: String(speaker.voice.no),
      state,
      approval: approval && { ...approval, id: notices.redactOwn(id) },
      isApproved: approval && approvals && !approvals.faultOf(approval),
      error: error && notices.redact(error),
      ...(isThere && { file: relative(dirname(path), sound).split(sep).join('/'), ...wave }),
    };
  }
  const until = signal.aborted ? new AbortController().signal : signal;
  const summary = `${countOf(plan.mine.length, 'row')}: ${counts.join(', ')}.`;
  const filters = ['all', ...STATES, ...(left > 0 ? [NOT_REACHED] : []), 'not checked'];
  const page = reportPage({ title: table, summary, filters }, rows());
  await writeText({ path, name, writer: host }, page, until);
}

interface ReportHead {
  readonly title: string;
  readonly summary: string;
  /** States of rows by which the page can filter, and 'all' and 'not checked'. */
  readonly filters: readonly string[];
}

interface ReportRow {
  readonly id: string;
  readonly text: string;
  readonly speaker: string;
  readonly state: string;
  readonly file?: string | undefined;
  readonly seconds?: number | undefined;
  /** The waveform: peaks from 0 to 255. */
  readonly peaks?: Uint8Array | undefined;
  readonly error?: string | undefined;
  /** Set if the file holds the current sound of this text. Only such a row can be approved. */
  readonly approval?: Approval | undefined;
  readonly isApproved?: boolean | undefined;
}

/** The first characters of each report. */
const PAGE_START = '<!doctype html>';

/** The page loads nothing from other addresses. The browser lays out only visible rows, so that ten thousand stay fast. */
async function* reportPage(
  { title, summary, filters }: ReportHead,
  rows: AsyncIterable<ReportRow>,
): AsyncGenerator<string> {
  const choices = filters.map(
    (state, at) =>
      `<label><input type="radio" name="state" value="${escaped(state)}"${at === 0 ? ' checked' : ''}>${escaped(state)}</label>`,
  );
  const values: Readonly<Record<string, string>> = {
    title: escaped(title),
    summary: escaped(summary),
    filters: choices.join(''),
    style: digestIn(template, 'style'),
    script: digestIn(template, 'script'),
  };
  const [before = '', after] = template.split('{{rows}}');
  yield before.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  for await (const row of rows) yield rowHtml(row);
  yield after ?? '';
}

function rowHtml(row: ReportRow): string {
  const { id, text, speaker, state, file, seconds, peaks, error, approval, isApproved } = row;
  const name = escaped(id);
  const form = peaks && Buffer.from(peaks).toString('base64');
  const canvas = form && `<canvas width="200" height="32" data-peaks="${form}" aria-hidden="true"></canvas>`;
  const address = file?.split('/').map(encodeURIComponent).join('/');
  const play = address
    ? `<button data-file="${escaped(address)}" aria-label="Play ${name}">▶</button>${canvas ?? ''}`
    : '<span class="none">no sound</span>';
  const length = seconds === undefined ? '' : `${seconds.toFixed(1)} s`;
  const fault = error === undefined ? '' : `<p class="error">${escaped(error)}</p>`;
  const approved = approval
    ? ` data-line="${escaped(JSON.stringify(approval))}"${isApproved ? ' data-approved' : ''}`
    : '';
  return `<li tabindex="-1" data-state="${escaped(state)}"${approved}><span class="play">${play}</span><b class="id">${name}</b><span class="text" dir="auto">${escaped(text)}</span><span class="speaker">${escaped(speaker)}</span><span class="length">${length}</span><span class="state">${escaped(state)}</span><label class="ok"><input type="checkbox"${approval ? '' : ' disabled'} aria-label="${name} is checked"> ok</label>${fault}</li>
`;
}

const COLUMNS = 100;
const LOUDEST = 255;

interface WaveForm {
  readonly seconds: number;
  /** The peak of each hundredth, 0 to 255. Empty unless samples have 16 bits. */
  readonly peaks: Uint8Array;
}

async function waveForm(path: string, signal: AbortSignal): Promise<WaveForm> {
  const total = statSync(path).size;
  const { format, pcm } = await readWav(createReadStream(path, { signal }));
  const peaks = new Uint8Array(format.bitsPerSample === 16 ? COLUMNS : 0);
  let offset = 0;
  for await (const piece of pcm) {
    if (peaks.length > 0) addPeaks(peaks, piece, { offset, total });
    offset += piece.length;
  }
  return { seconds: secondsOf(format, offset), peaks };
}

function addPeaks(
  peaks: Uint8Array,
  piece: Uint8Array,
  { offset, total }: { offset: number; total: number },
): void {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
  for (let at = 0; at + 1 < piece.length; at += 2) {
    const column = Math.min(COLUMNS - 1, Math.floor(((offset + at) / total) * COLUMNS));
    const loudness = Math.round((Math.abs(view.getInt16(at, true)) / 32_768) * LOUDEST);
    if (loudness > (peaks[column] ?? 0)) peaks[column] = loudness;
  }
}

/** A sound that a person has listened to and approved. The key covers the text and the voice. */
type Approval = Pick<ManifestEntry, 'id' | 'key' | 'sha256'>;

/** The approvals in a file that a report has saved. A row may have several: any of them counts. */
export class Approvals {
  readonly #byId = new Map<string, Approval[]>();

  /** @throws TtsError (usage) for a file that cannot be read or that no report has saved */
  static async read(name: string, { host, signal }: Pick<Context, 'host' | 'signal'>): Promise<Approvals> {
    const approvals = new Approvals();
    const text = decode(openFile(name, host.cwd, signal), name);
    for await (const { line, cells, fault } of readTable(text, 'jsonl', name)) {
      const [id, key, sha256] = ['id', 'key', 'sha256'].map((field) => cells.get(field));
      if (fault !== undefined || id === undefined || key === undefined || sha256 === undefined)
        throw usageError(
          `--approved ${name}, line ${line}: this is not a line of a report's approved.jsonl`,
          'save the file with the button of the page that --report writes',
        );
      const others = approvals.#byId.get(id);
      if (others) others.push({ id, key, sha256 });
      else approvals.#byId.set(id, [{ id, key, sha256 }]);
    }
    return approvals;
  }

  /** @returns `undefined` for an approved sound, otherwise what is wrong */
  faultOf({ id, key, sha256 }: Approval): 'not approved' | 'changed since it was approved' | undefined {
    const approved = this.#byId.get(id);
    if (!approved) return 'not approved';
    const isSame = approved.some((each) => each.key === key && each.sha256 === sha256);
    return isSame ? undefined : 'changed since it was approved';
  }
}
