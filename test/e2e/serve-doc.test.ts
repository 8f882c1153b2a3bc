import { execFile as execFileWithCallback, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { isThere } from '../support/programs.ts';
import { fenced } from '../support/readme.ts';
import { KEY, Sandbox } from '../support/run.ts';

const document = readFileSync('docs/serve.md', 'utf8');
const execFile = promisify(execFileWithCallback);
const CHECKER = 'systemd-analyze';

/** Starts a `tts …` of the document on a free port, with a key in a file. */
async function start(words: readonly string[]) {
  const box = new Sandbox();
  const args = words.slice(1).map((word) => (word === '8787' ? '0' : word));
  const running = box.start([...args, '--json'], { env: { TTS_API_KEY_FILE: box.file('key', KEY) } });
  for await (const line of running.stdout) return { running, url: new URL(JSON.parse(String(line)).url) };
  throw new Error((await running.ended).stderr);
}

describe('the unit file of docs/serve.md', () => {
  const [unit = ''] = fenced('ini', document);
  const command = /^ExecStart=(\S+) (.*)$/m.exec(unit) ?? [];

  it.skipIf(!isThere(CHECKER))('has no complaint from systemd', () => {
    const box = new Sandbox();
    const here = unit.replace(String(command[1]), join(box.commands, 'tts'));
    expect(here).not.toBe(unit);
    const { status, stderr } = spawnSync(CHECKER, ['verify', box.file('tts.service', here)], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('starts a service with the key of a file, which ends well when systemd ends it', async () => {
    const { running, url } = await start(['tts', ...String(command[2]).split(' ')]);
    expect((await ask(new URL('/speakers', url).href, { headers: { 'x-api-key': KEY } })).status).toBe(200);
    expect((await running.endBy('SIGTERM')).ended.status).toBe(0);
  });
});

describe('the container file of docs/serve.md', () => {
  const [file = ''] = fenced('dockerfile', document);
  const wordsOf = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction}(\\[.*\\])$`, 'm').exec(file)?.[1] ?? '[]');

  it('starts a service that its health check finds, until it ends', async () => {
    const { running, url } = await start(wordsOf('CMD '));
    const [command = '', ...args] = wordsOf('HEALTHCHECK CMD ');
    const here = args.map((word) => word.replace('8787', url.port));
    const check = () =>
      execFile(command, here).then(
        () => 0,
        ({ code }) => code,
      );
    expect(await check()).toBe(0);
    await running.endBy('SIGTERM');
    expect(await check()).toBe(1);
  });
});

it('docs/serve.md names the metrics that there are, and no other', async () => {
  const { url } = await start(['tts', 'serve', '--port', '0']);
  const { bytes } = await ask(new URL('/metrics', url).href);
  const there = Array.from(bytes.toString().matchAll(/^# TYPE (\w+)/gm), ([, name]) => name);
  const told = Array.from(document.matchAll(/^\| `(tts_\w+)/gm), ([, name]) => name);
  expect(told).toEqual(there);
});
