import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

/** A machine with an espeak-ng that notes what it is asked for, and says the same each time. */
function equipped(script = 'cat >> text; cat voice.wav', lists = true) {
  const box = new Sandbox();
  const env = { PATH: `${box.path('bin')}:/usr/bin:/bin` };
  mkdirSync(box.path('bin'));
  box.file('voice.wav', plainWav(sound(3000)));
  const note = `cd '${box.folder}'; echo "$@" >> asked`;
  const program = fakeEspeak(box.path('bin'), `${note}; ${script}`);
  const first = lists ? `if [ "$1" = --voices ]; then ${note}; fi` : `${note}; exit 1`;
  writeFileSync(program, readFileSync(program, 'utf8').replace('\n', `\n${first}\n`));
  const asked = () => (box.list().includes('asked') ? box.read('asked').toString().trim().split('\n') : []);
  return { box, env, asked };
}

/** A machine that has none. */
const bare = () => ({ box: new Sandbox(), env: { PATH: '/nowhere' } });

describe('a voice of espeak-ng', () => {
  it.each(['102', 'Second voice', 'her'])('speaks in a run that asks for it: %s', async (speaker) => {
    const { box, env, asked } = equipped();
    box.file('.ttsrc.json', '{ "speakers": { "her": 102 } }');
    const run = await box.run(['Grüß Gott', '-s', speaker, '-r', '16000', '-o', 'out.wav'], { env });
    expect(run.status).toBe(0);
    const note =
      'tts: Second voice speaks; on another machine 102 may be another voice: -s "Second voice" is the same one\n';
    expect(run.stderr).toBe(speaker === '102' ? note : '');
    expect(parseWav(box.read('out.wav')).sampleRate).toBe(16_000);
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(1000);
    expect(asked()).toEqual(['--voices', expect.stringMatching(/^-v test\/yy .*--stdin --stdout$/)]);
    expect(box.read('text').toString()).toBe('Grüß Gott');
  });

  it('is not looked for by a run that does without', async () => {
    const args = ['-s', 'other'];
    const { box, env, asked } = equipped();
    box.file('.ttsrc.json', '{ "speakers": { "other": 3 } }');
    const run = await box.run(['hello', ...args, '-q', '-o', 'out.wav'], { env });
    expect({ run: run.status, asked: asked() }).toEqual({ run: 0, asked: [] });
  });

  it('ends with the run at Ctrl-C', async () => {
    const { box, env } = equipped('echo $$ > pid; exec sleep 60');
    const run = box.start('hello -s 101 -o out.wav', { env });
    const pid = () => (box.list().includes('pid') ? Number(box.read('pid')) : 0);
    await expect.poll(pid).toBeGreaterThan(0);
    expect(isAlive(pid())).toBe(true);
    const { ended } = await run.endBy('SIGINT');
    expect(ended.status).toBe(130);
    await expect.poll(() => isAlive(pid())).toBe(false);
    expect(box.list()).not.toContain('out.wav');
  });
});

/** Lines of `espeak-ng --voices`, version 1.51. */
const LANGUAGES = [
  'Pty Language       Age/Gender VoiceName          File                 Other Languages',
  ' 5  af              --/M      Afrikaans           gmw/af',
  ' 5  am              --/M      Amharic             sem/am',
  ' 5  cmn             --/M      Chinese_(Mandarin)  sit/cmn              (zh-cmn 5)(zh 5)',
  ' 5  de              --/M      German              gmw/de',
  ' 5  es              --/M      Spanish_(Spain)     roa/es',
  ' 5  es-419          --/M      Spanish_(Latin_America) roa/es-419       (es-mx 6)(es 6)',
  ' 5  fr-be           --/M      French_(Belgium)    roa/fr-BE            (fr 8)',
  ' 5  fr-fr           --/M      French_(France)     roa/fr               (fr 5)',
  ' 5  io              --/M      Ido                 art/io',
  ' 5  nb              --/M      Norwegian_Bokmål    gmq/nb               (no 5)',
];

/** A machine whose espeak-ng speaks these languages. */
function multilingual(speaking?: string) {
  const machine = equipped(speaking);
  const list = LANGUAGES.map((line) => `echo '${line}'`).join('; ');
  const program = `${machine.box.path('bin')}/espeak-ng`;
  const script = readFileSync(program, 'utf8');
  writeFileSync(program, script.replace('= --voices ]; then echo', `= --voices ]; then ${list}; exit; echo`));
  return machine;
}

describe('a language', () => {
  it('chooses its voice, by its tag or its English name', async () => {
    for (const [language, voice] of [
      ['fr-FR', 'roa/fr'],
      ['fr-be', 'roa/fr-BE'],
      ['es-MX', 'roa/es-419'],
      ['zh', 'sit/cmn'],
      ['de_AT', 'gmw/de'],
      ['norwegian', 'gmq/nb'],
      ['fr-BE-CharlineNeural', 'roa/fr-BE'],
    ] as const) {
      const { box, env, asked } = multilingual();
      const run = await box.run(`Hallo -q -s ${language} -o out.wav`, { env });
      expect(run, language).toMatchObject({ status: 0, stderr: '' });
      expect(`${asked().at(-1)} `).toContain(`-v ${voice} `);
    }
  });

  it.each([
    ['af_heart', 'af_heart is a speaker of the voice kokoro, which is not', 'tts voices install kokoro ('],
    ['no_one', 'no speaker is called "no_one"', 'there are: '],
    ['is_it', 'no voice of this machine speaks Icelandic (Italy)', ''],
    ['fr-CA-SylvieNeural', 'no voice of this machine speaks Canadian French', 'tts voices install siwis ('],
    ['de_DE-thorsten-high', 'the voice thorsten-high is not installed', 'tts voices install thorsten-high ('],
    ['it', 'no voice of this machine speaks Italian', 'tts voices install paola ('],
    [
      'Japanese',
      'no voice of this machine speaks Japanese',
      'tts voices install supertonic (145 MB, OpenRAIL-M',
    ],
  ])('is no name, and a name is no language: %s', async (word, message, hint) => {
    const { box, env, asked } = multilingual();
    box.file('t.csv', `id,text,speaker\n1,Hello,${word}\n`);
    for (const args of [
      ['Hello', '-s', word, '-o', 'out.wav'],
      ['Hello', '--fallback', word, '-o', 'out.wav'],
      [`[voice:${word}]Hello`, '--marks', '-o', 'out.wav'],
      ['Ann: Hello', '--voices', `Ann=${word}`, '-o', 'out.wav'],
    ]) {
      const run = await box.run(args, { env });
      expect([run.status, run.stderr]).toEqual([2, expect.stringContaining(`: ${message}`)]);
      expect(run.stderr).toContain(`\nhint: ${hint}`);
    }
    const batch = await box.run('batch t.csv -o {id}.wav', { env });
    expect([batch.status, batch.stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(new Set(asked())).toEqual(new Set(['--voices']));
  });

  it('without espeak-ng is told of the voice that speaks it', async () => {
    const { box, env } = bare();
    const run = await box.run('Hallo -s de -o out.wav', { env });
    expectFailure(
      run,
      2,
      /no voice of this machine speaks German\nhint: tts voices install thorsten \(63 MB, CC0/,
    );
    const hungarian = await box.run('Hallo -s Hungarian -o out.wav', { env });
    expectFailure(hungarian, 2, /speaks Hungarian\nhint: tts voices install supertonic \(145 MB, OpenRAIL-M/);
    const welsh = await box.run('Hallo -s Welsh -o out.wav', { env });
    expectFailure(welsh, 2, /speaks Welsh\nhint: espeak-ng may speak Welsh: install it, then -s cy\n/);
  });
});

describe('a speaker that nobody is', () => {
  it('is refused with those there are, where espeak-ng has another', async () => {
    const { box, env } = equipped();
    const ask = (speaker: string) => box.run(['hello', '-s', speaker, '-o', 'out.wav'], { env });
    expectFailure(await ask('103'), 2, /has no speaker 103\nhint: .* 101 \(First\), 102 \(Second voice\)\n$/);
    expectFailure(await ask('Frist'), 2, /called "Frist"\nhint: did you mean First\? /);
    expect(box.list()).not.toContain('out.wav');
  });

  it.each(['7', '121', 'Frist'])('is told of espeak-ng where it is not installed: %s', async (speaker) => {
    const { box, env } = bare();
    const run = await box.run(['hello', '-s', speaker, '-o', 'out.wav'], { env });
    expectFailure(run, 2, /\nhint: .*; 101 and up are the voices of espeak-ng, which is not installed\n$/);
    expect(box.list()).toEqual([]);
  });
});

describe('tts speakers', () => {
  it('lists the ten built-in ones where there is no other, with a warning where one does not work', async () => {
    const { box, env } = bare();
    const none = await box.run('speakers --json', { env });
    expect(none).toMatchObject({ status: 0, stderr: '' });
    const broken = equipped('', false);
    const run = await broken.box.run('speakers', { env: broken.env });
    expect(run.status).toBe(0);
    expect(run.stderr).toMatch(/^tts: warning: the voices of espeak-ng are missing.*--voices\n$/);
    expect(run.stdout.toString().trim().split('\n')).toHaveLength(1 + 10);
  });
});

it.runIf(isThere('espeak-ng'))(
  'What docs/service.md says of other languages holds (skipped without espeak-ng).',
  async () => {
    const box = new Sandbox();
    const { PATH = '' } = process.env;
    const page = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
    const line = /`(tts -s German [^`]+)`/.exec(page)?.[1];
    const run = await box.shell(`${line} -o out.wav`, { env: { PATH: `${box.commands}:${PATH}` } });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('out.wav')).length).toBeGreaterThan(22_050);
  },
);

describe('the voices of languages', () => {
  /** Notes each text with its voice. */
  const NOTING = 'printf "%s: %s\\n" "$2" "$(cat)" >> said; cat voice.wav';
  const PAGE = `<html lang="en"><body><h1>A day in May</h1><p>He said <i lang="fr">bonjour</i> and left.</p>
<table><tr><td>the dog</td><td lang="de">der Hund</td></tr></table>
<p>Der Zug hatte Verspätung. Wir warteten lange.</p><p>It was late. Nobody said a word to us.</p>
<p xml:lang="de-AT">Servus!</p><p>She wrote 你好 on it.</p></body></html>`;

  it('speak what a page marks, what another script is written in, and passages of their language', async () => {
    const { box, env } = multilingual(NOTING);
    box.file('a.html', PAGE);
    const args = ['-f', 'a.html', '--languages', 'de,fr=French (France)', '--languages', 'zh', '-o', 'a.wav'];
    const run = await box.run([...args, '--json', '--no-cache', '--concurrency', '1'], { env });
    expect(run, run.stderr).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('said').toString().trim().split('\n').toSorted()).toEqual([
      'gmw/de: Der Zug hatte Verspätung.',
      'gmw/de: Servus!',
      'gmw/de: Wir warteten lange.',
      'gmw/de: der Hund.',
      'roa/fr: bonjour',
      'sit/cmn: 你好',
    ]);
    const { voices } = JSON.parse(run.stdout.toString());
    expect(voices.map(({ name, speaker }: Record<string, string>) => [name, speaker])).toEqual([
      [null, '1'],
      ['fr', 'French (France)'],
      ['de', 'German'],
      ['zh', 'Chinese (Mandarin)'],
    ]);
    const dry = await box.run([...args, '--dry-run'], { env });
    expect(dry.stdout.toString()).toMatch(
      /^languages {3}English \d+ % \(1\), German \d+ % \(German\), French \d+ % \(French \(France\)\), Chinese/m,
    );
    box.file('t.csv', 'id,file\na,a.html\n');
    const stateOf = async (...more: string[]) => {
      const { stdout } = await box.run(['batch', 't.csv', '-o', '{id}.wav', '--json', ...more], { env });
      return JSON.parse(stdout.toString().split('\n')[0] ?? '').state;
    };
    expect(await stateOf('--languages', 'de')).toBe('made');
    expect(await stateOf('--languages', 'de')).toBe('unchanged');
    expect(await stateOf('--check')).toBe('stale');
  });

  it.each([
    ['de=slt', 'the voice slt speaks English, and not German'],
    ['it', 'no voice of this machine speaks Italian\nhint: tts voices install paola'],
    ['nothing=slt', '"nothing" is not a language'],
    ['de=', 'must be languages, with or without their voices, as in de=thorsten,fr'],
  ])('that are not there, or speak another one, are told before the run: %s', async (languages, message) => {
    const { box, env } = multilingual();
    const run = await box.run(['Hello', '--languages', languages, '-o', 'out.wav'], { env });
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('are hinted at, once, where half of a text is in another language', async () => {
    const { box, env } = multilingual();
    const english =
      'It was late, and the wind was in the trees that were not far from the house where she had lived.';
    const german =
      'Es war spät, und der Wind war in den Bäumen, die nicht weit von dem Haus waren, in dem sie auch wohnte.';
    box.file('half.txt', `${english}\n\n${german}\n`);
    box.file('some.txt', `${english}\n\n${german}\n\n${english} ${english}\n`);
    const hint = /half of the text is in German, and the voice speaks English: --languages de/g;
    const told = async (...args: string[]) =>
      (await box.run([...args, '-o', 'a.wav'], { env })).stderr.match(hint) ?? [];
    expect(await told('-f', 'half.txt')).toHaveLength(1);
    expect(await told('-f', 'half.txt', '--languages', 'de')).toEqual([]);
    expect(await told('-f', 'some.txt')).toEqual([]);
  });
});
