/**
 * Makes docs/read-along.png: plays the media overlay of a book in headless Chromium, and takes a picture with the spoken
 * sentence highlighted. `npm run build && node bench/read-along.mjs [BOOK.epub [SECONDS]]`; needs chromium and unzip.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const TEXT = `# The tide\n\nThe sea had gone out in the night. All that it had left lay shining in the sun. She walked along the wet sand, and
the birds went before her. None of them was in a hurry.\n\nA boat lay on its side. Somebody had painted a name on it, long ago.\n`;

const folder = mkdtempSync(join(tmpdir(), 'read-along-'));
const [book = join(folder, 'tide.md'), seconds = '6.5'] = process.argv.slice(2);
writeFileSync(join(folder, 'tide.md'), TEXT);
const made = join(folder, 'made.epub');
execFileSync(process.execPath, ['bin/tts.cjs', '-q', '-f', book, '-o', made], { stdio: 'inherit' });
execFileSync('unzip', ['-qo', made, '-d', folder]);
const paths = readdirSync(folder, { recursive: true }).map(String);
const smil = paths.filter((path) => path.endsWith('.smil')).toSorted()[0];
const opf = readFileSync(
  join(
    folder,
    paths.find((path) => path.endsWith('.opf')),
  ),
  'utf8',
);
const active = /"media:active-class">([^<]*)/.exec(opf)[1];
writeFileSync(join(folder, 'player.html'), player(pathToFileURL(join(folder, smil)).href));

/** A minimal reader: a page that only follows the clips of the overlay. */
function player(address) {
  const source = JSON.stringify(readFileSync(join(folder, smil), 'utf8'));
  return `<!DOCTYPE html><style>body{margin:0}iframe{border:0;width:100vw;height:100vh;display:block}</style><iframe></iframe><audio></audio><script>
  const smil = new DOMParser().parseFromString(${source}, 'application/xml');
  const clips = [...smil.querySelectorAll('par')].map((par) => {
    const [text, audio] = [par.querySelector('text'), par.querySelector('audio')];
    const seconds = (name) => Number.parseFloat(audio.getAttribute(name));
    return { target: new URL(text.getAttribute('src'), '${address}'), sound: new URL(audio.getAttribute('src'), '${address}').href, from: seconds('clipBegin'), to: seconds('clipEnd') };
  });
  const [frame, audio] = [document.querySelector('iframe'), document.querySelector('audio')];
  frame.src = clips[0].target.href.split('#')[0];
  audio.src = clips[0].sound;
  frame.onload = () => {
    const style = frame.contentDocument.createElement('style');
    style.textContent = 'body { font: 20px/1.6 Georgia, serif; margin: 1.5em 2em; overflow: hidden }';
    frame.contentDocument.head.append(style);
    audio.ontimeupdate = () => {
      const clip = clips.find(({ from, to }) => from <= audio.currentTime && audio.currentTime < to);
      for (const each of frame.contentDocument.querySelectorAll('.${active}')) each.classList.remove('${active}');
      const heard = clip && frame.contentDocument.getElementById(clip.target.hash.slice(1));
      heard?.classList.add('${active}');
      window.heard = { at: audio.currentTime, text: heard?.textContent };
    };
    audio.play();
  };
  </script>`;
}

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--mute-audio', '--remote-debugging-pipe'];
const open = ['--autoplay-policy=no-user-gesture-required', '--allow-file-access-from-files'];
const child = spawn('chromium', [...flags, ...open, `--user-data-dir=${join(folder, 'profile')}`], {
  stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
});
const waiting = new Map();
let rest = '';
child.stdio[4].setEncoding('utf8').on('data', (piece) => {
  const messages = (rest + piece).split('\0');
  rest = messages.pop();
  for (const message of messages.map((each) => JSON.parse(each))) waiting.get(message.id)?.(message.result);
});

function send(method, params, sessionId) {
  const id = waiting.size + 1;
  child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

const url = pathToFileURL(join(folder, 'player.html')).href;
const { targetId } = await send('Target.createTarget', { url });
const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
const screen = { width: 640, height: 330, deviceScaleFactor: 1.5, mobile: false };
await send('Emulation.setDeviceMetricsOverride', screen, sessionId);
let heard;
for (let tries = 0; tries < 300 && !(heard?.at >= Number(seconds)); tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  const options = { expression: 'window.heard', returnByValue: true };
  heard = (await send('Runtime.evaluate', options, sessionId)).result.value;
}
const { data } = await send('Page.captureScreenshot', { format: 'png' }, sessionId);
writeFileSync('docs/read-along.png', Buffer.from(data, 'base64'));
console.log(`${heard?.at} s: ${heard?.text}`);
child.kill('SIGKILL');
await new Promise((resolve) => child.on('close', resolve));
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
