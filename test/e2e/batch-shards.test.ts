import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesBelow } from '../support/folder.ts';
import { type RowServiceOptions, serveRows } from '../support/row-service.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

const table = (count: number) =>
  `id,text\n${Array.from({ length: count }, (_, at) => `row-${at},This is the text of row ${at}.`).join('\n')}\n`;
const ARGS = 'batch p.csv -o out/{id}.wav';

/** Two machines with the same table and service. */
async function twoWith(rows: number, options: RowServiceOptions = {}) {
  const server = await serveRows(options);
  const [box, other] = [new Sandbox(), new Sandbox()];
  for (const each of [box, other]) each.file('p.csv', table(rows));
  return { server, box, other, env: named(server.url) };
}

/** All files of a folder with the hashes of what is in them. */
function filesIn(folder: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(filesBelow(folder).map((name) => [name, hash(name)]));
}

it('A batch that is killed goes on without asking again for what is done, at three moments.', async () => {
  const moments = [3, 12, 21];
  let kill = () => {};
  const { server, box, other, env } = await twoWith(30, {
    delay: 2,
    onSpoken: (count) => {
      if (count !== moments[0]) return;
      moments.shift();
      kill();
    },
  });
  let runs = 0;
  for (let status: number | null = null; status !== 0; runs += 1) {
    const run = box.start(`${ARGS} --concurrency 2`, { env });
    kill = () => run.child.kill('SIGKILL');
    ({ status } = await run.ended);
    expect([0, null]).toContain(status);
  }
  expect(runs).toBe(4);
  // What was under way when a run was killed is asked for once more: two rows in flight for each request at once.
  const total = [...server.spoken.values()].reduce((sum, times) => sum + times, 0);
  expect(total).toBeLessThanOrEqual(30 + 3 * 2 * 2);
  kill = () => {};
  await other.run(ARGS, { env });
  expect(filesIn(box.path('out'))).toEqual(filesIn(other.path('out')));
});

it('Four shards at once make the same files as one run, and their manifests fold into the same.', async () => {
  const { server, box, other, env } = await twoWith(40);
  const shards = [1, 2, 3, 4].map((at) => box.tts(`${ARGS} --shard ${at}/4 -q`, { env }));
  for (const shard of await Promise.all(shards)) expect(shard).toMatchObject({ status: 0, stderr: '' });
  expect([server.spoken.size, Math.max(...server.spoken.values())]).toEqual([40, 1]);
  expect(Object.keys(filesIn(box.path('out'))).filter((name) => name.endsWith('.jsonl'))).toHaveLength(4);
  expect(await box.run(`${ARGS} --check`, { env })).toMatchObject({ status: 0 });
  await other.run(ARGS, { env });
  expect(filesIn(box.path('out'))).toEqual(filesIn(other.path('out')));
  expect(await box.run(ARGS, { env })).toMatchObject({ status: 0 });
  expect(server.requests).toHaveLength(80);
});

it('A check leaves the manifest of a shard that ends meanwhile, and the next one folds it.', async () => {
  const { box, env } = await twoWith(3000);
  await box.run(`${ARGS} --shard 1/3000`, { env });
  const manifest = 'out/tts-batch.1-of-3000.jsonl';
  // The check waits for its reader.
  const meanwhile = `{ read -r; cp ${manifest} more; cat more >> ${manifest}; wc -l; }`;
  const { stdout } = await box.shell(`tts ${ARGS} --check | ${meanwhile}`, { env });
  expect(Number(stdout)).toBe(2998);
  expect(filesBelow(box.path('out'))).toContain('tts-batch.1-of-3000.jsonl');
  await box.run(`${ARGS} --check`, { env });
  expect(filesBelow(box.path('out'))).toEqual([expect.stringMatching(/^row-\d+\.wav$/), 'tts-batch.jsonl']);
});

it('A repository becomes whole by the recipe of docs/batch.md for many jobs, and nothing is asked for twice.', async () => {
  const page = readFileSync(new URL('../../docs/batch.md', import.meta.url), 'utf8');
  const blocks = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, block = '']) => parse(block));
  const stepsOf = (job: string): string => {
    const { steps } = blocks.find(({ jobs }) => jobs?.whole).jobs[job];
    const lines = steps.flatMap(({ run }: { run?: string }) => run ?? []);
    return lines.filter((line: string) => !line.startsWith('npm ')).join('\n');
  };
  const server = await serveRows();
  const env = named(server.url);
  const box = new Sandbox();
  const git = 'git -c user.name=a -c user.email=a@b.c';
  const commit = `cd repo && ${git} add -A && ${git} commit -qm made`;
  box.file('repo/prompts.csv', table(12));
  const made = await box.run('batch prompts.csv -o prompts/{id}.wav', { env, cwd: 'repo' });
  expect(made).toMatchObject({ status: 0 });
  expect(await box.shell(`git init -q repo && ${commit}`)).toMatchObject({ status: 0 });
  box.file('repo/prompts.csv', table(12).replaceAll(/(row [02468])\./g, '$1 again.'));
  const clones = 'for job in 1 2 3 4 whole; do git clone -q repo $job; done';
  expect(await box.shell(`(${commit}) && ${clones}`)).toMatchObject({ status: 0 });
  for (const shard of ['1', '2', '3', '4']) {
    const script = stepsOf('part').replaceAll(/\$\{\{ matrix\.shard \}\}/g, shard);
    const run = await box.shell(`cd ${shard} && set -e\n${script}\ncp part-*.tgz ../whole`, { env });
    expect(run).toMatchObject({ status: 0 });
  }
  const run = await box.shell(`cd whole && set -e\n${stepsOf('whole')}`, { env });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  const manifests = filesBelow(box.path('whole/prompts')).filter((name) => name.startsWith('tts-batch'));
  expect(manifests).toEqual(['tts-batch.jsonl']);
  expect(Math.max(...server.spoken.values())).toBe(1);
});

it('Two runs on one folder are one too many: the second is told who is at work, and nothing is lost.', async () => {
  const { server, box, env } = await twoWith(4, { delay: 300 });
  const first = box.start(`${ARGS} --concurrency 1`, { env });
  await expect.poll(() => server.requests.length).toBeGreaterThan(0);
  const second = await box.run(ARGS, { env });
  expectFailure(second, 8, new RegExp(`process ${first.child.pid} .* is at work in this folder`));
  expect(await first.ended).toMatchObject({ status: 0 });
  expect(server.requests).toHaveLength(4);
});

it.runIf(process.platform === 'linux')(
  'A run that was killed holds no folder, also while its parent does not ask how it ended.',
  async () => {
    const { box, env } = await twoWith(4, { delay: 300 });
    const lock = 'out/tts-batch.lock';
    const script = `(tts ${ARGS} & exec sleep 10) &
      until test -s ${lock}; do sleep 0.05; done
      pid=$(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${lock})
      kill -KILL $pid
      until grep -q '^State:.Z' /proc/$pid/status; do sleep 0.05; done
      tts ${ARGS}; status=$?; kill %1; exit $status`;
    expect(await box.shell(script, { env })).toMatchObject({ status: 0 });
  },
);

it.runIf(process.platform === 'linux')(
  'A run that was killed holds no folder, also where another process has its number, as in a container that starts again.',
  async () => {
    const { box, env } = await twoWith(4, { delay: 300 });
    const lock = 'out/tts-batch.lock';
    const first = box.start(ARGS, { env });
    await expect.poll(() => existsSync(box.path(lock)) && box.read(lock).length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.ended;
    const owner = JSON.parse(box.read(lock).toString());
    box.file(lock, JSON.stringify({ ...owner, pid: process.pid }));
    expect(await box.run(ARGS, { env })).toMatchObject({ status: 0 });
  },
);

it('A table of 40,000 rows is checked with a heap of 50 MB, with every line in order.', {
  timeout: 200_000,
}, async () => {
  const box = new Sandbox();
  box.file('p.csv', table(40_000));
  const env = { NODE_OPTIONS: '--max-old-space-size=50' };
  const run = await box.tts('batch p.csv --check', { env, patience: 180_000 });
  expect(run.status).toBe(9);
  expect(run.stdout.toString('latin1', 0, 60)).toMatch(/^missing: row-0\.wav/);
  expect(run.stdout.subarray(-200).toString()).toMatch(/row-39998\.wav .*\n.*row-39999\.wav .*\n$/);
});
