// Installs each voice of the catalogue for real, speaks a sentence with it, and prints a table. By hand, before a release.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'tts-voices-'));
const env = { ...process.env, TTS_DATA_DIR: join(folder, 'data'), TTS_CACHE: '0' };
const tts = (...args) => spawnSync(process.execPath, ['bin/tts.cjs', ...args], { env, encoding: 'utf8' });
const said = ({ stderr }) =>
  stderr
    .trim()
    .split('\n')
    .find((line) => line.startsWith('tts: ')) ?? '';
const named = process.argv.slice(2);

const { voices } = JSON.parse(execFileSync(process.execPath, ['bin/tts.cjs', 'voices', '--json'], { env }));
let failures = 0;
console.log('VOICE           INSTALLED  SPEAKS  SECONDS OF SOUND / OF WORK');
for (const { name } of voices.filter((voice) => named.length === 0 || named.includes(voice.name))) {
  const installed = tts('voices', 'install', name, '--accept-licence');
  const out = join(folder, 'out.wav');
  const spoken = tts(
    '-s',
    name,
    'One two three. This voice was installed a moment ago.',
    '-o',
    out,
    '--json',
  );
  const isGood = installed.status === 0 && spoken.status === 0 && statSync(out).size > 40_000;
  const { duration = 0, seconds = 0 } = isGood ? JSON.parse(spoken.stdout) : {};
  const fault = isGood ? `${duration} / ${seconds}` : said(installed.status === 0 ? spoken : installed);
  console.log(
    `${name.padEnd(15)} ${String(installed.status).padEnd(10)} ${String(spoken.status).padEnd(7)} ${fault}`,
  );
  if (!isGood) failures += 1;
  tts('voices', 'remove', name);
}
rmSync(folder, { recursive: true, force: true });
console.log(failures === 0 ? 'all voices speak' : `${failures} voices failed`);
process.exitCode = failures === 0 ? 0 : 1;
