import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isThere } from '../support/programs.ts';
import { serveRows } from '../support/row-service.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';

const table = (count: number) =>
  `id,text\n${Array.from({ length: count }, (_, at) => `row-${at},This is the text of row ${at}.`).join('\n')}\n`;

/** All files of a folder with the hashes of what is in them. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

describe('a run that is killed', () => {
  it('goes on without asking again for what is done, at six moments', async () => {
    const ROWS = 40;
    const AT_ONCE = 2;
    const moments = Array.from({ length: 6 }, (_, at) => 3 + at * 6);
    let kill = () => {};
    let next = moments.shift();
    const server = await serveRows({
      delay: 2,
      onSpoken: (count) => {
        if (count !== next) return;
        next = moments.shift();
        kill();
      },
    });
    const box = new Sandbox();
    box.file('p.csv', table(ROWS));
    const once = new Sandbox();
    once.file('p.csv', table(ROWS));
    const env = named(server.url);
    const args = ['batch', 'p.csv', '-o', 'out/{id}.wav', '--concurrency', String(AT_ONCE)];
    let runs = 0;
    for (let status: number | null = null; status !== 0; runs += 1) {
      const run = box.start(args, { env });
      kill = () => run.child.kill('SIGKILL');
      ({ status } = await run.ended);
      expect([0, null]).toContain(status);
    }
    expect(runs).toBe(7);
    // What was under way when a run was killed is asked for once more: two rows in flight for each request at once.
    const total = [...server.spoken.values()].reduce((sum, times) => sum + times, 0);
    expect(total).toBeLessThanOrEqual(ROWS + 6 * 2 * AT_ONCE);
    kill = () => {};
    await once.run(args, { env });
    expect(filesIn(box.path('out'))).toEqual(filesIn(once.path('out')));
  });
});

describe('eight shards at once', () => {
  it('make the same files as one run, and their manifests fold into the same', async () => {
    const server = await serveRows();
    const [box, once] = [new Sandbox(), new Sandbox()];
    const args = ['batch', 'p.csv', '-o', 'out/{id}.wav'];
    const env = named(server.url);
    for (const each of [box, once]) each.file('p.csv', table(100));
    const shards = Array.from({ length: 8 }, (_, at) =>
      box.tts([...args, '--shard', `${at + 1}/8`, '-q'], { env, patience: 110_000 }),
    );
    for (const shard of await Promise.all(shards)) expect(shard).toMatchObject({ status: 0, stderr: '' });
    expect(Math.max(...server.spoken.values())).toBe(1);
    expect(server.spoken.size).toBe(100);
    expect(Object.keys(filesIn(box.path('out'))).filter((name) => name.endsWith('.jsonl'))).toHaveLength(8);
    expect(await box.run([...args, '--check'], { env })).toMatchObject({ status: 0 });
    await once.run(args, { env });
    expect(filesIn(box.path('out'))).toEqual(filesIn(once.path('out')));
    expect(await box.run(args, { env })).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(200);
  });

  it('run under GNU parallel', async ({ skip }) => {
    if (!isThere('parallel')) skip('GNU parallel is not installed');
    const box = new Sandbox();
    box.file('p.csv', table(24));
    const run = await box.shell("parallel -j2 tts batch p.csv -q --shard '{}/4' ::: $(seq 4)", {
      patience: 110_000,
    });
    expect(run).toMatchObject({ status: 0 });
    expect(await box.run(['batch', 'p.csv', '--check'])).toMatchObject({ status: 0 });
    expect(box.list().filter((name) => name.endsWith('.wav'))).toHaveLength(24);
  });
});

describe('shards of a repository that has the sounds', { timeout: 120_000 }, () => {
  const OUT = ['batch', 'prompts.csv', '-o', 'prompts/{id}.wav'];
  const page = readFileSync(new URL('../../docs/batch.md', import.meta.url), 'utf8');
  const steps = (job: string): string => {
    const blocks = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, block = '']) => parse(block));
    const { steps } = blocks.find(({ jobs }) => jobs?.whole).jobs[job];
    const lines = steps.flatMap(({ run }: { run?: string }) => run ?? []);
    return lines.filter((line: string) => !line.startsWith('npm ')).join('\n');
  };
  const git = 'git -c user.name=a -c user.email=a@b.c';

  /** A clone for each of four jobs, in which some of the twelve committed sounds are stale. */
  async function jobs() {
    const server = await serveRows();
    const env = named(server.url);
    const box = new Sandbox();
    box.file('repo/prompts.csv', table(12));
    expect(await box.run(OUT, { env, cwd: 'repo' })).toMatchObject({ status: 0 });
    const commit = `cd repo && ${git} add -A && ${git} commit -qm made`;
    expect(await box.shell(`git init -q repo && ${commit}`)).toMatchObject({ status: 0 });
    box.file('repo/prompts.csv', table(12).replaceAll(/(row [02468])\./g, '$1 again.'));
    expect(await box.shell(commit)).toMatchObject({ status: 0 });
    for (const job of ['1', '2', '3', '4', 'whole'])
      expect(await box.shell(`git clone -q repo ${job}`)).toMatchObject({ status: 0 });
    return { server, env, box };
  }

  it('become whole by the recipe of docs/batch.md, and nothing is asked for twice', async () => {
    const { server, env, box } = await jobs();
    for (const shard of ['1', '2', '3', '4']) {
      const script = steps('part').replaceAll(/\$\{\{ matrix\.shard \}\}/g, shard);
      const run = await box.shell(`cd ${shard} && set -e\n${script}\ncp part-*.tgz ../whole`, { env });
      expect(run).toMatchObject({ status: 0 });
    }
    const run = await box.shell(`cd whole && set -e\n${steps('whole')}`, { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(box.path('whole/prompts')).filter((name) => name.startsWith('tts-batch'))).toEqual([
      'tts-batch.jsonl',
    ]);
    expect(Math.max(...server.spoken.values())).toBe(1);
  });

  it('are stale and not damaged where whole folders are copied over each other', async () => {
    const { env, box } = await jobs();
    for (const shard of ['1', '2', '3', '4'])
      await box.tts([...OUT, '--shard', `${shard}/4`], { env, cwd: shard });
    for (const order of ['1 2 3 4', '4 3 2 1']) {
      const copy = `cp -r whole to && for part in ${order}; do cp $part/prompts/* to/prompts; done`;
      expect(await box.shell(copy)).toMatchObject({ status: 0 });
      const check = () => box.run([...OUT, '--check'], { env, cwd: 'to' });
      for (const found of [await check(), await check()]) {
        expect(found.status).toBe(9);
        expect(found.stdout.toString()).toMatch(/^(?:stale: [^\n]+\n)+$/);
      }
      expect(await box.run(OUT, { env, cwd: 'to' })).toMatchObject({ status: 0 });
      expect(await check()).toMatchObject({ status: 0 });
      rmSync(box.path('to'), { recursive: true });
    }
  });
});

describe('two runs on one folder', () => {
  it('are one too many: the second is told who is at work, and nothing is lost', async () => {
    const server = await serveRows({ delay: 300 });
    const box = new Sandbox();
    box.file('p.csv', table(6));
    const env = named(server.url);
    const first = box.start(['batch', 'p.csv', '--concurrency', '1'], { env });
    await expect.poll(() => server.requests.length).toBeGreaterThan(0);
    const second = await box.run(['batch', 'p.csv'], { env });
    expectFailure(second, 8, new RegExp(`process ${first.child.pid} .* is at work in this folder`));
    expect(await first.ended).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(6);
  });
});

describe('where nothing can be written', () => {
  it('a full disk ends the run', async ({ skip }) => {
    const server = await serveRows();
    const box = new Sandbox();
    smallDisk(box, 'out', 'size=64k', skip);
    box.file('p.csv', table(200));
    const run = await box.run(['batch', 'p.csv', '-o', 'out/{id}.wav'], { env: named(server.url) });
    expect(run.stderr).toMatch(/no space is left.*rows are left/);
    expect(run.status).toBe(8);
  });

  it.each(['lock', 'journal', 'jsonl', '2-of-3.lock', '2-of-3.journal', '2-of-3.jsonl'])(
    'a pipe or a folder named tts-batch.%s ends the run',
    async (ending) => {
      const server = await serveRows();
      const box = new Sandbox();
      box.file('p.csv', table(2));
      const run = () => box.run(['batch', 'p.csv'], { env: named(server.url) });
      await box.shell(`mkfifo tts-batch.${ending}`);
      expectFailure(await run(), 2, /tts-batch\..* is a pipe or a device; expected a file of your own/);
      await box.shell(`rm tts-batch.${ending}; mkdir tts-batch.${ending}`);
      expectFailure(await run(), 2, /tts-batch\..* is a folder; expected a file of your own/);
      expect(server.requests).toEqual([]);
    },
  );

  it('a folder that is closed is found before anything is sent', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('root runs this as another user');
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', table(2));
    box.file('out/x', '');
    chmodSync(box.path('out'), 0o555);
    const run = await box.run(['batch', 'p.csv', '-o', 'out/{id}.wav'], {
      env: named(server.url),
      uid: 1000,
    });
    expectFailure(run, 8, /out/);
    expect(server.requests).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('a table of 250,000 rows', () => {
  const ROWS = 250_000;
  const MOST_KIB = 400e6 / 1024;

  /** Written at the end of the process: the peak of its memory. */
  const PRELOAD = `process.on('exit', () => require('node:fs').writeFileSync(process.env.PEAK, require('node:fs').readFileSync('/proc/self/status')))`;

  it('is checked in less than 400 MB, and a slow reader gets every line in order', {
    timeout: 200_000,
  }, async () => {
    const box = new Sandbox();
    box.file('p.csv', table(ROWS));
    const env = { PEAK: box.path('peak'), NODE_OPTIONS: `--require=${box.file('peak.cjs', PRELOAD)}` };
    const run = await box.tts(['batch', 'p.csv', '--check'], { env, patience: 180_000 });
    expect(run.status).toBe(9);
    expect(run.stdout.toString('latin1', 0, 60)).toMatch(/^missing: row-0\.wav/);
    expect(run.stdout.toString('latin1', run.stdout.length - 200)).toMatch(
      /row-249998\.wav .*\n.*row-249999\.wav .*\n$/,
    );
    expect(Number(/VmHWM:\s*(\d+)/.exec(readFileSync(box.path('peak'), 'utf8'))?.[1])).toBeLessThan(MOST_KIB);
  });
});
