import { chmodSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { answer, complete, head, httpChunk, silent, streamed } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const pcm = sound(6000);
/** More than all the buffers between a service and a player hold. */
const long = sound(1_000_000);

/** Begins an answer and leaves it open. */
function begun(bytes: Uint8Array) {
  return serveBytes(async (wire) => {
    await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Transfer-Encoding': 'chunked' }));
    await wire.write(httpChunk(bytes));
  });
}

describe('a player', () => {
  it('gets one WAV with exact sizes where they are known, and stdout stays empty', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const run = await box.run(['hi', '--player', player.command], { env: named(url) });
    expect(run).toMatchObject({ status: 0, stderr: '', stdout: Buffer.alloc(0) });
    expect(wholePcm(player.heard())).toEqual(pcm);
  });

  it('gets the sound while it arrives, before the service has sent all of it', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const { url } = await begun(plainWav(long.subarray(0, 40_000), 0xffffffff));
    const { endBy } = box.start(['hi', '--stream', '--player', player.command], { env: named(url) });
    await player.running();
    while (player.heard().length < 20_000) await sleep(10);
    expect(parseWav(player.heard()).dataSize).toBe(0xffffffff);
    expect((await endBy('SIGINT')).ended.status).toBe(130);
  });

  it('plays to its end what came before an answer broke off', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isSlow');
    const begins = long.subarray(0, 300_000);
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Transfer-Encoding': 'chunked' }));
      await wire.write(httpChunk(plainWav(begins, 0xffffffff)));
      wire.end();
    });
    const args = ['hi', '--stream', '--retries', '0', '--player', player.command];
    expectFailure(await box.run(args, { env: named(server.url) }), 7, /broke off/);
    expect(parseWav(player.heard()).pcm).toEqual(begins);
  });

  it('that is closed before there is any sound ends the run quietly', async () => {
    const box = new Sandbox();
    const server = await serveBytes(silent);
    const run = box.start('hi --player true --json', { env: named(server.url) });
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout.toString())).toMatchObject({ readerLeft: true, bytes: 0, format: null });
    expect(server.connections.made).toBeLessThanOrEqual(1);
  });

  it('that is closed by its user ends the run quietly, and the request with it', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isClosed');
    const server = await begun(plainWav(pcm, 0xffffffff));
    const run = await box.run(['hi', '--stream', '--player', player.command], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '', stdout: Buffer.alloc(0) });
    await expect.poll(() => server.connections.open).toBe(0);
  });

  it.each([
    ['fails', /the player .*failed: the device is busy/],
    ['failsAtOnce', /the player .*failed: exit status 4/],
  ] as const)('that %s is an error with its own last line', async (behaviour, message) => {
    const box = new Sandbox();
    const player = fakePlayer(box, behaviour);
    const server = await begun(plainWav(pcm, 0xffffffff));
    const run = await box.run(['hi', '--stream', '--player', player.command], { env: named(server.url) });
    expectFailure(run, 8, message);
    expect(run.stderr).not.toContain('\x1b');
    await expect.poll(() => server.connections.open).toBe(0);
  });

  it('that is not there is an error before anything is sent', async () => {
    const { run, server } = await machineWith(complete(plainWav(pcm)));
    const message = /the player no-such-player cannot be started: there is no such program/;
    expectFailure(await run(['hi', '--player', 'no-such-player {}']), 8, message);
    expect(server.requests).toEqual([]);
  });

  it('may be named as a whole command line, which no shell sees', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays', 'my players/$(touch x); `touch y`.cjs');
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const env = named(url, { TTS_PLAYER: player.command });
    expect(await box.run('hi --play', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(player.heard())).toEqual(pcm);
    expect(box.list()).toEqual(['my players']);
  });

  it('that is known and named without arguments gets those that it needs', async () => {
    const { box, run } = await machineWith(complete(plainWav(pcm)));
    // It prints its usage without arguments, as the real one does.
    chmodSync(box.file('bin/mpv', '#!/bin/sh\n[ "$#" -gt 0 ] && exec /bin/cat > heard\n'), 0o755);
    const played = await run('hi --player mpv', { env: { PATH: box.path('bin') } });
    expect(played).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('heard'))).toEqual(pcm);
  });

  it('may want a file, which is whole, and gone afterwards', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'readsFile');
    const { url } = await serveBytes(streamed(plainWav(pcm, 0xffffffff), 999));
    const env = named(url, { TMPDIR: box.home });
    const run = await box.run(['hi', '--json', '--player', `${player.command} {}`], { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(run.stdout.toString())).not.toHaveProperty('readerLeft');
    expect(wholePcm(player.heard())).toEqual(pcm);
    expect(readdirSync(box.home).filter((name) => name.startsWith('tts-'))).toEqual([]);
  });

  it('may want a file for which there is no room', async ({ skip }) => {
    const box = new Sandbox();
    const { url } = await serveBytes(complete(plainWav(pcm)));
    // The folder of the file takes the last inode.
    const env = named(url, { TMPDIR: smallDisk(box, 'full', 'nr_inodes=2', skip) });
    const run = await box.run(['hi', '--player', 'cat {}'], { env });
    expectFailure(run, 8, /cannot write \S+\/full\/tts-\w+\/speech\.wav: no space is left there\n/);
  });
});

describe('Ctrl-C', () => {
  it('ends a player that does not mind it, and removes the file that is played', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isStubborn');
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const env = named(url, { TMPDIR: box.home });
    const { endBy } = box.start(['hi', '--player', `${player.command} {}`], { env });
    const pid = await player.running();
    expect((await endBy('SIGINT')).ended).toMatchObject({ status: 130, stderr: 'tts: interrupted\n' });
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(box.home).filter((name) => name.startsWith('tts-'))).toEqual([]);
  });
});

describe('a file and a player together', () => {
  it('both get all of it', async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isSlow');
    const { url } = await serveBytes(complete(plainWav(long)));
    const run = await box.run(['hi', '-o', 'out.wav', '--player', player.command], { env: named(url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('out.wav')).equals(long)).toBe(true);
    expect(wholePcm(player.heard()).equals(long)).toBe(true);
  });

  it.each([
    ['isClosed', 0, /^$/],
    ['fails', 8, /the device is busy/],
  ] as const)('the file is finished when the player %s', async (behaviour, status, message) => {
    const { box, run } = await machineWith(streamed(plainWav(long, 0xffffffff), 100_000));
    const player = fakePlayer(box, behaviour);
    const { stderr, ...ended } = await run(['hi', '-o', 'out.wav', '--player', player.command]);
    expect([ended.status, stderr]).toEqual([status, expect.stringMatching(message)]);
    expect(wholePcm(box.read('out.wav')).equals(long)).toBe(true);
  });

  it('the file is finished when the player is not there', async () => {
    const { box, run } = await machineWith(complete(plainWav(pcm)));
    expectFailure(await run('hi -o a.wav --player no-such-player'), 8, /no-such-player/);
    expectFailure(await run('hi -o b.wav --play', { env: { PATH: '/nowhere' } }), 8, /no player/);
    for (const name of ['a.wav', 'b.wav']) expect(wholePcm(box.read(name))).toEqual(pcm);
  });
});

describe('players that are looked for', () => {
  it('are started in the order of the platform, and what cannot be started is passed over', async () => {
    const box = new Sandbox();
    box.file('bin/paplay', 'not to be run');
    const aplay = fakePlayer(box, 'plays', 'bin/aplay');
    const ffplay = fakePlayer(box, 'plays', 'bin/ffplay');
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const run = await box.run('hi --play', { env: named(url, { PATH: box.path('bin') }) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(aplay.heard())).toEqual(pcm);
    expect(ffplay.heard().length).toBe(0);
  });

  it('have failed where they say that nothing was heard, whatever their status', async () => {
    const { box, run } = await machineWith(complete(plainWav(pcm)));
    const script = '#!/bin/sh\n/bin/cat >/dev/null\necho "No more, audio open failed" >&2\n';
    chmodSync(box.file('bin/ffplay', script), 0o755);
    const failed = await run('hi --play', { env: { PATH: box.path('bin') } });
    expectFailure(failed, 8, /the player ffplay failed: No more, audio open failed/);
  });

  it('may fail, which is an error with a way out, and what the service says counts first', async () => {
    const box = new Sandbox();
    fakePlayer(box, 'failsAtOnce', 'bin/aplay');
    const good = await serveBytes(complete(plainWav(pcm)));
    const bad = await serveBytes(async (wire, request, number) => {
      await sleep(1000);
      await answer(401, '{"error":"no such key"}')(wire, request, number);
    });
    const runAt = (url: string) => box.run('hi --play', { env: named(url, { PATH: box.path('bin') }) });
    expectFailure(await runAt(good.url), 8, /aplay failed: exit status 4\nhint: .*--player.* -o.*tts doctor/);
    expectFailure(await runAt(bad.url), 3, /no such key/);
  });

  it('may all be missing, which is an error with a way out', async () => {
    const server = await serveBytes(complete(plainWav(pcm)));
    const env = named(server.url, { PATH: '/nowhere' });
    const run = await new Sandbox().run('hi --play', { env });
    expectFailure(run, 8, /no player.*\nhint: .*-o.*--player.*apt-get install alsa-utils/s);
    expect(server.requests).toEqual([]);
  });
});

describe('real players', () => {
  it.runIf(isThere('aplay'))('aplay is heard where it cannot open the device', async () => {
    const { url } = await serveBytes(complete(plainWav(pcm)));
    const run = await new Sandbox().run(['hi', '--player', 'aplay -D no-such-device -'], { env: named(url) });
    expectFailure(run, 8, /the player aplay failed: aplay: .*audio open error/);
  });
});
