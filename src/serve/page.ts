import { createHash } from 'node:crypto';
import type { Exchange } from './http.ts';

export const SCRIPT = String.raw`
const $ = (id) => document.getElementById(id);
const base = new URL('./', location.href), address = (base.origin + base.pathname).replace(/\/$/, '');
const form = $('form'), text = $('text'), language = $('language'), voice = $('voice'), sound = $('sound');
let voices = [], running;

/* The line that tts serve prints may bring the key. No server gets this part of an address, and it is taken out of it at once. */
let key = new URLSearchParams(location.hash.slice(1)).get('key') ?? '';
if (location.hash) history.replaceState(null, '', location.pathname + location.search);

$('address').textContent = address;
$('insecure').hidden = isSecureContext;

/* The key is in no storage. */
const keyHeader = () => key === '' ? {} : { 'X-API-KEY': key };
const ask = (path, options) => fetch(new URL(path, base), { cache: 'no-store', redirect: 'error', ...options, headers: { ...options.headers, ...keyHeader() } });

class Refused extends Error { constructor(message, needsKey) { super(message); this.needsKey = needsKey } }

/** Throws what a service says instead of its answer. */
async function check(response) {
  if (response.ok) return response;
  const said = (await response.json().catch(() => undefined))?.error?.message ?? 'The service answered with the status ' + response.status;
  const wait = response.headers.get('Retry-After');
  throw new Refused(said + '.' + (wait ? ' Try again in ' + wait + ' s.' : ''), response.status === 401);
}

function complain(error) {
  const isFirst = error.needsKey && key === '';
  if (error.needsKey) askForKey();
  $('problem').textContent = error instanceof TypeError ? 'The connection to the service failed or broke off. (' + error.message + ')' : error.message;
  $('problem').hidden = isFirst;
  $('status').textContent = isFirst ? 'Give the API key of this service to begin.' : '';
}

function askForKey() {
  $('key-form').hidden = false;
  $('forget').hidden = true;
  $('fields').disabled = $('speak').disabled = true;
  $('key').focus();
}

async function loadVoices() {
  try {
    const { speakers } = await (await check(await ask('speakers', {}))).json();
    if (speakers.length > 0 && JSON.stringify(speakers) !== JSON.stringify(voices)) fillLanguages(speakers);
    for (const id of ['language', 'voice']) $(id + '-field').hidden = speakers.length === 0;
    $('number-field').hidden = $('number').disabled = speakers.length > 0;
  } catch (error) { return complain(error) }
  $('problem').hidden = $('key-form').hidden = true;
  form.hidden = $('lines').hidden = false;
  $('forget').hidden = key === '';
  $('fields').disabled = $('speak').disabled = false;
  $('key-note').hidden = key === '';
  $('key').value = '';
  showOptions();
  $('status').textContent = voices.length > 0 ? voices.length + ' voices are ready.' : 'Ready. The service lists no voices: give the number of one.';
  text.focus();
}

const languageOf = (speaker) => speaker.language.toLowerCase().split(/[-_]/)[0] || 'und';

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

function languageName(code) {
  try {
    const name = languageNames.of(code);
    if (name !== code) return code === 'und' ? 'Other' : name;
  } catch {}
  return undefined;
}

function fillLanguages(speakers) {
  voices = speakers;
  const names = [...new Set(voices.map(languageOf))].map((code) => [languageName(code) ?? voices.find((speaker) => languageOf(speaker) === code).name, code]).sort(([a], [b]) => a.localeCompare(b));
  language.replaceChildren(...names.map(([name, code]) => new Option(name, code)));
  language.value = languageOf(voices[0]);
  fillVoices();
}

function fillVoices() {
  const fitting = voices.filter((speaker) => languageOf(speaker) === language.value);
  voice.replaceChildren(...fitting.map((speaker) => new Option(labelOf(speaker), voices.indexOf(speaker))));
  showOptions();
}

/** What is known of a voice. */
const labelOf = ({ speaker_no, name, language, gender }) =>
  [...new Set([name, language === 'und' ? undefined : languageName(language) ?? language, gender, speaker_no])].filter((part) => part !== undefined).join(' · ');

const chosen = () => voices[voice.value] ?? { speaker_no: Number($('number').value) };

function showOptions() {
  $('instructions-field').hidden = $('instructions').disabled = chosen().kind === 'neo.one';
  showLines();
}

/** A name may have settings of its own, and two engines may have the same one. */
function voiceName({ name, speaker_no }) {
  return name !== undefined && voices.filter((other) => other.name === name).length === 1 ? name : String(speaker_no);
}

const format = () => form.elements.format.value;
const speed = () => Number($('speed').value) || 1;
const instructions = () => $('instructions').disabled ? '' : $('instructions').value.trim();

/** The body of the request, with only what is set. */
function body() {
  return { input: text.value, voice: voiceName(chosen()), response_format: format(), ...(speed() !== 1 && { speed: speed() }), ...(instructions() && { instructions: instructions() }) };
}

/** A word of a POSIX shell. */
const quoted = (word) => /^[\w./:@%+=,-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

function showLines() {
  const request = body(), letters = [...request.input].length, file = 'speech.' + format();
  $('curl').textContent = ['curl -fsS -o', file, ...(key === '' ? [] : ['-H "X-API-KEY: $TTS_API_KEY"']), "-H 'Content-Type: application/json'",
    '--data-raw ' + quoted(JSON.stringify(request)), quoted(address + '/v1/audio/speech')].join(' ');
  $('base').textContent = 'OPENAI_BASE_URL=' + quoted(address + '/v1') + (key === '' ? '' : ' OPENAI_API_KEY="$TTS_API_KEY"');
  $('tts').textContent = [...(key === '' ? ['TTS_API_KEY=none'] : []), 'tts --base-url', quoted(address), '-s', chosen().speaker_no,
    ...(request.speed ? ['--speed', request.speed] : []), ...(request.instructions ? ['-i', quoted(request.instructions)] : []),
    ...(letters > 1000 ? ['--max-chars', letters] : []), '-o', file, '--', quoted(request.input)].join(' ');
}

function stop() {
  running?.abort();
  sound.pause();
  $('stop').disabled = true;
  $('speak').disabled = $('fields').disabled;
}

async function speak() {
  stop();
  running = new AbortController();
  const { signal } = running, request = body(), begun = performance.now();
  $('problem').hidden = $('result').hidden = true;
  $('status').textContent = 'Speaking.';
  $('speak').disabled = true;
  $('stop').disabled = false;
  try {
    const response = await check(await ask('v1/audio/speech', { method: 'POST', signal, body: JSON.stringify(request), headers: { 'Content-Type': 'application/json' } }));
    const blob = await response.blob();
    await show(request.response_format === 'wav' ? await sized(blob) : blob, 'speech.' + request.response_format);
    const took = ((performance.now() - begun) / 1000).toFixed(2), ignored = response.headers.get('X-Instructions-Ignored');
    $('status').textContent = sound.duration.toFixed(2) + ' s of speech, complete after ' + took + ' s, ' + Math.ceil(blob.size / 1024) + ' KiB.' + (ignored ? ' Not understood: ' + decodeURIComponent(ignored) + '.' : '');
    await sound.play().catch(() => { $('status').textContent += ' Press play to hear it.' });
  } catch (error) {
    if (signal.aborted) return signal === running.signal && ($('status').textContent = 'Stopped.');
    $('stop').disabled = true;
    complain(error);
  } finally {
    if (signal === running.signal) $('speak').disabled = $('fields').disabled;
  }
}

/** A WAV that was sent while it was made has no sizes in its header of 44 bytes. */
async function sized(wav) {
  const head = new DataView(await wav.slice(0, 44).arrayBuffer());
  head.setUint32(4, wav.size - 8, true);
  head.setUint32(40, wav.size - 44, true);
  return new Blob([head, wav.slice(44)], { type: 'audio/wav' });
}

function show(blob, name) {
  URL.revokeObjectURL(sound.src);
  sound.src = $('save').href = URL.createObjectURL(blob);
  $('save').download = name;
  $('save').textContent = 'Save ' + name;
  return new Promise((resolve, reject) => {
    sound.onloadedmetadata = () => { $('result').hidden = false; resolve() };
    sound.onerror = () => reject(new Error('This browser cannot play the answer.'));
  });
}

async function copy(button) {
  const line = $(button.dataset.copy), title = button.textContent;
  try { await navigator.clipboard.writeText(line.textContent) } catch {
    getSelection().selectAllChildren(line);
    if (!document.execCommand('copy')) return;
  }
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = title }, 1500);
}

form.addEventListener('submit', (event) => { event.preventDefault(); speak() });
form.addEventListener('input', showOptions);
language.addEventListener('change', fillVoices);
voice.addEventListener('change', showOptions);
$('stop').addEventListener('click', stop);
sound.addEventListener('play', () => { $('stop').disabled = false });
for (const end of ['pause', 'ended']) sound.addEventListener(end, () => { $('stop').disabled = true });
$('key-form').addEventListener('submit', (event) => { event.preventDefault(); key = $('key').value.trim(); loadVoices().then(showLines) });
$('forget').addEventListener('click', () => { stop(); key = ''; askForKey(); $('status').textContent = 'The key is forgotten.' });
for (const button of document.querySelectorAll('[data-copy]')) button.addEventListener('click', () => copy(button));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !$('speak').disabled) { event.preventDefault(); form.requestSubmit() }
  if (event.key === 'Escape' && !$('stop').disabled) stop();
});
loadVoices();
showLines();
`;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  --back: #fff; --text: #1b1f24; --faint: #57606a; --line: #8c959f; --field: #fff; --box: #f3f5f7; --accent: #0a5cb0; --on-accent: #fff; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root {
  --back: #14181d; --text: #e6e9ec; --faint: #a3adb8; --line: #6b7681; --field: #1d232a; --box: #1d232a; --accent: #8ec1ff; --on-accent: #0b1a2b; --bad: #ff9a90 } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0 auto; padding: 1rem; max-width: 48rem; background: var(--back); color: var(--text) }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
header p { margin: 0 0 1rem; color: var(--faint); overflow-wrap: anywhere }
a { color: var(--accent) }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0 }
legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
label { display: block; font-weight: 600; margin: .6rem 0 .2rem }
input, select, textarea, button, pre { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: .4rem }
input:not([type=radio]), select, textarea { width: 100%; min-height: 2.75rem; padding: .4rem .6rem; background: var(--field) }
textarea { resize: vertical; display: block }
::placeholder { color: var(--faint); opacity: 1 }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 0 1rem }
.choice { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: .6rem 0 } .choice label { font-weight: 400; margin: 0; padding: .5rem 0 }
.row { display: flex; flex-wrap: wrap; gap: .6rem } .row input { flex: 1 1 12rem; width: auto }
button, #save { min-height: 2.75rem; padding: .4rem 1rem; background: var(--box); cursor: pointer }
#speak, #key-form button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600 }
button:disabled { opacity: .5; cursor: default }
kbd { font: .75rem ui-monospace, monospace; border: 1px solid; border-radius: .25rem; padding: 0 .3rem; opacity: .8 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
#key-form { border: 1px solid var(--line); border-radius: .6rem; padding: .4rem 1rem .6rem; margin-bottom: 1rem }
.note { color: var(--faint); font-size: .9rem; margin: .4rem 0 0 } .warning, #problem { color: var(--bad) }
#problem { border: 1px solid; border-radius: .4rem; padding: .5rem .8rem; margin: 0 0 1rem; overflow-wrap: anywhere }
#status { margin: 1rem 0 0 }
#result { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center } audio { flex: 1 1 16rem; min-width: 0; max-width: 100% }
#save { border: 1px solid var(--line); border-radius: .4rem; text-decoration: none; display: inline-flex; align-items: center }
.line button { min-width: 11.5rem }
.line { display: flex; gap: .6rem; align-items: start; margin-bottom: .6rem }
pre { flex: 1; min-width: 0; margin: 0; padding: .6rem; background: var(--box); font: .85rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14rem; overflow-y: auto }
@media (max-width: 34rem) { .line { flex-direction: column } .line pre { width: 100% } .line button { min-width: 0 } #speak { flex: 1 } }
@media (pointer: coarse) { kbd { display: none } }
`;

/** The page may use only its own script, its own style and its own service. */
const POLICY = [
  "default-src 'none'",
  `script-src '${digest(SCRIPT)}'`,
  `style-src '${digest(STYLE)}'`,
  "connect-src 'self'",
  'media-src blob:',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** All addresses in it are relative, so that it works below any path. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 6v4h3l4 4V2L5 6zm9-1a4 4 0 0 1 0 6' fill='%230a66c2' stroke='%230a66c2'/%3E%3C/svg%3E">
<title>Text to speech</title>
<style>${STYLE}</style>
<header>
<h1>Text to speech</h1>
<p><code id="address"></code> · <a href="openapi.json">openapi.json</a></p>
</header>
<main>
<p id="problem" role="alert" hidden></p>
<form id="key-form" hidden>
<label for="key">API key</label>
<div class="row"><input id="key" type="password" required pattern="\\s*[!-~]+\\s*" title="A key has no spaces and no letters beyond ASCII." autocomplete="off" autocapitalize="off" spellcheck="false"><button>Use this key</button></div>
<p class="note">The page keeps the key in its memory only. It is gone when you close or reload the page.</p>
<p class="note warning" id="insecure" hidden>This connection is not encrypted: others on the network can read the key.</p>
</form>
<form id="form" hidden>
<fieldset id="fields" disabled>
<legend>Request</legend>
<label for="text">Text</label>
<textarea id="text" rows="5" required dir="auto" placeholder="What should be spoken?"></textarea>
<div class="columns">
<div id="language-field"><label for="language">Language</label><select id="language"></select></div>
<div id="voice-field"><label for="voice">Voice</label><select id="voice"></select></div>
<div id="number-field" hidden><label for="number">Number of the voice</label><input id="number" type="number" step="1" value="1" required disabled></div>
<div><label for="speed">Speed</label><input id="speed" type="number" min="0.5" max="3" step="0.05" value="1" inputmode="decimal" required></div>
<div id="instructions-field" hidden><label for="instructions">Instructions</label><input id="instructions" placeholder="slower, and deep"></div>
</div>
<div class="choice" role="radiogroup" aria-label="Format">
<label><input type="radio" name="format" value="mp3" checked> MP3</label>
<label><input type="radio" name="format" value="wav"> WAV</label>
</div>
</fieldset>
<div class="row"><button id="speak" disabled>Speak <kbd>Ctrl</kbd> <kbd>Enter</kbd></button><button type="button" id="stop" disabled>Stop <kbd>Esc</kbd></button><button type="button" id="forget" hidden>Forget the key</button></div>
</form>
<section aria-label="Sound">
<p id="status" role="status">Loading the voices.</p>
<div id="result" hidden><audio id="sound" controls></audio><a id="save"></a></div>
</section>
<section id="lines" aria-labelledby="lines-title" hidden>
<h2 id="lines-title">This request in a shell</h2>
<div class="line"><pre id="curl" tabindex="0" aria-label="curl line"></pre><button type="button" data-copy="curl">Copy the curl line</button></div>
<div class="line"><pre id="tts" tabindex="0" aria-label="tts line"></pre><button type="button" data-copy="tts">Copy the tts line</button></div>
<div class="line"><pre id="base" tabindex="0" aria-label="base URL for clients of OpenAI's speech interface"></pre><button type="button" data-copy="base">Copy for OpenAI's clients</button></div>
<p class="note" id="key-note">The lines read the key from the variable TTS_API_KEY.</p>
</section>
</main>
<script type="module">${SCRIPT}</script>
</html>
`;

/** The relative addresses of the page need the last slash of its own address. */
export function sendPage({ request, response, path }: Exchange): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  if (!path.endsWith('/')) {
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    return void response.writeHead(308, { Location: `./${name}/${search}`, Vary: 'Accept' }).end();
  }
  const bytes = Buffer.from(PAGE);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': bytes.length,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  });
  response.end(bytes);
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
