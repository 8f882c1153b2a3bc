import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { parseWav } from '../support/read-wav.ts';
import { KEY, named, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(100));

/** A sandbox in which these players and nothing else can be found, each with the lines of a shell. */
function boxWith(players: Readonly<Record<string, string>>): { box: Sandbox; path: { PATH: string } } {
  const box = new Sandbox();
  for (const [name, lines] of Object.entries(players))
    chmodSync(box.file(`bin/${name}`, `#!/bin/sh\n${lines}\n`), 0o755);
  return { box, path: { PATH: box.path('bin') } };
}

const PLAYS = 'exec /bin/cat > /dev/null';
const boxWithPlayer = () => boxWith({ aplay: PLAYS });

/** What is found of the player. */
function playerOf({ stdout }: { stdout: Buffer }) {
  return JSON.parse(stdout.toString()).findings.find(({ name }: { name: string }) => name === 'player');
}

async function doctor(args: readonly string[], env: Record<string, string> = {}) {
  const { box, path } = boxWithPlayer();
  const run = await box.run(['doctor', '--json', ...args], { env: { ...path, ...env } });
  const { findings } = JSON.parse(run.stdout.toString());
  const states = Object.fromEntries(findings.map(({ name, state }: Record<string, string>) => [name, state]));
  return { ...run, findings, states };
}

describe('tts doctor', () => {
  it('finds a machine good on which nothing is configured, and lets the built-in voice speak', async () => {
    const { status, states } = await doctor([]);
    expect({ status, states }).toEqual({
      status: 0,
      states: {
        node: 'good',
        config: 'good',
        service: 'good',
        request: 'good',
        player: 'good',
        formats: 'good',
        'espeak-ng': 'skipped',
        voices: 'skipped',
      },
    });
  });

  it('asks an engine for one word, without a question', async () => {
    const server = await serveSpeech(complete(wav));
    const { status, findings } = await doctor(['--engine', server.url]);
    expect(status).toBe(0);
    expect(server.asked).toEqual([{ model: 'tts-1', input: 'Hi', voice: 'anna', response_format: 'wav' }]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        name: 'request',
        state: 'good',
        detail: expect.stringMatching(/^speaker 1001 spoke/),
      }),
    );
  });

  it.each([
    ['http://127.0.0.1:8/v1', 6, 'check that the server runs: curl http://127.0.0.1:8/v1/audio/voices'],
    ['./voice', 7, 'check the folder: docs/voices.md tells what it needs; cp -RL copies a folder of links'],
    ['unknown', 2, 'give a URL or a folder, or name it under "engines" in your own config'],
  ])('says what to do about the engine %s', async (engine, status, hint) => {
    const run = await doctor(['--engine', engine]);
    expect(run.status).toBe(status);
    expect(run.findings).toContainEqual(expect.objectContaining({ name: 'request', state: 'bad', hint }));
  });

  it('makes no request that costs something, unless somebody agrees', async () => {
    const server = await serveBytes(complete(wav));
    const { status, states, findings } = await doctor([], named(server.url));
    expect(status).toBe(0);
    expect(states).toMatchObject({ service: 'good', request: 'skipped' });
    expect(findings.find(({ name }: { name: string }) => name === 'request')).toMatchObject({
      detail: expect.stringMatching(/2 characters/),
      hint: expect.stringMatching(/--yes/),
    });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /speakers']);
  });

  it('heeds what else shapes its request', async () => {
    const server = await serveBytes(complete(wav));
    const line = '--yes -s 3 --stream -r 16000 -i gently --callback-url https://a.example/b';
    const { status } = await doctor(line.split(' '), named(server.url));
    expect(status).toBe(0);
    expect(server.requests.slice(1).map(({ json }) => json)).toEqual([
      {
        text: 'Hi',
        speaker_no: 3,
        config: { sample_rate: 16_000, instructions: 'gently', use_streaming_response: true },
        callback_url: 'https://a.example/b',
      },
    ]);
  });

  it.each([
    ['a config file that is wrong', ['--config', 'none.json'], {}, 2, 'config'],
    ['a key that is missing', [], { TTS_BASE_URL: 'http://127.0.0.1:9' }, 3, 'service'],
    ['a host that there is not', ['--yes'], named('https://nowhere.invalid'), 6, 'service'],
    [
      'a proxy that is not there',
      ['--yes', '--proxy', 'http://127.0.0.1:9'],
      named('http://10.0.0.1'),
      6,
      'service',
    ],
    ['no player', [], { PATH: '/nowhere' }, 8, 'player'],
    ['a player that is not there', ['--player', 'gramophone -q'], {}, 8, 'player'],
  ])('ends with the status of the first failure: %s', async (_, args, env, ...[status, name]) => {
    const run = await doctor(args, env);
    const bad = run.findings.filter(({ state }: { state: string }) => state === 'bad');
    expect(bad).toEqual([expect.objectContaining({ name, exitCode: status, hint: expect.any(String) })]);
    expect(run.status).toBe(status);
  });

  it('has the player play 50 ms of silence', async () => {
    const { box, path } = boxWith({ aplay: 'exec /bin/cat > heard' });
    await box.run('doctor', { env: path });
    const heard = parseWav(box.read('heard'));
    expect(heard).toMatchObject({ sampleRate: 22_050, bits: 16, channels: 1 });
    expect(heard.pcm).toEqual(Buffer.alloc(2 * Math.round(0.05 * 22_050)));
  });

  it.each([
    ['fails', 'bin/own', /own failed: exit status 3/],
    ['hangs', '/bin/sleep 20', /did not end within 5 s/],
  ])('finds fault with a named player that %s', async (_, player, detail) => {
    const { box, path } = boxWith({ aplay: PLAYS, own: 'exit 3' });
    const run = await box.run(['doctor', '--json', '--player', player], { env: path });
    expect(run.status).toBe(8);
    expect(playerOf(run)).toMatchObject({
      state: 'bad',
      detail: expect.stringMatching(detail),
      hint: expect.stringMatching(/--player/),
    });
  });

  it('tells what the service says, without the key', async () => {
    const server = await serveBytes(answer(402, `{"message":"so it is ${KEY}"}`));
    const run = await doctor(['--yes'], named(server.url));
    expect([run.status, run.states]).toMatchObject([4, { service: 'bad', request: 'skipped' }]);
    expect(run.stdout.toString()).toContain('so it is ***');
  });

  it.each([
    ['with ticks where they can be shown', 'C.UTF-8', /^✔ node +v\d/],
    ['in plain ASCII elsewhere', 'C', /^ok node +v\d/],
  ])(
    'says in one screen what speaks, plays, encodes and is installed, and what comes next, %s',
    async (_, locale, first) => {
      const { box, path } = boxWithPlayer();
      const { stdout } = await box.run('doctor', { env: { ...path, LC_ALL: locale } });
      expect(stdout.toString()).toMatch(first);
      const lines = stdout.toString().trim().split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(lines).toContainEqual(
        expect.stringMatching(/formats +wav, mp3, alaw, ulaw, s16le; not m4b, .*flac$/),
      );
      expect(lines.slice(-2)).toEqual([
        'Next: tts "Hello from this machine." --play',
        '      tts voices install cori    for a natural voice',
      ]);
    },
  );
});
