export const SCRIPT = String.raw`
const $ = (id) => document.getElementById(id);
const base = new URL('./', location.href), address = (base.origin + base.pathname).replace(/\/$/, '');
const form = $('form'), text = $('text'), language = $('language'), voice = $('voice'), sound = $('sound');
let key = '', voices = [], running, player;

$('address').textContent = address;
$('insecure').hidden = isSecureContext;

/* The key stands in no storage and no address. */
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
  if (error.needsKey) askForKey();
  const isLost = error instanceof TypeError;
  $('problem').textContent = isLost ? 'The connection to the service failed or broke off. (' + error.message + ')' : error.needsKey && key === '' ? 'This service needs its API key.' : error.message;
  $('problem').hidden = false;
  $('status').textContent = '';
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
    if (JSON.stringify(speakers) !== JSON.stringify(voices)) fillLanguages(speakers);
  } catch (error) { return complain(error) }
  $('problem').hidden = $('key-form').hidden = true;
  form.hidden = $('lines').hidden = false;
  $('forget').hidden = key === '';
  $('fields').disabled = $('speak').disabled = false;
  $('key-note').hidden = key === '';
  $('key').value = '';
  $('status').textContent = voices.length + ' voices are ready.';
  text.focus();
}

const languageOf = (speaker) => speaker.language.toLowerCase().split(/[-_]/)[0] || 'und';

function languageName(code) {
  try {
    const name = new Intl.DisplayNames('en', { type: 'language' }).of(code);
    if (name !== code) return code === 'und' ? 'Other' : name;
  } catch {}
  return voices.find((speaker) => languageOf(speaker) === code).name;
}

function fillLanguages(speakers) {
  voices = speakers;
  const names = [...new Set(voices.map(languageOf))].map((code) => [languageName(code), code]).sort(([a], [b]) => a.localeCompare(b));
  language.replaceChildren(...names.map(([name, code]) => new Option(name, code)));
  language.value = languageOf(voices[0]);
  fillVoices();
}

function fillVoices() {
  const fitting = voices.filter((speaker) => languageOf(speaker) === language.value);
  voice.replaceChildren(...fitting.map(({ speaker_no, name, language }) => new Option(name + ' · ' + language + ' · ' + speaker_no, speaker_no)));
  showOptions();
}

const chosen = () => voices.find((speaker) => speaker.speaker_no === Number(voice.value));

function showOptions() {
  const kind = chosen()?.kind;
  for (const [id, fitting] of [['rate', 'neo.one'], ['instructions', 'Mermish']]) $(id + '-field').hidden = $(id).disabled = kind !== fitting;
  showLines();
}

/** The body of the request, with only what is set. */
function body() {
  const { kind, speaker_no = 1 } = chosen() ?? {}, config = {};
  if (form.elements.answer.value === 'streamed') config.use_streaming_response = true;
  if (kind === 'neo.one' && $('rate').value) config.sample_rate = Number($('rate').value);
  if (kind === 'Mermish' && $('instructions').value.trim()) config.instructions = $('instructions').value;
  return { text: text.value, speaker_no, ...(Object.keys(config).length > 0 && { config }) };
}

/** A word of a POSIX shell. */
const quoted = (word) => /^[\w./:@%+=,-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

function showLines() {
  const request = body(), { config = {} } = request, letters = [...request.text].length;
  $('curl').textContent = ['curl -fsS -o speech.wav', ...(key === '' ? [] : ['-H "X-API-KEY: $TTS_API_KEY"']), "-H 'Content-Type: application/json'",
    '--data-raw ' + quoted(JSON.stringify(request)), quoted(address + '/tts')].join(' ');
  $('base').textContent = 'OPENAI_BASE_URL=' + quoted(address + '/v1') + (key === '' ? '' : ' OPENAI_API_KEY="$TTS_API_KEY"');
  $('tts').textContent = [...(key === '' ? ['TTS_API_KEY=none'] : []), 'tts --base-url', quoted(address), '-s', request.speaker_no,
    ...(config.use_streaming_response ? ['--stream'] : []), ...(config.sample_rate ? ['-r', config.sample_rate] : []),
    ...(config.instructions ? ['-i', quoted(config.instructions)] : []), ...(letters > 1000 ? ['--max-chars', letters] : []),
    '-o speech.wav --', quoted(request.text)].join(' ');
}

function stop() {
  running?.abort();
  player?.stop();
  sound.pause();
  $('stop').disabled = true;
  $('speak').disabled = $('fields').disabled;
}

const seconds = (value) => value.toFixed(value < 10 ? 2 : 1) + ' s';

async function speak() {
  stop();
  running = new AbortController();
  const { signal } = running, request = body(), begun = performance.now();
  const took = () => (performance.now() - begun) / 1000;
  const live = request.config?.use_streaming_response ? new LivePlayer(request.config.sample_rate ?? 22050) : undefined;
  player = live;
  $('problem').hidden = $('result').hidden = true;
  $('status').textContent = 'Speaking.';
  $('progress').textContent = '';
  $('speak').disabled = true;
  $('stop').disabled = false;
  try {
    const response = await check(await ask('tts', { method: 'POST', signal, body: JSON.stringify(request), headers: { 'Content-Type': 'application/json' } }));
    const { playback, first } = await receive(response, live, signal, took);
    show(playback, { took: took(), first, ignored: response.headers.get('X-Instructions-Ignored') });
    if (!live) return await sound.play().catch(() => { $('status').textContent += ' Press play to hear it.' });
    live.finish(() => { if (player === live) $('stop').disabled = true });
  } catch (error) {
    live?.stop();
    if (signal.aborted) return signal === running.signal && ($('status').textContent = 'Stopped.');
    $('stop').disabled = true;
    complain(error);
  } finally {
    if (signal === running.signal) $('speak').disabled = $('fields').disabled;
  }
}

async function receive(response, live, signal, took) {
  const playback = new Playback(), reader = response.body.getReader();
  let first;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const samples = playback.add(next.value);
    if (samples.length === 0) continue;
    first ??= took();
    $('progress').textContent = seconds(playback.seconds) + ' so far';
    live?.feed(playback.format, samples);
    await live?.room(signal);
  }
  return { playback, first };
}

function show(playback, { took, first, ignored }) {
  const wav = playback.finish();
  URL.revokeObjectURL(sound.src);
  sound.src = $('save').href = URL.createObjectURL(wav);
  $('result').hidden = false;
  $('status').textContent = seconds(playback.seconds) + ' of speech, complete after ' + seconds(took) + '.' + (ignored ? ' Not understood: ' + decodeURIComponent(ignored) + '.' : '');
  $('progress').textContent = 'First sound after ' + seconds(first) + ' · ' + playback.format.rate + ' Hz · ' + Math.ceil(wav.size / 1024) + ' KiB';
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
form.addEventListener('input', showLines);
language.addEventListener('change', fillVoices);
voice.addEventListener('change', showOptions);
$('stop').addEventListener('click', stop);
sound.addEventListener('play', () => { player?.stop(); $('stop').disabled = false });
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
