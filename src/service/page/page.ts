import { createHash } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';
import { SCRIPT } from './script.ts';

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
<div id="instructions-field" hidden><label for="instructions">Instructions</label><input id="instructions" placeholder="a bit slower, and deep"></div>
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
