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
