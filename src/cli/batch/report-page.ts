import { createHash } from 'node:crypto';
import type { Approval } from './approvals.ts';

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
