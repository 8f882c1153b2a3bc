import { describe, expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { silencesOf, textOf } from '../support/text-audio.ts';

const SCENE = 'It was late. [pause:1.5s]\n[voice:8]Who is there?[voice] Nobody [sic] spoke.\n[pause:300ms]';

test('Pauses of marks are exact, and moving one asks for nothing again.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  const env = named(server.url, { TTS_CACHE: '1' });
  box.file('scene.txt', SCENE);
  const speak = async () => {
    const { stdout, status } = await box.run('-f scene.txt --marks', { env });
    expect(status).toBe(0);
    return stdout.subarray(44);
  };
  const first = await speak();
  expect(silencesOf(first)).toEqual([1.5, 0.3]);
  expect(textOf(first)).toBe('It was late.Who is there?Nobody [sic] spoke.');
  expect(server.texts).toHaveLength(3);
  box.file('scene.txt', SCENE.replace('[pause:1.5s]', '').replace('300ms', '2'));
  expect(silencesOf(await speak())).toEqual([2]);
  expect(server.texts).toHaveLength(3);
});

test('A voice that a title names speaks on where titles are not spoken.', async () => {
  const box = new Sandbox();
  box.file('play.md', '# [voice:2]One\n\nBody one.\n\n# Two\n\nBody two.\n');
  const { stdout } = await box.run('-f play.md --marks --no-titles -o a.wav --json -q');
  const { voices } = JSON.parse(stdout.toString());
  expect(voices).toEqual([expect.objectContaining({ name: '2', segments: 2 })]);
});

describe('A mark that is none', () => {
  test.each([
    ['One.\nTwo [pause=1].', 'scene.txt, line 2, column 5: [pause=1] is not a mark'],
    ['One.\n[voice:nobody]Two.', 'scene.txt, line 2, column 1: no speaker is called "nobody"'],
  ])('of a file is told before anything is sent: %j', async (text, message) => {
    const box = new Sandbox();
    const server = await serveText();
    box.file('scene.txt', text);
    const run = await box.run('-f scene.txt --marks -o a.wav', { env: named(server.url) });
    expectFailure(run, 2, new RegExp(message.replace(/[[\]]/g, '\\$&')));
    expect([server.texts, box.list()]).toEqual([[], ['scene.txt']]);
  });

  test('may be one of very many: each takes memory, and a text has a limit of them.', async () => {
    const box = new Sandbox();
    const server = await serveText();
    box.file('cast.txt', Array.from({ length: 20_000 }, (_, no) => `[voice:${no}]a\n`).join(''));
    const run = await box.run('-f cast.txt --marks -o a.wav', { env: named(server.url) });
    expectFailure(
      run,
      2,
      /cast\.txt, line 10001, column 1: a text can have 10000 voices at most\nhint: divide/,
    );
    expect(server.texts).toEqual([]);
  });

  test.each([
    ['[voice anna]', '[voice anna] is not a mark'],
    ['[voice:nobody]', 'no speaker is called "nobody"'],
  ])('of a pipe ends the run when it is reached, and what was spoken is kept: %s', async (mark, message) => {
    const server = await serveText();
    const env = named(server.url);
    const { status, stdout, stderr } = await new Sandbox().run('--marks --stream', {
      env,
      stdin: `One. Two.\nAnd ${mark}Three.`,
    });
    expect(status).toBe(2);
    expect(stderr).toContain(`stdin, line 2, column 5: ${message}`);
    expect(textOf(stdout.subarray(44)).replace(/\s/g, '')).toBe('One.Two.And');
    expect(server.texts.join('')).not.toContain('Three');
  });
});

test('What looks like a mark where nothing is read is none.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  box.file(
    'a.html',
    '<p title="[voice:nobody]">One [pause:1s] two.</p><!-- [pause=1] --><script>[speed, 1]</script>',
  );
  const run = await box.run('-f a.html --marks', { env: named(server.url) });
  expect(run.stderr).toBe('');
  expect(silencesOf(run.stdout.subarray(44))).toEqual([1]);
  box.file('a.html', '<p>One <b>[voice:nobody]</b> two.</p>');
  const { stderr } = await box.run('-f a.html --marks', { env: named(server.url) });
  expect(stderr).toContain('a.html, line 1, column 11: no speaker is called "nobody"');
});

test.each([
  [['--marks'], '--marks', 'with --no-marks'],
  [['--voices', 'Alice=8'], '--voices', 'without --voices'],
])('%j and a callback are refused together.', async (options, name, way) => {
  const args = ['hi', ...options, '--callback-url', 'https://example.com/'];
  const run = await new Sandbox().run(args, { env: named('http://127.0.0.1:9') });
  const why = `${name}: pauses and voices need several requests`;
  expectFailure(run, 2, new RegExp(`${why}.*\\nhint: leave --callback-url out, or speak the text ${way}`));
});

test('The lines of a dialogue are spoken without their names, which subtitles have.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  box.file(
    'play.txt',
    'A street.\n\nAlice: Who is it?\nBob Lee: It is <me>.\nOnly me.\n\nNote: They left.\n',
  );
  const args = ['-f', 'play.txt', '--voices', 'Alice=8,Bob Lee=9,Carol=10'];
  const env = named(server.url);
  const run = await box.run([...args, '--subtitles', 'a.json', '-o', 'a.wav'], { env });
  expect({ status: run.status, stderr: run.stderr }).toEqual({
    status: 0,
    stderr:
      'tts: warning: --voices: no line begins with "Carol: "; lines of names that are not listed: Note (1)\n',
  });
  const cues = JSON.parse(box.read('a.json').toString()).cues;
  expect(cues.map(({ voice, text }: Record<string, string>) => [voice, text])).toEqual([
    [undefined, 'A street.'],
    ['Alice', 'Who is it?'],
    ['Bob Lee', 'It is <me>.'],
    ['Bob Lee', 'Only me.'],
    [undefined, 'Note: They left.'],
  ]);
  const vtt = await box.run([...args, '--subtitles', 'a.vtt', '-o', 'a.wav', '--json'], { env });
  expect(JSON.parse(vtt.stdout.toString()).voices).toEqual([
    { name: null, speaker: '7', segments: 2, characters: 25 },
    { name: 'Alice', speaker: '8', segments: 1, characters: 10 },
    { name: 'Bob Lee', speaker: '9', segments: 2, characters: 19 },
  ]);
  expect(box.read('a.vtt').toString()).toContain('\n<v Bob Lee>It is &lt;me&gt;.\n');
});

test('--voices given twice merges, and a name that is not listed is told with its lines before the run.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  box.file('pod.txt', 'HOST: Hi.\nGUEST (laughing): Ho.\n**Narrator:** So.\n\nBOB: One.\nBOB: Two.\n');
  const twice = ['--voices', 'HOST=8', '--voices', 'GUEST=9,Narrator=8'];
  const args = ['-f', 'pod.txt', ...twice, '--subtitles', 'a.json', '-o', 'a.wav'];
  const warning = 'lines of names that are not listed: BOB (2); they are read out by the voice before them';
  const env = named(server.url);
  const dry = await box.run([...args, '--dry-run'], { env });
  expect([dry.status, dry.stderr.includes(warning), server.requests]).toEqual([0, true, 0]);
  const run = await box.run(args, { env });
  expect(run.status).toBe(0);
  expect(run.stderr.match(/warning: .*/g)).toEqual([`warning: --voices: ${warning}, names included`]);
  const { cues } = JSON.parse(box.read('a.json').toString());
  expect(cues.slice(0, 3).map(({ voice, text }: Record<string, string>) => [voice, text])).toEqual([
    ['HOST', 'Hi.'],
    ['GUEST', 'Ho.'],
    ['Narrator', 'So.'],
  ]);
});

test('--show-text leaves out marks and names, and keeps apart what they part.', async () => {
  const box = new Sandbox();
  const text = 'Alice: Who [pause:1s] is[pause]it?[voice:8]Me[voice].\n[pause]\nBob: [voice:9]\n\\[sic]';
  const args = [text, '--marks', '--voices', 'Alice=8,Bob=9', '--show-text'];
  const { stdout, stderr } = await box.run(args, { env: named('http://127.0.0.1:9') });
  expect([stdout.toString(), stderr]).toEqual(['Who is it? Me .\n\n\n[sic]\n', '']);
});

/** What a dry run says of a text. */
async function costOf(box: Sandbox, args: readonly string[], env: Record<string, string>) {
  const { stdout } = await box.run([...args, '--dry-run', '--json'], { env });
  const { characters, charactersToSend, segments, inCache, price } = JSON.parse(stdout.toString());
  return { characters, charactersToSend, segments, inCache, price };
}

test('The cost of a dialogue is that of its voices of a service, as far as they are not in the cache.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  const env = named(server.url, { TTS_CACHE: '1' });
  box.file('.ttsrc', JSON.stringify({ pricePer1000Chars: 1000 }));
  box.file(
    'play.txt',
    'Carol: Me. And me.\nAlice: Who is it? Who?\nBob: It is me.\nAlice: Who is it? Who?\n',
  );
  const args = ['-f', 'play.txt', '--voices', 'Alice=8,Bob=9,Carol=slt', '-o', 'a.wav'];
  const whole = { characters: 50, segments: 4 };
  // A line that comes twice is paid for once, and the voice of this machine costs nothing.
  expect(await costOf(box, args, env)).toEqual({ ...whole, charactersToSend: 35, inCache: 1, price: 24 });
  expect(server.requests).toBe(0);
  expect(await box.run(args, { env })).toMatchObject({ status: 0 });
  expect(server.texts.toSorted()).toEqual(['It is me.', 'Who is it? Who?']);
  expect(await costOf(box, args, env)).toEqual({ ...whole, charactersToSend: 11, inCache: 3, price: 0 });
});

test('A batch has marks in its rows, and says which row has a wrong one.', async () => {
  const box = new Sandbox();
  const server = await serveText();
  const env = named(server.url);
  const make = async (text: string) => {
    box.file('rows.csv', `id,text\na,One.\nb,${text}\n`);
    return box.run('batch rows.csv --marks --voices Zed=8 --json', { env });
  };
  const states = ({ stdout }: { stdout: Buffer }) => stdout.toString().match(/(?<="state":")\w+/g);
  expect(states(await make('One [pause:1]two.'))).toEqual(['made', 'made']);
  expect(silencesOf(box.read('b.wav').subarray(44))).toEqual([1]);
  const same = await make('One [pause:1]two.');
  expect(same.stdout.toString()).toContain('"--voices: no line begins with \\"Zed: \\""');
  expect(states(same)).toEqual(['unchanged', 'unchanged']);
  expect(states(await make('One [pause:2]two.'))).toEqual(['unchanged', 'made']);
  expect(states(await make('One [voice:8]two.'))).toEqual(['unchanged', 'made']);
  const run = await make('One [pause=2]two.');
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('rows.csv, line 3: the text, line 1, column 5: [pause=2] is not a mark'),
  });
});

test('A row of a batch, and a voice of the config, have a speed of their own.', async () => {
  const server = await serveText({ sampleRate: 8000, framesPerByte: 100 });
  const box = new Sandbox();
  box.file('.ttsrc', JSON.stringify({ speakers: { grandpa: { no: 7, speed: 0.5 } } }));
  box.file('p.csv', 'id,text,speaker,speed\na,One two.,7,\nb,One two.,7,2\nc,One two.,grandpa,\n');
  expect(await box.run('batch p.csv', { env: named(server.url) })).toMatchObject({ status: 0 });
  const bytes = (name: string) => box.read(`${name}.wav`).length - 44;
  expect([bytes('b') / bytes('a'), bytes('c') / bytes('a')]).toEqual([0.5, 2]);
});

test('Another speed asks for nothing again, and lengths and subtitles follow it.', async () => {
  const box = new Sandbox();
  const server = await serveText({ sampleRate: 8000, framesPerByte: 100 });
  const env = named(server.url, { TTS_CACHE: '1' });
  box.file('a.txt', 'One and two and three. [pause:1s]Four, five and six.');
  const speak = async (...more: string[]) => {
    const args = ['-f', 'a.txt', '--marks', '--json', '--subtitles', 'a.json', '-o', 'a.wav', ...more];
    const { stdout, status } = await box.run(args, { env });
    expect(status).toBe(0);
    const { cues } = JSON.parse(box.read('a.json').toString());
    return { seconds: JSON.parse(stdout.toString()).duration, last: cues.at(-1), wav: box.read('a.wav') };
  };
  const usual = await speak();
  expect((await speak('--speed', '1')).wav.equals(usual.wav)).toBe(true);
  for (const speed of [0.5, 0.8, 1.25, 2, 3]) {
    const { seconds, last } = await speak('--speed', `${speed}`);
    expect(seconds).toBeCloseTo((usual.seconds - 1) / speed + 1, 2);
    expect(last.end).toBeCloseTo(seconds, 3);
  }
  expect(server.texts).toHaveLength(2);
});
