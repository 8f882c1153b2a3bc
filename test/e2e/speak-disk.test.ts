import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete, silent } from '../support/http-bytes.ts';
import { mayTrace } from '../support/programs.ts';
import { expectFailure, named, node, program, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(10_000));

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
  const run = box.start(['hi', '-o', 'out.wav'], { env: named(url) });
  const tag = () => /-(\w+)\.part$/.exec(box.list()[0] ?? '')?.[1];
  await expect.poll(tag).toBeDefined();
  const found = tag() ?? '';
  await run.endBy('SIGTERM');
  return found;
}

describe.runIf(mayTrace())('a disk that fails', () => {
  it('as the file is closed leaves the old one', async () => {
    const { url } = await serveBytes(complete(wav));
    const box = new Sandbox();
    box.file('out.wav', 'old');
    const part = `$PWD/out.wav.$$-${await tagOfParts()}.part`;
    const run = await box.shell(failing('close:error=ENOSPC', 'hi -o out.wav', part), { env: named(url) });
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

  it('because it cannot be asked that at all is none', async () => {
    const { url } = await serveBytes(complete(wav));
    const box = new Sandbox();
    const run = await box.shell(failing('fsync:error=EINVAL', 'hi -o out.wav'), { env: named(url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('under the cache costs no sound, and what it cannot read is asked for again', async () => {
    const server = await serveBytes(complete(wav));
    const box = new Sandbox();
    const env = named(server.url, { TTS_CACHE: '1', UV_THREADPOOL_SIZE: '1' });
    expect(await box.run(['hi', '-o', 'first.wav'], { env })).toMatchObject({ status: 0 });
    const segments = join(box.home, '.cache/tts/segments');
    const [name = ''] = readdirSync(segments, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.wav'),
    );
    const entry = join(segments, name);
    const closed = await box.shell(failing('close:error=EIO', 'hi -o second.wav', entry), { env });
    expect(closed).toMatchObject({ status: 0 });
    expect(box.read('second.wav')).toEqual(wav);
    expect(server.requests).toHaveLength(1);
    // Its head, its samples, its head again for the checksum; then the samples for whoever listens.
    const torn = await box.shell(failing('pread64:error=EIO:when=4', 'hi -o third.wav', entry), { env });
    expectFailure(torn, 8, /which was whole a moment ago/);
    expect(await box.run(['hi', '-o', 'third.wav'], { env })).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests).toHaveLength(2);
  });
});

describe.runIf(userInfo().uid === 0)('a config folder that cannot be looked at', () => {
  const nobody = 65_534;

  /** A home with such a folder, of this owner. */
  function closedHome(owner: number): Sandbox {
    const box = new Sandbox();
    mkdirSync(join(box.home, '.config/tts'), { recursive: true });
    chmodSync(join(box.home, '.config/tts'), 0);
    for (const path of [box.home, box.folder, join(box.home, '.config/tts')]) chownSync(path, owner, owner);
    return box;
  }

  it('is no missing one, with which another voice would speak', async () => {
    const run = await closedHome(nobody).run(['hi', '-o', 'out.wav'], { uid: nobody });
    expectFailure(run, 2, /cannot read the settings in .*\.config\/tts\/config\.json\nhint: check its perm/);
  });

  it('is none where the home is that of another user', async () => {
    const box = closedHome(0);
    chmodSync(box.folder, 0o777);
    const args = ['hi', '-q', '-o', 'out.wav'];
    expect(await box.run(args, { uid: nobody })).toMatchObject({ status: 0 });
    const env = { XDG_CONFIG_HOME: join(box.home, '.config') };
    expect(await box.run(args, { uid: nobody, env })).toMatchObject({ status: 0 });
  });
});
