import { describe, expect, it } from 'vitest';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, Sandbox } from '../support/run.ts';

const FILM = `1
00:00:01,000 --> 00:00:02,500
Hello there.

2
00:00:04,000 --> 00:00:06,000
[door slams] How are you?
`;
/** The first cue has a second less than it takes. */
const TIGHT = `1
00:00:00,500 --> 00:00:01,000
This is a rather long sentence for half a second.

2
00:00:01,000 --> 00:00:09,000
And that is all.
`;

async function dub(film: string, args: string) {
  const box = new Sandbox();
  box.file('film.srt', film);
  return { box, run: await box.run(`-f film.srt ${args}`) };
}

/** Seconds at which sound begins behind at least 0.3 s of silence. */
function onsetsOf(wav: Buffer): number[] {
  const { pcm, sampleRate } = parseWav(wav);
  const onsets: number[] = [];
  let last = -sampleRate;
  for (let at = 0; at < pcm.length / 2; at += 1) {
    if (Math.abs(pcm.readInt16LE(2 * at)) < 50) continue;
    if (at - last > 0.3 * sampleRate) onsets.push(at / sampleRate);
    last = at;
  }
  return onsets;
}

describe('Subtitles', () => {
  it('are laid over their times, and the sound is as long as the film.', async () => {
    const { box, run } = await dub(FILM, '-q --fit --subtitles heard.srt -o dub.wav');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(parseWav(box.read('dub.wav')).pcm.length).toBe(6 * 22_050 * 2);
    const [first = 0, second = 0] = onsetsOf(box.read('dub.wav'));
    // A voice begins with a breath.
    expect(first).toBeGreaterThanOrEqual(1);
    expect(first).toBeLessThan(1.2);
    expect(second).toBeGreaterThanOrEqual(4);
    expect(second).toBeLessThan(4.2);
    expect(box.read('heard.srt').toString()).toMatch(
      /^1\n00:00:01,000 --> .*\nHello there\.\n\n2\n00:00:04,000 --> /,
    );
  });

  it('may have marks inside a cue.', async () => {
    const film = '1\n00:00:02,000 --> 00:00:08,000\nOne. [pause:1.5s] Two.\n';
    const { box, run } = await dub(film, '-q --fit --marks -o dub.wav');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const [first = 0, second = 0] = onsetsOf(box.read('dub.wav'));
    expect(first).toBeGreaterThanOrEqual(2);
    expect(second - first).toBeGreaterThan(1.5);
    expect(parseWav(box.read('dub.wav')).pcm.length).toBe(8 * 22_050 * 2);
  });

  it('are their words alone without --fit, and what is not speech is told.', async () => {
    const { run } = await dub(FILM, '--show-text');
    expect(run.stdout.toString()).toBe('Hello there.\nHow are you?\n');
    const spoken = await dub(FILM, '-s rms -o text.wav');
    expect(spoken.run.stderr).toMatch(
      /"\[door slams\]" is left out, because only speech is read; --sounds read speaks them/,
    );
    const loud = await dub(FILM, '--sounds read --show-text');
    expect(loud.run.stdout.toString()).toContain('[door slams] How are you?');
  });

  it('tell their length before they are spoken.', async () => {
    const lengthOf = async (args: string) =>
      JSON.parse((await dub(FILM, `${args} --dry-run --json -o x.wav`)).run.stdout.toString()).duration;
    expect(await lengthOf('--fit')).toBe(6);
    expect(await lengthOf('--fit --length 1:00')).toBe(60);
    expect(await lengthOf('')).toBeLessThan(6);
  });

  it('that are too long move what follows, are listed, and end with 9.', async () => {
    const { box, run } = await dub(TIGHT, '-s rms --fit 1.25 --json -o dub.wav');
    expect(run.status).toBe(9);
    expect(JSON.parse(run.stderr).error.message).toMatch(/^2 cues do not fit: /);
    const { misfits, duration } = JSON.parse(run.stdout.toString());
    expect(duration).toBe(9);
    expect(misfits).toMatchObject([
      { cue: 1, line: 2, start: 0.5, late: 0 },
      { cue: 2, line: 6, start: 1, missing: 0 },
    ]);
    expect(misfits[0].missing).toBeCloseTo(misfits[1].late, 6);
    expect(misfits[0].missing).toBeGreaterThan(0.5);
    expect(box.list()).toContain('dub.wav');
  });

  it('give their names to --voices, from a pipe and in every format.', async () => {
    const box = new Sandbox();
    box.file(
      'film.vtt',
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hello.</v>\n\n00:03.000 --> 00:04.000\n<v Bob>Hi.</v>\n',
    );
    const args = [
      '-q',
      '--fit',
      '--voices',
      'Anna=slt,*=rms',
      '--json',
      '-o',
      'dub.wav',
      '--subtitles',
      'heard.vtt',
    ];
    const run = await box.run(['-f', 'film.vtt', ...args]);
    expect(run).toMatchObject({ status: 0 });
    expect(JSON.parse(run.stdout.toString()).voices).toMatchObject([
      { name: 'Anna', speaker: '2' },
      { name: 'Bob', speaker: '1' },
    ]);
    expect(box.read('heard.vtt').toString()).toContain('00:00:03.000 -->');
    const wav = box.read('dub.wav');
    const piped = await box.shell(`cat film.vtt | tts ${args.map((each) => `'${each}'`).join(' ')}`);
    expect(piped).toMatchObject({ status: 0 });
    expect(box.read('dub.wav')).toEqual(wav);
    expect(await box.run('-q -f film.vtt --fit --loudness -20 -o dub.mp3')).toMatchObject({ status: 0 });
  });

  it('are rows of a batch, whose times are in their keys.', async () => {
    const box = new Sandbox();
    box.file('a.srt', FILM);
    box.file('b.srt', TIGHT);
    box.file('films.csv', 'id,file\na,a.srt\nb,b.srt\n');
    const run = await box.run('batch films.csv -s rms --fit -o {id}.wav');
    expect(run).toMatchObject({ status: 9, stderr: expect.stringMatching(/line 3 \(b\): cue 1 of line 2/) });
    expect(parseWav(box.read('a.wav')).pcm.length).toBe(6 * 22_050 * 2);
    box.file('a.srt', FILM.replace('06,000', '07,000'));
    const again = await box.run('batch films.csv -s rms --fit -o {id}.wav --json');
    expect(again.stdout.toString()).toMatch(/"id":"b","state":"unchanged"[^\n]*\n.*"id":"a","state":"made"/);
    expect(parseWav(box.read('a.wav')).pcm.length).toBe(7 * 22_050 * 2);
  });

  it.each([
    ['--fit -o x.wav hello', /--fit makes the sound of one film/],
    ['-f a.srt -f a.srt --fit', /--fit makes the sound of one film/],
    ['-f a.txt --fit', /--fit needs the times of subtitles, and a\.txt has none/],
    ['-f a.srt --fit 4', /--fit must be a number from 1 to 3/],
    ['-f a.srt --length 3', /give --fit as well/],
    ['-f a.srt --fit --length x', /--length must be a time/],
    ['-f a.srt --format text', /it is a subtitle file/],
    ['-f empty.srt', /empty\.srt has no cues/],
  ])('are not fitted to nothing: %s', async (args, message) => {
    const box = new Sandbox();
    box.file('a.srt', FILM);
    box.file('a.txt', 'Hello.');
    box.file('empty.srt', 'Hello.');
    expectFailure(await box.run(`${args} -o x.wav`), 2, message);
  });
});
