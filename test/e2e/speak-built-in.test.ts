import { describe, expect, it } from 'vitest';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { type Ended, expectFailure, Sandbox } from '../support/run.ts';

/** One request, and more sound than memory is set aside for. */
const LONG = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(60);

describe('with nothing configured', () => {
  it('the built-in voice speaks into a file, with one note on stderr', async () => {
    const box = new Sandbox();
    const run = await box.run(['hello', '-o', 'out.wav']);
    expect(run.status).toBe(0);
    expect(run.stdout).toHaveLength(0);
    expect(run.stderr).toMatch(/^tts: [^\n]*built-in[^\n]*\n$/);
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(10_000);
    expect(parseWav(box.read('out.wav'))).toMatchObject({
      tag: 1,
      channels: 1,
      sampleRate: 22_050,
      bits: 16,
    });
    expect(box.list()).toEqual(['out.wav']);
  });

  it('it is told apart from a service that could send the audio elsewhere', async () => {
    const box = new Sandbox();
    const run = await box.run(['hello', '-o', 'out.wav', '--callback-url', 'http://127.0.0.1:9/done']);
    expectFailure(
      run,
      2,
      /built-in .*--callback-url\nhint: .*--base-url.* tts serve --callbacks http:\/\/127\.0\.0\.1:9\n/,
    );
    expect(box.list()).toEqual([]);
  });

  it('it speaks through pipes and from files', async () => {
    const box = new Sandbox();
    box.file('a.txt', 'First.');
    box.file('b.txt', 'Second.');
    expect((await box.shell('echo hello | tts -q > out.wav')).status).toBe(0);
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(10_000);
    const both = await box.run(['-f', 'a.txt', '-f', 'b.txt', '-o', '-', '-q']);
    expect(both).toMatchObject({ status: 0, stderr: '' });
    expect(parseWav(both.stdout).pcm.length).toBeGreaterThan(20_000);
    const streamed = await box.run(['--stream', 'hello', '-q']);
    expect(parseWav(streamed.stdout).pcm.length).toBeGreaterThan(10_000);
  });

  it('it has five voices, which differ', async () => {
    const runs: Ended[] = [];
    for (const no of '12345') runs.push(await new Sandbox().run(['hello', '-q', '-s', no]));
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
    expect(new Set(runs.map(({ stdout }) => stdout.toString('latin1'))).size).toBe(5);
    const unasked = await new Sandbox().run(['hello', '-q']);
    expect(unasked.stdout).toEqual(runs[0]?.stdout);
  });

  it('it says the same each time', async () => {
    const first = await new Sandbox().tts(['hello there', '-q']);
    const second = await new Sandbox().run(['hello there', '-q']);
    expect(first.stdout).toEqual(second.stdout);
  });

  it('it gives the sample rate that is asked for', async () => {
    const run = await new Sandbox().run(['hello', '-q', '-r', '8000']);
    expect(parseWav(run.stdout)).toMatchObject({ sampleRate: 8000 });
  });

  it.each(['你好', '😀', 'مرحبا'])('it says that it speaks English only: %s', async (text) => {
    const box = new Sandbox();
    const run = await box.run([text, '-q', '-o', 'out.wav']);
    expect(run.status).not.toBe(0);
    expect(run.stderr).toMatch(/^tts: .*English.*\n(hint: .*\n)?$/);
    expect(box.list()).toEqual([]);
  });

  it('it says who refuses a text, and nothing of speaking where none is to be had', async () => {
    const box = new Sandbox();
    const refused = await box.run(['\u4f60\u597d', '-q', '-o', 'out.wav']);
    expectFailure(
      refused,
      7,
      /^tts: the built-in voice speaks English only, and can read next to nothing of this text/,
    );
    expectFailure(
      await box.run(['-o', 'out.wav'], { stdin: ' \n' }),
      2,
      /^tts: nothing to say: the text is blank\n/,
    );
    expectFailure(await box.run(['-f', 'none.txt', '-o', 'out.wav']), 2, /^tts: cannot read none\.txt/);
  });

  it('speaks despite the key of a service where it is asked for by name', async () => {
    const box = new Sandbox();
    const env = { TTS_API_KEY: 'key-of-a-service' };
    expect(await box.run(['hi', '-s', 'slt', '-q', '-o', 'out.wav'], { env })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expectFailure(
      await box.run(['hi', '-o', 'a.wav'], { env }),
      2,
      /there is a key \(TTS_API_KEY\), but no base/,
    );
    const hint = /no speaker is called "ann"\nhint: there is a key \(TTS_API_KEY\), but no base URL/;
    expectFailure(await box.run(['hi', '-s', 'ann', '-o', 'a.wav'], { env }), 2, hint);
  });

  it('introduces itself where nobody chose a voice', async () => {
    const box = new Sandbox();
    const first = await box.run(['hi', '-o', 'out.wav']);
    expect(first.stderr).toContain(
      'the built-in English voice speaks; a natural one: tts voices install cori',
    );
    expect(await box.run(['hi', '-s', 'slt', '-o', 'out.wav'])).toMatchObject({ status: 0, stderr: '' });
  });

  it('a text without a spoken word, and an empty pipe, each have a sentence of their own', async () => {
    const box = new Sandbox();
    const args = ['--format', 'markdown', '--code', 'skip', '-o', 'out.wav'];
    const code = await box.run(args, { stdin: '```\nx\n```\n' });
    expectFailure(code, 2, /nothing to say: the text has no words that are spoken\nhint: .*--show-text/);
    expectFailure(await box.run(args, { stdin: '' }), 2, /nothing to say: no text came from stdin\n/);
  });

  it('a speaker that it does not have is an error', async () => {
    const run = await new Sandbox().run(['hello', '-q', '-s', '9999', '-o', 'out.wav']);
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(/9999/);
  });

  it('is quiet with -q, and with -v tells of its segments', async () => {
    const box = new Sandbox();
    expect(await box.run(['hello', '-q', '-o', 'out.wav'])).toMatchObject({ status: 0, stderr: '' });
    const told = await box.run(['hello', '-v', '--no-cache', '-o', 'out.wav']);
    expect(told.stderr).toMatch(
      /segment 1 "hello": spoken by the built-in voice\ntts: segment 1: sound after \d+ ms\n/,
    );
  });

  it('does not go through a proxy to itself', async () => {
    const run = await new Sandbox().run(['hello', '-q', '-o', 'out.wav'], {
      env: { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' },
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('it needs no temporary folder for a long sound, and no network', async () => {
    const box = new Sandbox();
    const env = { TMPDIR: box.path('missing') };
    const args = ['-o', 'out.wav', '-q', '--max-chars', '4000'];
    expect(await box.run(args, { env, stdin: LONG })).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(4 * 2 ** 20);
    const alone = 'unshare -rn';
    if ((await box.shell(`${alone} true`)).status !== 0) return;
    expect(await box.shell(`${alone} tts hi -q -o hi.wav`)).toMatchObject({ status: 0, stderr: '' });
  });

  it('a key alone is an error: somebody meant a real service', async () => {
    expectFailure(await new Sandbox().run(['hello'], { env: { TTS_API_KEY: 'some-key' } }), 2, /base URL/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at %s while it speaks', async (signal) => {
    const box = new Sandbox();
    box.file('long.txt', 'This is a sentence that takes a while to say. '.repeat(10_000));
    const run = box.start(['-f', 'long.txt', '-o', 'out.wav']);
    await expect.poll(() => box.list()).toHaveLength(2);
    const { ended, milliseconds } = await run.endBy(signal);
    expect(ended.status).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(milliseconds).toBeLessThan(30_000);
    expect(box.list()).toEqual(['long.txt']);
  });
});
