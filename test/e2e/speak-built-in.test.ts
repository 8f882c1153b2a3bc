import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { type Ended, expectFailure, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

/** One request, and more sound than memory is set aside for. */
const LONG = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(30);

describe('with nothing configured', () => {
  it('the built-in voice speaks into a file, with one note on stderr', async () => {
    const box = new Sandbox();
    const run = await box.run('hello -o out.wav');
    expect(run.status).toBe(0);
    expect(run.stdout).toHaveLength(0);
    expect(run.stderr).toMatch(
      /^tts: the built-in English voice speaks; a natural one: tts voices install cori\n$/,
    );
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(10_000);
    expect(parseWav(box.read('out.wav'))).toMatchObject({
      tag: 1,
      channels: 1,
      sampleRate: 22_050,
      bits: 16,
    });
    expect(box.list()).toEqual(['out.wav']);
  });

  it('it has five voices, which differ, each by its name as well', async () => {
    const runs: Ended[] = [];
    for (const no of '12345') runs.push(await new Sandbox().run(`hello -q -s ${no}`));
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
    expect(new Set(runs.map(({ stdout }) => stdout.toString('latin1'))).size).toBe(5);
    expect((await new Sandbox().run('hello -q')).stdout).toEqual(runs[0]?.stdout);
    expect((await new Sandbox().run('hello -q -s slt')).stdout).toEqual(runs[1]?.stdout);
    expectFailure(await new Sandbox().run('hi -s slr'), 2, /did you mean slt\?/);
    expectFailure(await new Sandbox().run('hi -s female'), 2, /hint: -s slt is a woman and -s rms a man/);
    expectFailure(await new Sandbox().run('hi -s 9999'), 2, /9999/);
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
      await box.run('-o out.wav', { stdin: ' \n' }),
      2,
      /^tts: nothing to say: the text is blank\n/,
    );
    expectFailure(await box.run('-f none.txt -o out.wav'), 2, /^tts: cannot read none\.txt/);
  });

  it('speaks despite the key of a service where it is asked for by name', async () => {
    const box = new Sandbox();
    const env = { TTS_API_KEY: 'key-of-a-service' };
    expect(await box.run('hi -s slt -q -o out.wav', { env })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expectFailure(await box.run('hi -o a.wav', { env }), 2, /there is a key \(TTS_API_KEY\), but no base/);
    const hint = /no speaker is called "ann"\nhint: there is a key \(TTS_API_KEY\), but no base URL/;
    expectFailure(await box.run('hi -s ann -o a.wav', { env }), 2, hint);
  });

  it('a text without a spoken word, and an empty pipe, each have a sentence of their own', async () => {
    const box = new Sandbox();
    const args = ['--format', 'markdown', '--code', 'skip', '-o', 'out.wav'];
    const code = await box.run(args, { stdin: '```\nx\n```\n' });
    expectFailure(code, 2, /nothing to say: the text has no words that are spoken\nhint: .*--show-text/);
    expectFailure(await box.run(args, { stdin: '' }), 2, /nothing to say: no text came from stdin\n/);
  });

  it('is quiet with -q, and with -v tells of its segments', async () => {
    const box = new Sandbox();
    expect(await box.run('hello -q -o out.wav')).toMatchObject({ status: 0, stderr: '' });
    const told = await box.run('hello -v --no-cache -o out.wav');
    expect(told.stderr).toMatch(
      /segment 1 "hello": spoken by the built-in voice\ntts: segment 1: sound after \d+ ms\n/,
    );
  });

  it('it needs no temporary folder for a long sound, and no network', async () => {
    const box = new Sandbox();
    const env = { TMPDIR: box.path('missing') };
    const args = ['-o', 'out.wav', '-q', '-r', '48000', '--max-chars', '4000'];
    expect(await box.run(args, { env, stdin: LONG })).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(4 * 2 ** 20);
    const alone = 'unshare -rn';
    if ((await box.shell(`${alone} true`)).status !== 0) return;
    expect(await box.shell(`${alone} tts hi -q -o hi.wav`)).toMatchObject({ status: 0, stderr: '' });
  });

  it('ends at Ctrl-C while it speaks', async () => {
    const box = new Sandbox();
    box.file('long.txt', 'This is a sentence that takes a while to say. '.repeat(2000));
    const run = box.start('-f long.txt -o out.wav');
    await expect.poll(() => box.list()).toHaveLength(2);
    const { ended } = await run.endBy('SIGINT');
    expect(ended.status).toBe(130);
    expect(box.list()).toEqual(['long.txt']);
  });
});

const TEXT = `Dr. Smith's 3 cats paid $4.50 on 21 May, didn't they? "Yes", said one.

It was late. We saw the moon rise over the mountains while the wolves howled, and nobody spoke for a while; then it rained.`;

/** Each line writes one.wav. */
const recorded: readonly (readonly [line: string, sha256: string])[] = [
  ['tts hello -q -o one.wav', '66047b82141e9b7b'],
  ['tts hello -q --stream | cat > one.wav', 'c8905f5db1951a45'],
  ['tts hello -q -s 2 -r 48000 > one.wav', 'fbbf446ef1c525d1'],
  ['tts -f text.txt -q -s 5 --max-chars 60 | cat > one.wav', '1f9d29403a79a0f5'],
  ['tts -f text.txt -q -s 12 --instructions "slow, deep, whisper" -o one.wav', 'b261a8c2e377924f'],
  ['tts "hello there" -q -s 101 -o one.wav', 'bdc66c717d951540'],
  ['tts "hello there" --no-cache --engine server -r 22050 -o one.wav', 'c50d62d3c6182a68'],
  ['tts -f text.txt -q --engine program -r 8000 -o one.wav', 'ac5a1d428b7f289b'],
];

describe('the sound of the voices of this program stays the same', () => {
  it.each(recorded)('%s', async (line, before) => {
    const box = new Sandbox();
    box.file('text.txt', TEXT);
    box.file('good.wav', plainWav(sound(1_100_000), undefined, { ...speechFormat, channels: 2 }));
    box.file('espeak.wav', plainWav(sound(20_000)));
    fakeEspeak(box.commands, `cat '${box.path('espeak.wav')}'`);
    const wav = plainWav(sound(40_000));
    const server = await serveSpeech(line.includes('--stream') ? streamed(wav, 3333) : complete(wav));
    const program = { command: ['cat', box.path('good.wav')] };
    writeUserConfig(box, { engines: { server: { url: server.url }, program } });
    const run = await box.shell(line);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(createHash('sha256').update(box.read('one.wav')).digest('hex').slice(0, 16)).toBe(before);
  });
});
