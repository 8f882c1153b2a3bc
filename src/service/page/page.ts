import { createHash } from 'node:crypto';
import { SCRIPT } from './script.ts';
import { SOUND_SCRIPT } from './sound-script.ts';
import { STYLE } from './style.ts';

const PROGRAM = SOUND_SCRIPT + SCRIPT;

/** Only its own script, style and service. */
export const POLICY = [
  "default-src 'none'",
  `script-src '${digest(PROGRAM)}'`,
  `style-src '${digest(STYLE)}'`,
  "connect-src 'self'",
  'media-src blob:',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Its addresses are relative: it works below any path. */
export const PAGE = `<!doctype html>
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
<div><label for="language">Language</label><select id="language"></select></div>
<div><label for="voice">Voice</label><select id="voice"></select></div>
<div id="rate-field"><label for="rate">Sample rate in Hz</label><input id="rate" type="number" min="8000" max="48000" step="1" inputmode="numeric" placeholder="22050" list="rates"><datalist id="rates"><option>8000<option>16000<option>22050<option>24000<option>44100<option>48000</datalist></div>
<div id="instructions-field" hidden><label for="instructions">Instructions</label><input id="instructions" placeholder="a bit slower, and deep"></div>
</div>
<div class="choice" role="radiogroup" aria-label="Answer">
<label><input type="radio" name="answer" value="streamed" checked> Streamed: play while it is made</label>
<label><input type="radio" name="answer" value="whole"> Whole: play when it is complete</label>
</div>
</fieldset>
<div class="row"><button id="speak" disabled>Speak <kbd>Ctrl</kbd> <kbd>Enter</kbd></button><button type="button" id="stop" disabled>Stop <kbd>Esc</kbd></button><button type="button" id="forget" hidden>Forget the key</button></div>
</form>
<section aria-label="Sound">
<p id="status" role="status">Loading the voices.</p>
<p id="progress"></p>
<div id="result" hidden><audio id="sound" controls></audio><a id="save" download="speech.wav">Save speech.wav</a></div>
</section>
<section id="lines" aria-labelledby="lines-title" hidden>
<h2 id="lines-title">This request in a shell</h2>
<div class="line"><pre id="curl" tabindex="0" aria-label="curl line"></pre><button type="button" data-copy="curl">Copy the curl line</button></div>
<div class="line"><pre id="tts" tabindex="0" aria-label="tts line"></pre><button type="button" data-copy="tts">Copy the tts line</button></div>
<p class="note" id="key-note">Both lines read the key from the variable TTS_API_KEY.</p>
</section>
</main>
<script type="module">${PROGRAM}</script>
</html>
`;

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
