import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { RowOutcome } from '../batch/make.ts';
import { isBatchFile, type ManifestEntry, type Outcome, type Survey } from '../batch/manifest.ts';
import type { BatchPlan, BatchRow } from '../batch/plan.ts';
import { assertTextWritable, writeText } from '../batch/row-files.ts';
import { readTable } from '../batch/table.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { assertUnlinked, realOf } from '../kit/file.ts';
import { unwritable } from '../kit/folders.ts';
import { countOf, shellQuoted } from '../kit/words.ts';
import { decode } from '../read/decode.ts';
import { openFile } from '../read/source.ts';
import type { RunTotals } from '../run/totals.ts';
import { secondsOf } from '../sound/pcm.ts';
import { readWav } from '../sound/wav.ts';
import type { Context } from './commands.ts';
import { readerReady } from './print.ts';

/** A person has listened to a sound and approved it. The key covers the text and the voice. */
export type Approval = Pick<ManifestEntry, 'id' | 'key' | 'sha256'>;

export function approvalOf({ id, key, sha256 }: Approval): Approval {
  return { id, key, sha256 };
}

/** The lines of a file that a report has saved. A row may have several: any of them counts. */
export class Approvals {
  readonly #byId = new Map<string, Approval[]>();

  /** @throws TtsError (usage) for a file that cannot be read or is none of a report */
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

  /** @returns `undefined` for a sound that is approved, and otherwise what is wrong */
  faultOf({ id, key, sha256 }: Approval): 'not approved' | 'changed since it was approved' | undefined {
    const approved = this.#byId.get(id);
    if (!approved) return 'not approved';
    const isSame = approved.some((each) => each.key === key && each.sha256 === sha256);
    return isSame ? undefined : 'changed since it was approved';
  }
}

/** Rows in the closing table. */
const MOST_SHOWN = 20;

const ROWS_BETWEEN_WAITS = 1000;

const MOST_KEPT = 10_000;

const RESULTS = ['made', 'unchanged', 'failed', 'skipped'] as const;
export type RowResult = (typeof RESULTS)[number];

const EMPTY = usageError('the row has no text', '--allow-empty skips rows without one');

/** One object a row with `--json`; for people, the rows that need action. */
export class BatchOutput {
  readonly counts: Record<RowResult, number> = { made: 0, unchanged: 0, failed: 0, skipped: 0 };
  readonly #context: Context;
  readonly #plan: BatchPlan;
  readonly #folder: string;
  readonly #isJson: boolean;
  readonly #failures: string[] = [];
  readonly #messages = new Map<BatchRow, string>();
  /** Rows that were not reached. */
  #left = 0;
  readonly #results = new Map<BatchRow, RowResult>();

  constructor(plan: BatchPlan, folder: string, isJson: boolean, context: Context) {
    this.#plan = plan;
    this.#folder = folder;
    this.#isJson = isJson;
    this.#context = context;
  }

  /** @param allowEmpty skips rows without a text */
  async begin(survey: Survey, allowEmpty: boolean): Promise<void> {
    for (const [number, row] of this.#plan.mine.entries()) {
      if (number % ROWS_BETWEEN_WAITS === 0) await readerReady(this.#context.host.stdout);
      const state = survey.stateOf(row);
      if (state === 'unchanged') this.#row(row, 'unchanged');
      if (state === 'empty' && allowEmpty) this.#row(row, 'skipped');
      else if (state === 'empty') this.finish(row, { state: 'failed', error: EMPTY });
    }
  }

  finish(row: BatchRow, outcome: RowOutcome): void {
    if (outcome.state === 'made') {
      this.#row(row, 'made');
      return;
    }
    const { id, table, line } = row;
    const { message, hint } = outcome.error;
    for (const name of [id, table]) this.#context.notices.spare(name);
    if (this.#failures.length < MOST_SHOWN)
      this.#failures.push(`${table}, line ${line} (${id}): ${message}${hint ? `; ${hint}` : ''}`);
    if (this.#messages.size < MOST_KEPT) this.#messages.set(row, message);
    this.#row(row, 'failed', outcome.error);
  }

  async end(): Promise<void> {
    for (const [number, row] of this.#plan.mine.entries()) {
      if (number % ROWS_BETWEEN_WAITS === 0) await readerReady(this.#context.host.stdout);
      if (this.#results.has(row)) continue;
      this.#left += 1;
      this.#row(row, 'skipped');
    }
  }

  resultOf(row: BatchRow): RowResult | undefined {
    return this.#results.get(row);
  }

  messageOf(row: BatchRow): string | undefined {
    return this.#messages.get(row);
  }

  /** @param leftOver how many files `--prune` would look at */
  summarise({ characters, requests, retries, fromCache, elapsed }: RunTotals, leftOver: number): void {
    const { notices } = this.#context;
    const rows = RESULTS.reduce((sum, result) => sum + this.counts[result], 0);
    if (this.#isJson) {
      const seconds = Math.round(elapsed) / 1000;
      const summary = { rows, ...this.counts, characters, requests, retries, fromCache, seconds };
      notices.result(summary);
      return;
    }
    const counts = RESULTS.map((result) => `${this.counts[result]} ${result}`).join(', ');
    const rest =
      leftOver > 0 ? `, ${leftOver} left over: --prune deletes ${leftOver > 1 ? 'them' : 'it'}` : '';
    notices.note(`${countOf(rows, 'row')}: ${counts}${rest}`);
  }

  /** The error of a run in which rows failed. */
  partial(): TtsError {
    const { failed, skipped, made, unchanged } = this.counts;
    const left = this.#left > 0 ? `, ${countOf(this.#left, 'was', 'were')} left` : '';
    const more = failed - this.#failures.length;
    return new TtsError(`${failed} of ${countOf(failed + skipped + made + unchanged, 'row')} failed${left}`, {
      exitCode: ExitCode.partial,
      details: [...this.#failures, ...(more > 0 ? [`and ${more} more`] : [])],
      hint: `the same command makes only what is missing: ${this.command}`,
    });
  }

  get command(): string {
    return ['tts', 'batch', ...this.#context.argv].map(shellQuoted).join(' ');
  }

  #row(row: BatchRow, state: RowResult, error?: TtsError): void {
    this.#results.set(row, state);
    this.counts[state] += 1;
    if (!this.#isJson) return;
    const { id, file } = row;
    const fault = error && {
      error: { message: error.message, hint: error.hint, exitCode: error.exitCode },
    };
    this.#context.notices.result({ id, state, out: join(this.#folder, file), ...fault });
  }
}

export interface ReportRow {
  readonly id: string;
  readonly text: string;
  readonly speaker: string;
  readonly state: string;
  readonly file?: string | undefined;
  readonly seconds?: number | undefined;
  /** 0 to 63. */
  readonly peaks?: Uint8Array | undefined;
  readonly error?: string | undefined;
  /** The sound that says this text. Only such a row can be approved. */
  readonly approval?: Approval | undefined;
  readonly isApproved?: boolean | undefined;
}

export interface ReportHead {
  readonly title: string;
  readonly summary: string;
  readonly states: readonly string[];
}

/** What each report begins with. */
export const PAGE_START = '<!doctype html>';

const PEAK_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Nothing comes from outside. The browser lays out visible rows only: ten thousand stay quick. */
export async function* reportPage(head: ReportHead, rows: AsyncIterable<ReportRow>): AsyncGenerator<string> {
  const title = escaped(head.title);
  const filters = ['all', ...head.states, 'not checked'].map(
    (state, at) =>
      `<label><input type="radio" name="state" value="${escaped(state)}"${at === 0 ? ' checked' : ''}>${escaped(state)}</label>`,
  );
  yield `${PAGE_START}
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; media-src 'self' file:; style-src '${digest(STYLE)}'; script-src '${digest(SCRIPT)}'">
<title>${title}</title>
<style>${STYLE}</style>
<header>
<h1>${title}</h1>
<p>${escaped(head.summary)} <output id="count"></output></p>
<form id="form">
<input type="search" id="search" placeholder="id, text or speaker" aria-label="Search" accesskey="s">
<span role="radiogroup" aria-label="State">${filters.join('')}</span>
<button type="button" id="save">Save approved.jsonl</button>
</form>
<p class="keys"><kbd>↑</kbd> <kbd>↓</kbd> choose a row, <kbd>Space</kbd> plays it, <kbd>x</kbd> checks it, <kbd>/</kbd> searches</p>
</header>
<ol id="rows">
`;
  for await (const row of rows) yield rowHtml(row);
  yield `</ol>
<script>${SCRIPT}</script>
</html>
`;
}

function rowHtml(row: ReportRow): string {
  const { id, text, speaker, state, file, seconds, peaks, error, approval, isApproved } = row;
  const name = escaped(id);
  const play = file
    ? `<button data-file="${escaped(addressOf(file))}" aria-label="Play ${name}">▶</button>${peaks ? canvasOf(peaks) : ''}`
    : '<span class="none">no sound</span>';
  const length = seconds === undefined ? '' : `${seconds.toFixed(1)} s`;
  const fault = error === undefined ? '' : `<p class="error">${escaped(error)}</p>`;
  const approved = approval
    ? ` data-line="${escaped(JSON.stringify(approval))}"${isApproved ? ' data-approved' : ''}`
    : '';
  return `<li tabindex="-1" data-state="${escaped(state)}"${approved}><span class="play">${play}</span><b class="id">${name}</b><span class="text" dir="auto">${escaped(text)}</span><span class="speaker">${escaped(speaker)}</span><span class="length">${length}</span><span class="state">${escaped(state)}</span><label class="ok"><input type="checkbox"${approval ? '' : ' disabled'} aria-label="${name} is checked"> ok</label>${fault}</li>
`;
}

function addressOf(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/');
}

function canvasOf(peaks: Uint8Array): string {
  const letters = Array.from(peaks, (peak) => PEAK_LETTERS[Math.min(peak, 63)]).join('');
  return `<canvas width="200" height="32" data-peaks="${letters}" aria-hidden="true"></canvas>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const STYLE = `
:root { font: 15px/1.4 system-ui, sans-serif; --line: #8884; --accent: #0a66c2; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --accent: #7db7ff; --bad: #ff8a80 } }
body { margin: 0 }
header { position: sticky; top: 0; padding: .6rem 1rem; background: Canvas; border-bottom: 1px solid var(--line); z-index: 1 }
h1 { font-size: 1.2rem; margin: 0 } header p { margin: .2rem 0 } .keys { opacity: .7; font-size: .85rem }
form { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center } form label { margin-right: .7rem }
input[type=search] { font: inherit; min-width: 14rem; padding: .2rem .4rem }
ol { list-style: none; margin: 0; padding: 0 }
li { display: grid; grid-template-columns: 17rem minmax(6rem, 1fr) minmax(10rem, 4fr) 5rem 4rem 6rem 4rem; gap: .2rem .8rem; align-items: center;
  padding: .35rem 1rem; border-bottom: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 2.8rem; scroll-margin: 9rem 0 1rem }
li:focus { outline: 2px solid var(--accent); outline-offset: -2px } li[hidden] { display: none }
li > * { overflow-wrap: anywhere } .play { display: flex; gap: .5rem; align-items: center } .none { opacity: .6 }
button { font: inherit; height: 2rem; cursor: pointer } .play button { width: 2.4rem } canvas { width: 200px; height: 32px; color: var(--accent) }
.length { text-align: right; font-variant-numeric: tabular-nums }
[data-state=failed] .state, .error { color: var(--bad); font-weight: 600 } .error { grid-column: 2 / -1; margin: 0; font-weight: 400 }
@media (max-width: 60rem) { li { grid-template-columns: 1fr 1fr } .text, .play, .error { grid-column: 1 / -1 } .keys { display: none } .length { text-align: left } }
`;

const SCRIPT = `
const LETTERS = '${PEAK_LETTERS}';
const rows = [...document.querySelectorAll('#rows > li')];
const search = document.getElementById('search'), form = document.getElementById('form'), count = document.getElementById('count');
const sound = new Audio();
let playing;
const kept = {
  get(line) { try { return localStorage.getItem('tts ' + line) } catch { return null } },
  set(line, ok) { try { localStorage.setItem('tts ' + line, ok ? 'ok' : 'no') } catch {} },
};
const boxOf = (row) => row.querySelector('input');
for (const row of rows) {
  const { line, approved } = row.dataset, said = line && kept.get(line);
  boxOf(row).checked = line !== undefined && (said === 'ok' || (said === null && approved !== undefined));
}
const texts = rows.map((row) => ['.id', '.text', '.speaker'].map((part) => row.querySelector(part).textContent).join(' ').toLowerCase());
function show() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean), state = form.elements.state.value;
  let shown = 0, checked = 0;
  rows.forEach((row, at) => {
    const ok = boxOf(row).checked;
    const fits = state === 'all' || (state === 'not checked' ? !ok : row.dataset.state === state);
    row.hidden = !(fits && words.every((word) => texts[at].includes(word)));
    if (!row.hidden) shown += 1;
    if (ok) checked += 1;
  });
  count.textContent = shown + ' shown, ' + checked + ' of ' + rows.length + ' checked.';
}
function draw(canvas) {
  const peaks = [...canvas.dataset.peaks].map((letter) => LETTERS.indexOf(letter) / 63);
  const paint = canvas.getContext('2d'), { width, height } = canvas;
  paint.fillStyle = getComputedStyle(canvas).color;
  paint.clearRect(0, 0, width, height);
  peaks.forEach((peak, at) => { const tall = Math.max(1, peak * height); paint.fillRect(at * width / peaks.length, (height - tall) / 2, Math.max(1, width / peaks.length - 1), tall) });
}
const seen = new IntersectionObserver((entries) => { for (const { isIntersecting, target } of entries) if (isIntersecting) { draw(target); seen.unobserve(target) } }, { rootMargin: '300px' });
document.querySelectorAll('canvas').forEach((canvas) => seen.observe(canvas));
function stop() { if (playing) playing.textContent = '▶'; playing = undefined; sound.pause() }
function toggle(button) {
  if (!button) return;
  const same = playing === button;
  stop();
  if (same) return;
  playing = button;
  button.textContent = '■';
  sound.src = button.dataset.file;
  sound.play().catch(() => { stop(); button.textContent = '!'; button.title = 'the file cannot be played' });
}
sound.addEventListener('ended', stop);
function move(step) {
  const visible = rows.filter((row) => !row.hidden), at = visible.indexOf(document.activeElement.closest('li'));
  visible[Math.max(0, Math.min(visible.length - 1, at < 0 ? 0 : at + step))]?.focus();
}
document.addEventListener('click', ({ target }) => { if (target.matches('#rows button')) toggle(target) });
document.getElementById('save').addEventListener('click', () => {
  const lines = rows.filter((row) => boxOf(row).checked).map((row) => row.dataset.line + '\\n');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  link.download = 'approved.jsonl';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
document.addEventListener('change', ({ target }) => { if (target.type === 'checkbox') { kept.set(target.closest('li').dataset.line, target.checked); show() } });
form.addEventListener('input', show);
form.addEventListener('submit', (event) => event.preventDefault());
document.addEventListener('keydown', (event) => {
  const inField = event.target.matches('input[type=search], input[type=radio]'), row = document.activeElement.closest('li');
  if (event.key === 'Escape') search.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || (inField && !(event.target === search && event.key === 'ArrowDown'))) return;
  if (event.key === 'ArrowDown' || event.key === 'j') move(1);
  else if (event.key === 'ArrowUp' || event.key === 'k') move(-1);
  else if (event.key === '/') search.focus();
  else if (event.key === 'x' && row) boxOf(row).click();
  else if (event.key === ' ' && row && !event.target.matches('button, input')) toggle(row.querySelector('button'));
  else return;
  event.preventDefault();
});
show();
`;

const COLUMNS = 100;
const LOUDEST = 63;

export interface WaveForm {
  readonly seconds: number;
  /** The peak of each hundredth, 0 to 63. Empty for other than 16-bit samples. */
  readonly peaks: Uint8Array;
}

export async function waveForm(path: string, signal: AbortSignal): Promise<WaveForm> {
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

const STATES: readonly RowResult[] = ['failed', 'made', 'unchanged', 'skipped'];

/**
 * This is checked before anything is sent.
 * @throws TtsError (output), (usage) for a link, for a file that the batch reads or writes, and for one that is not a report
 */
export function assertReportPlace(
  name: string,
  { plan, folder, tables }: Pick<Outcome, 'plan' | 'folder'> & { readonly tables: readonly string[] },
  host: Context['host'],
): void {
  const { cwd } = host;
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  const old = oldReport(path, name);
  const inFolder = relative(realOf(folder.path) ?? folder.path, realOf(path) ?? path)
    .split(sep)
    .join('/');
  const isWritten = isBatchFile(inFolder) || plan.hasFile(inFolder);
  const isOld = (read: string) => {
    const stats = statSync(resolve(cwd, read), { throwIfNoEntry: false });
    return stats !== undefined && stats.ino === old?.ino && stats.dev === old.dev;
  };
  if (
    isWritten ||
    (old &&
      (tables.some(isOld) || plan.rows.some(({ textFile }) => textFile !== undefined && isOld(textFile))))
  )
    throw usageError(`--report ${name}: this batch reads or writes that file`, 'choose another name');
  if (old && !old.isReport)
    throw usageError(`--report ${name}: that file is not a report`, 'choose another name, or remove it');
  assertTextWritable({ path, name, writer: host });
}

function oldReport(path: string, name: string): { ino: number; dev: number; isReport: boolean } | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return (
      stats && {
        ino: stats.ino,
        dev: stats.dev,
        isReport: !stats.isFile() || stats.size === 0 || isPage(path),
      }
    );
  } catch (error) {
    throw unwritable(name, error);
  }
}

/** A report replaces an older one, and never a lexicon, a config file or a WAV. */
function isPage(path: string): boolean {
  const start = Buffer.alloc(PAGE_START.length);
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, start) === start.length && start.toString('latin1') === PAGE_START;
  } finally {
    closeSync(fd);
  }
}

/**
 * Failed rows come first.
 * @throws TtsError (output)
 */
export async function writeReport(
  name: string,
  {
    outcome,
    output,
    approvals,
  }: { readonly outcome: Outcome; readonly output: BatchOutput; readonly approvals: Approvals | undefined },
  { host, notices, signal }: Context,
): Promise<void> {
  const path = resolve(host.cwd, name);
  const { plan, folder, survey } = outcome;
  const counts = STATES.map((state) => `${output.counts[state]} ${state}`).join(', ');
  const count = STATES.reduce((sum, state) => sum + output.counts[state], 0);
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
    // Only a WAV shows its form.
    const wave = isThere && (await waveForm(sound, signal).catch(() => undefined));
    const state = output.resultOf(row) ?? '';
    const isCurrent = isThere && (state === 'made' || state === 'unchanged');
    const entry = isCurrent ? survey.entryOf(row) : undefined;
    const approval = entry && approvalOf({ ...entry, id });
    // The page is made to be passed on: a table or a service may quote the key.
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
  const head = { title: table, summary: `${countOf(count, 'row')}: ${counts}.`, states: STATES };
  await writeText({ path, name, writer: host }, reportPage(head, rows()), signal);
}
