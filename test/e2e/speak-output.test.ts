import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { gate } from '../support/gate.ts';
import { complete, head, httpChunk, inTurn, silent, streamed } from '../support/http-bytes.ts';
import { mayTrace } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, named, node, program, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const pcm = sound(500_000);
const wav = plainWav(pcm);
/** It is in seconds of Unix time. */
const LONG_AGO = 1_000_000_000;
/** How the parts of runs are marked that can see each other. */
const here = (Buffer.from(realm()).reduce((sum, byte) => Math.imul(sum, 31) + byte, 0) >>> 0)
  .toString(16)
  .padStart(8, '0');
const isRoot = userInfo().uid === 0;
const NOBODY = 65_534;

function realm(): string {
  if (process.platform !== 'linux') return hostname();
  return `${readFileSync('/proc/sys/kernel/random/boot_id')}${readlinkSync('/proc/self/ns/pid')}`;
}

/** A service, an environment for it, and an empty folder. */
async function setUp(script: Script = complete(wav)) {
  const server = await serveBytes(script);
  return { server, env: named(server.url), box: new Sandbox() };
}

describe('a file', () => {
  it('is replaced in one step, keeps its mode, and nothing stays next to it; a new one has that of the umask', async () => {
    const { env, box } = await setUp();
    chmodSync(box.file('out.wav', 'old'), 0o640);
    const { ino } = statSync(box.path('out.wav'));
    expect(await box.run('hi -o out.wav', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
    expect(box.list()).toEqual(['out.wav']);
    expect(statSync(box.path('out.wav')).mode & 0o777).toBe(0o640);
    expect(statSync(box.path('out.wav')).ino).not.toBe(ino);
    await box.shell('umask 027; tts hi -o new.wav', { env });
    expect(statSync(box.path('new.wav')).mode & 0o777).toBe(0o640);
  });

  it('is old until the new one is whole', async () => {
    const rest = gate();
    const long = plainWav(sound(3_000_000));
    const { env, box } = await setUp(async (wire) => {
      await wire.write(head(200, { 'Content-Length': long.length }));
      await wire.write(long.subarray(0, -10));
      await rest.opened;
      await wire.write(long.subarray(-10));
    });
    box.file('out.wav', 'old');
    const run = box.start('hi -o out.wav', { env });
    const written = () => Math.max(...box.list().map((name) => statSync(box.path(name)).size));
    await expect.poll(written).toBeGreaterThan(1_000_000);
    expect(box.read('out.wav').toString()).toBe('old');
    rest.open();
    expect(await run.ended).toMatchObject({ status: 0 });
    expect(box.read('out.wav').equals(long)).toBe(true);
  });

  it('behind a symbolic link is what is replaced, and the link stays', async () => {
    const { env, box } = await setUp();
    box.file('real/target.wav', 'old');
    symlinkSync('real/target.wav', box.path('out.wav'));
    expect(await box.run('hi -o out.wav', { env })).toMatchObject({ status: 0 });
    expect(lstatSync(box.path('out.wav')).isSymbolicLink()).toBe(true);
    expect(box.read('real/target.wav')).toEqual(wav);
    symlinkSync('real/not-yet.wav', box.path('dangling.wav'));
    expect(await box.run('hi -o dangling.wav --no-clobber', { env })).toMatchObject({ status: 0 });
    expect(box.read('real/not-yet.wav')).toEqual(wav);
    expect(lstatSync(box.path('dangling.wav')).isSymbolicLink()).toBe(true);
  });

  it('that exists is kept with --no-clobber, before anything is sent', async () => {
    const { server, env, box } = await setUp();
    box.file('out.wav', 'old');
    expectFailure(await box.run('hi -o out.wav --no-clobber', { env }), 8, /out\.wav exists/);
    expect(server.requests).toHaveLength(0);
    expect(box.read('out.wav').toString()).toBe('old');
    expect(await box.run('hi -o new.wav --no-clobber', { env })).toMatchObject({ status: 0 });
    expect(box.read('new.wav')).toEqual(wav);
    expect(box.list()).toEqual(['new.wav', 'out.wav']);
  });

  it('that came up meanwhile is kept with --no-clobber, and one whose part was removed is told so', async () => {
    const rest = gate();
    const { server, env, box } = await setUp(async (wire, request, number) => {
      await rest.opened;
      await complete(wav)(wire, request, number);
    });
    const run = box.start('hi -o out.wav --no-clobber', { env });
    const robbed = box.start('hi -o robbed.wav', { env });
    await expect.poll(() => server.requests.length).toBe(2);
    for (const name of box.list().filter((each) => each.startsWith('robbed'))) rmSync(box.path(name));
    box.file('out.wav', 'of somebody else');
    rest.open();
    expectFailure(await run.ended, 8, /out\.wav exists/);
    expectFailure(await robbed.ended, 8, /robbed\.wav: somebody removed .*\.part, /);
    expect(box.read('out.wav').toString()).toBe('of somebody else');
    expect(box.list()).toEqual(['out.wav']);
  });

  it.each([
    ['in a folder that is missing', 'missing/out.wav', /folder/],
    ['that is a file, with a slash after it', 'a-file/', /folder/],
  ])('%s is an error before anything is sent', async (_, name, message) => {
    const { server, env, box } = await setUp();
    box.file('a-file');
    expectFailure(await box.run(['hi', '-o', name], { env }), 8, message);
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual(['a-file']);
  });

  it.runIf(isRoot)(
    'in a folder or in place of a file that may not be written is an error before anything is sent',
    async () => {
      const { server, env, box } = await setUp();
      box.file('locked/x');
      chmodSync(box.path('locked'), 0o555);
      mkdirSync(box.path('open'));
      chmodSync(box.path('open'), 0o777);
      chmodSync(box.file('open/out.wav', 'old'), 0o444);
      for (const name of ['locked/out.wav', 'open/out.wav'])
        expectFailure(await box.run(['hi', '-o', name], { env, uid: NOBODY }), 8, /permission denied/);
      expect(server.requests).toHaveLength(0);
      expect(box.read('open/out.wav').toString()).toBe('old');
    },
  );

  it('may have any name', async () => {
    const { env, box } = await setUp();
    for (const name of ['-o', 'ünï cödé 你.wav', 'a\nb', `${'x'.repeat(230)}.wav`]) {
      expect(await box.run(['hi', `--output=${name}`], { env })).toMatchObject({ status: 0, stderr: '' });
      expect(box.read(name)).toEqual(wav);
    }
    expect(box.list()).toHaveLength(4);
  });

  it('may have a name as long as the system takes it', async () => {
    const { env, box } = await setUp();
    for (const name of ['x'.repeat(251), '𝄞'.repeat(62)]) {
      const run = await box.run(`hi -o ${name}.wav --subtitles ${name}.srt`, { env });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(box.read(`${name}.wav`)).toEqual(wav);
      expect(box.read(`${name}.srt`).toString()).toContain('hi');
    }
    expect(box.list().filter((name) => !/\.(?:wav|srt)$/.test(name))).toEqual([]);
  });

  it('with a name that is too long is an error before anything is sent', async () => {
    const { server, env, box } = await setUp();
    const name = 'x'.repeat(252);
    expectFailure(await box.run(`hi -o ${name}.wav`, { env }), 8, /the name is too long/);
    expectFailure(await box.run(`hi --subtitles ${name}.srt`, { env }), 8, /the name is too long/);
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual([]);
  });

  it('takes the part of another run with it as soon as that run is known to be over', async () => {
    const { env, box } = await setUp();
    const part = (pid: number, tag: string) => `out.wav.${pid}-${tag}.part`;
    const elsewhere = here === '00000000' ? '11111111' : '00000000';
    const gone = spawnSync('true').pid;
    const kept = [part(process.pid, here), part(gone, elsewhere), 'out.wav.mine.part'];
    for (const name of [...kept, part(gone, here)]) box.file(name, 'x');
    const run = () => box.tts('hi -o out.wav', { env });
    expect(await run()).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toEqual(['out.wav', ...kept].toSorted());
    for (const name of kept) utimesSync(box.path(name), LONG_AGO, LONG_AGO);
    expect(await run()).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toEqual(['out.wav', part(process.pid, here), 'out.wav.mine.part'].toSorted());
  });

  it('is whole, the old one or the new one, however the run is killed', async () => {
    const { server, env, box } = await setUp(streamed(wav, 16_384));
    for (const moment of [0, 20, 60]) {
      box.file('out.wav', 'old');
      const before = server.requests.length;
      const run = box.start('hi --stream -o out.wav', { env });
      await expect.poll(() => server.requests.length, { interval: 5 }).toBeGreaterThan(before);
      await sleep(moment);
      run.child.kill('SIGKILL');
      await run.ended.catch(() => {});
      const found = box.read('out.wav');
      expect(found.toString('latin1', 0, 3) === 'old' || found.equals(wav)).toBe(true);
    }
    expect(await box.run('hi -o out.wav', { env })).toMatchObject({ status: 0 });
    expect(box.list()).toEqual(['out.wav']);
  });
});

describe('a device, a pipe with a name, a full disk', () => {
  it('/dev/null takes all, and is still a device then', async () => {
    const { env, box } = await setUp();
    expect(await box.run('hi -o /dev/null', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(await box.shell('tts hi > /dev/null', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('/dev/full takes nothing', async () => {
    const { env, box } = await setUp();
    expectFailure(await box.run('hi -o /dev/full', { env }), 8, /no space/);
    expectFailure(await box.shell('tts hi > /dev/full', { env }), 8, /no space/);
    const events = await box.run('hi -o out.wav --events /dev/full', { env });
    expect(events).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/warning: .*no space.*the events/),
    });
  });

  it('/dev/stdout is stdout', async () => {
    const { env, box } = await setUp();
    expect((await box.run('hi -o /dev/stdout', { env })).stdout).toEqual(wav);
    expect((await box.run('hi -o -', { env })).stdout).toEqual(wav);
  });

  it('a FIFO gets the WAV', async () => {
    const { env, box } = await setUp();
    execFileSync('mkfifo', [box.path('fifo')]);
    const run = await box.shell('cat fifo > read.wav & tts hi -o fifo; status=$?; wait; exit $status', {
      env,
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('read.wav')).toEqual(wav);
  });
});

describe('stdout', () => {
  it('that is a file gets exact sizes, also where nobody knew them, of a text in one request', async () => {
    const { env, box } = await setUp(streamed(plainWav(pcm, 0xffffffff), 10_000));
    const run = await box.shell('tts "One. Two." --stream > out.wav', { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('that is a file grows while the service sends', async () => {
    const goOn = gate();
    const { env, box } = await setUp(async (wire) => {
      await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
      await wire.write(httpChunk(plainWav(pcm.subarray(0, 640), 0xffffffff)));
      await goOn.opened;
      await wire.write(Buffer.concat([httpChunk(pcm.subarray(640)), httpChunk('')]));
    });
    const run = box.shell('tts hi --stream > out.wav', { env });
    await vi.waitFor(() => expect(box.read('out.wav').subarray(44)).toEqual(pcm.subarray(0, 640)), 60_000);
    goOn.open();
    expect(await run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('that appends is left alone', async () => {
    const { env, box } = await setUp(streamed(plainWav(pcm, 0xffffffff)));
    box.file('all', 'before');
    expect(await box.shell('tts hi --stream >> all', { env })).toMatchObject({ status: 0, stderr: '' });
    const all = box.read('all');
    expect(all.toString('latin1', 0, 6)).toBe('before');
    expect(parseWav(all.subarray(6)).pcm).toEqual(pcm);
  });

  it.each([
    ['is a pipe', 'tts hi | cat > all; exit $PIPESTATUS', 0],
    ['appends', 'tts hi >> all', 6],
  ])(
    'that %s and got the length of a first try is no success when the next one has another',
    async (_, line, start) => {
      const [short, long] = [plainWav(sound(40_000)), plainWav(sound(60_000))];
      const broken: Script = async (wire) => {
        await wire.write(head(200, { 'Content-Type': 'audio/wav', 'Content-Length': short.length }));
        await wire.write(short.subarray(0, 20_044));
        wire.end();
      };
      const { env, box } = await setUp(inTurn(broken, complete(long)));
      box.file('all', 'before');
      const run = await box.shell(line, { env: { ...env, TTS_RETRIES: '1' } });
      expectFailure(run, 7, /the audio has 60000 bytes where its header says 40000/);
      expect(box.read('all')).toHaveLength(start + long.length);
    },
  );

  it.each([
    ['head -c 1000 > part', 1000],
    ['true', 0],
  ])('whose reader leaves ends the run quietly: | %s', async (reader, bytes) => {
    const { server, env, box } = await setUp(async (wire) => {
      await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
      let open = true;
      void wire.closed.then(() => {
        open = false;
      });
      await wire.write(httpChunk(plainWav(pcm, 0xffffffff)));
      while (open) {
        await wire.write(httpChunk(pcm));
        await sleep(10);
      }
    });
    const run = await box.shell(`tts hi --stream | ${reader}; exit $PIPESTATUS`, { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    if (bytes > 0) expect(box.read('part')).toHaveLength(bytes);
    await expect.poll(() => server.connections.open).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('that is closed is no success that delivers nothing', async () => {
    const { env, box } = await setUp();
    expectFailure(await box.shell('tts hi >&-', { env }), 8, /stdout/);
  });

  it('that was opened for reading is refused before anything is asked for', async () => {
    const { env, box, server } = await setUp();
    box.file('kept.wav', 'kept');
    expectFailure(await box.shell('tts hi 1<kept.wav', { env }), 8, /stdout.*for reading only/);
    expect(server.requests).toEqual([]);
    expect(box.read('kept.wav').toString()).toBe('kept');
  });

  it('does not end with a closed stderr', async () => {
    const { env, box } = await setUp();
    expect(await box.shell('tts hi -v -o out.wav 2>&-', { env })).toMatchObject({ status: 0 });
    expect(await box.shell('tts hi -v -o out.wav 2> /dev/full', { env })).toMatchObject({ status: 0 });
    expect(box.read('out.wav')).toEqual(wav);
  });
});

/** A line of bash that runs the program on a system that fails as told: see inject in strace(1). */
function failing(fault: string, args: string, path?: string): string {
  const where = path ? `-P "${path}"` : '';
  // As a grandchild the tracer leaves the program its process number.
  return `exec strace -D -f -qq -o /dev/null ${where} -e inject=${fault} '${node}' '${program}' ${args}`;
}

/** Names of parts end in what is the same for all runs on one machine. */
async function tagOfParts(): Promise<string> {
  const { url } = await serveBytes(silent);
  const box = new Sandbox();
  const run = box.start('hi -o out.wav', { env: named(url) });
  const tag = () => /-(\w+)\.part$/.exec(box.list()[0] ?? '')?.[1];
  await expect.poll(tag).toBeDefined();
  const found = tag() ?? '';
  await run.endBy('SIGTERM');
  return found;
}

describe.runIf(mayTrace())('a disk that fails', () => {
  it('as the file is closed leaves the old one', async () => {
    const { env, box } = await setUp();
    box.file('out.wav', 'old');
    const part = `$PWD/out.wav.$$-${await tagOfParts()}.part`;
    const run = await box.shell(failing('close:error=ENOSPC', 'hi -o out.wav', part), { env });
    expectFailure(run, 8, /cannot write out\.wav: no space is left there/);
    expect(box.list()).toEqual(['out.wav']);
    expect(box.read('out.wav').toString()).toBe('old');
  });

  it.each([
    ['-o out.wav', 'EDQUOT', /cannot write out\.wav: the disk quota is used up/],
    ['> out.wav', 'EIO', /cannot write stdout: the device reports an error/],
  ])('as it is asked whether all is there: %s, %s', async (where, error, message) => {
    const { url } = await serveBytes(complete(wav));
    const run = await new Sandbox().shell(failing(`fsync:error=${error}`, `hi ${where}`), {
      env: named(url),
    });
    expectFailure(run, 8, message);
  });
});

describe('text for stdout', () => {
  const ASKED_FOR = ['tts --version', 'tts config', 'tts hi --dry-run', 'tts doctor'];

  it.each(ASKED_FOR)('that cannot be written is an error of the output: %s', async (line) => {
    const full = await new Sandbox().shell(`${line} > /dev/full`);
    expectFailure(full, 8, /no space is left there\nhint: free some space, or send it elsewhere/);
    const closed = await new Sandbox().shell(`${line} >&-`);
    const message = expect.stringContaining('cannot write stdout: it is closed');
    expect([closed.status, closed.stderr]).toEqual([8, message]);
  });

  it('that cannot be written is told as data where it was to be data, and the file is whole', async () => {
    const box = new Sandbox();
    const run = await box.shell('tts hi -o out.wav --json > /dev/full');
    expect(JSON.parse(run.stderr).error).toEqual({
      message: 'cannot write stdout: no space is left there',
      hint: 'free some space, or send it elsewhere',
      exitCode: 8,
    });
    expect({ status: run.status, files: box.list() }).toEqual({ status: 8, files: ['out.wav'] });
    expect((await box.shell('tts hi -q -o out.wav >&-')).status).toBe(0);
  });

  it('for a reader that has left ends quietly', async () => {
    for (const line of ASKED_FOR.slice(0, 3)) {
      const run = await new Sandbox().shell(`(sleep 0.3; ${line}) | exec <&-; exit $PIPESTATUS`);
      expect(run).toMatchObject({ status: 0, stderr: '' });
    }
  });
});
