import { symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { answer, complete, head } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { wavOf } from '../support/text-audio.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const pcm = sound(44_100);

/** Gives the progress line time to appear. */
const late =
  (script: Script, milliseconds = 700): Script =>
  async (wire, request, number) => {
    await sleep(milliseconds);
    await script(wire, request, number);
  };

/** Half of the sound, a while later the other half. */
const halting: Script = async (wire) => {
  const wav = plainWav(pcm);
  await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Content-Length': wav.length }));
  await wire.write(wav.subarray(0, 22_094));
  await sleep(700);
  await wire.write(wav.subarray(22_094));
};

interface Terminal {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a line in a terminal of its own. What it showed, everything that was drawn over included. */
async function onTerminal(box: Sandbox, line: string, { columns = 80, env = {} }: Terminal = {}) {
  const command = `stty cols ${columns} rows 24; ${line}; echo "status $?"`;
  const run = await box.shell(`script -qec '${command.replaceAll("'", `'\\''`)}' /dev/null`, {
    env: { TERM: 'xterm-256color', ...env },
  });
  return run.stdout.toString();
}

/** What is drawn, and what erases it, as the terminal gets them. */
const ERASE = '\x1b[J';
const COLOUR = '\x1b[36m';

/** What stands in the line after each drawing. */
function drawings(shown: string): string[] {
  const pieces = shown.split(`${ERASE}\r`).slice(0, -1);
  return pieces.map((piece) => stripVTControlCharacters(piece.split('\r ').at(-1) ?? ''));
}

/** What is left on the screen: of every line what was written behind its last erasure. */
function leftOver(shown: string): string[] {
  const lines = shown.split('\r\n').map((line) => line.split(ERASE).at(-1) ?? '');
  return lines.map((line) => stripVTControlCharacters(line).replace('\r', '')).filter(Boolean);
}

describe.runIf(isThere('script'))('a person at a terminal', () => {
  it('who types the text sees what was typed, and nothing that wipes it away', async () => {
    const { url } = await serveBytes(late(complete(plainWav(pcm))));
    const line = 'script -qec "stty cols 80 rows 24; tts -f - -o out.wav" /dev/null';
    const run = await new Sandbox().shell(`(echo Hello.; sleep 1) | ${line}`, {
      env: { TERM: 'xterm-256color', ...named(url) },
    });
    expect(run.stdout.toString()).toContain('Hello.');
    expect(run.stdout.toString()).not.toContain(ERASE);
    expect(leftOver(run.stdout.toString()).at(-1)).toMatch(/^out\.wav {2}1\.0 s /);
  });

  it.each([40, 200])(
    'sees how it goes in one line of %d columns, and then what came of it',
    async (columns) => {
      const box = new Sandbox();
      const { url } = await serveBytes(halting);
      const shown = await onTerminal(box, 'tts hi -o out.wav', { columns, env: named(url) });
      const drawn = drawings(shown);
      expect(drawn.some((line) => /0\/1 segment {2}50 %/.test(line))).toBe(true);
      for (const line of drawn) expect(line.length).toBeLessThan(columns - 1);
      expect(leftOver(shown)).toEqual([
        expect.stringMatching(/^out\.wav {2}1\.0 s {2}22050 Hz {2}1 segment {2}in \d+\.\d s$/),
        'status 0',
      ]);
    },
  );

  it('is left with the error alone', async () => {
    const { url } = await serveBytes(late(answer(400, 'no')));
    const shown = await onTerminal(new Sandbox(), 'tts hi -o out.wav', { env: named(url) });
    expect(drawings(shown).length).toBeGreaterThan(0);
    expect(leftOver(shown)).toEqual([
      expect.stringMatching(/^tts: .*status 400/),
      expect.stringMatching(/^hint: /),
      'status 7',
    ]);
  });

  it('ends a loop of bash, too, with Ctrl-C', async () => {
    const server = await serveBytes(late(complete(plainWav(pcm)), 20_000));
    const box = new Sandbox();
    box.file('loop.sh', 'for i in 1 2; do tts -q "hi $i" -o out.wav < /dev/null; done; echo went on\n');
    const typed = `(until [ -e asked ]; do sleep 0.1; done; printf '\\003'; sleep 1)`;
    const shown = box.shell(`${typed} | script -qec 'bash loop.sh' /dev/null`, { env: named(server.url) });
    await expect.poll(() => server.requests.length).toBe(1);
    box.file('asked', '');
    const { stdout } = await shown;
    expect(stdout.toString()).toContain('interrupted');
    expect(stdout.toString()).not.toContain('went on');
    expect(server.requests).toHaveLength(1);
  });

  it('that is gone ends a run with 129, and nothing is left behind', async () => {
    const box = new Sandbox();
    const { url } = await serveBytes(late(complete(plainWav(pcm)), 5000));
    // A shell passes the hangup on to what it has started.
    const line =
      'stty cols 80; tts hi -o out.wav & trap "kill -HUP $!" HUP; wait $!; wait $!; echo $? > status';
    const shell = box.startShell(`exec script -qfec '${line}' shown`, {
      env: { TERM: 'xterm-256color', ...named(url) },
    });
    const shown = () => (box.list().includes('shown') ? box.read('shown').toString() : '');
    await expect.poll(shown).toContain(ERASE);
    shell.child.kill('SIGKILL');
    const status = () => (box.list().includes('status') ? box.read('status').toString() : '');
    await expect.poll(status).toBe('129\n');
    expect(box.list()).toEqual(['shown', 'status']);
    await shell.ended.catch(() => {});
  });

  it('sees no colours with NO_COLOR', async () => {
    const { url } = await serveBytes(late(complete(plainWav(pcm))));
    const env = named(url);
    expect(await onTerminal(new Sandbox(), 'tts hi -o out.wav', { env })).toContain(COLOUR);
    const plain = await onTerminal(new Sandbox(), 'tts hi -o out.wav', { env: { ...env, NO_COLOR: '1' } });
    expect(drawings(plain).length).toBeGreaterThan(0);
    expect(plain).not.toContain(COLOUR);
  });

  it('hears it when nothing else is said', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const shown = await onTerminal(box, 'tts hi', { env: named(url, { TTS_PLAYER: player.command }) });
    expect(wholePcm(player.heard()).equals(pcm)).toBe(true);
    expect(leftOver(shown)).toEqual([expect.stringMatching(/^played {2}1\.0 s/), 'status 0']);
  });

  it('gets no audio on the screen, also under another name, and where nothing is to be played', async () => {
    const box = new Sandbox();
    symlinkSync('/dev/tty', box.path('a-link'));
    const { url, requests } = await serveBytes(complete(plainWav(pcm)));
    for (const how of ['--no-play', '-o /dev/stderr', '-o a-link']) {
      const shown = leftOver(await onTerminal(box, `tts hi ${how}`, { env: named(url) }));
      expect([shown[0], shown.at(-1)]).toEqual(['tts: audio is not written to a terminal', 'status 8']);
    }
    expect(requests).toHaveLength(0);
  });
});

/** A service that takes 11 s for the second of two segments. */
async function speakSlowly(...args: string[]) {
  const server = await serveBytes(async (wire, request, number) => {
    if (number === 2) await sleep(11_000);
    const { text } = request.json as { text: string };
    await complete(wavOf(text))(wire, request, number);
  });
  const box = new Sandbox();
  const run = ['First paragraph.\n\nSecond one.', '-o', 'out.wav', '--max-chars', '20', '--concurrency', '1'];
  return box.tts([...run, ...args], { env: named(server.url), showsProgress: true });
}

it('A long run off a terminal says how far it is, and a closing line; -q and a run that is heard do not.', async () => {
  const [plain, quiet, json, heard] = await Promise.all([
    speakSlowly(),
    speakSlowly('-q'),
    speakSlowly('--json'),
    speakSlowly('--player', 'cat', '--play'),
  ]);
  expect(plain.status).toBe(0);
  expect(plain.stderr).toMatch(
    /^tts: 1\/2 segments {2}59 % .*\ntts: out\.wav {2}\d+\.\d s {2}22050 Hz {2}2 segments {2}in \d+ s\n$/,
  );
  expect(quiet).toMatchObject({ status: 0, stderr: '' });
  expect(json).toMatchObject({ status: 0, stderr: '' });
  expect(heard.status).toBe(0);
  expect(heard.stderr).toMatch(/^tts: [^\n]*2 segments {2}in \d+ s\n$/);
});
