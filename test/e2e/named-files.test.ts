import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectFailure, KEY, Sandbox } from '../support/run.ts';

/** What the system refuses to look at, even for root. */
const NOWHERE = ['/etc/passwd/x', `/tmp/${'x'.repeat(300)}`, 'loop', 'missing/../x'];

function withLoop(): Sandbox {
  const box = new Sandbox();
  symlinkSync('loop', box.path('loop'));
  return box;
}

describe('a name that leads nowhere is a mistake of the user, not of the tool', () => {
  it.each(NOWHERE)('--config %s', async (name) => {
    expectFailure(
      await withLoop().run(['hi', '-o', 'out.wav', '--config', name]),
      2,
      /cannot read the settings in|there is no missing/,
    );
  });

  it.each(NOWHERE)('--lexicon %s', async (name) => {
    const run = await withLoop().run(['hi', '-o', 'out.wav', '--lexicon', name]);
    expectFailure(run, 2, /cannot read |there is no missing/);
  });

  it.each(NOWHERE)('--ready-file %s', async (name) => {
    const run = await withLoop().run(['serve', '--port', '0', '--ready-file', name]);
    expectFailure(run, 8, /cannot write \S*(?:passwd|xxx|loop|missing)/);
  });

  it('a folder of settings', async () => {
    const env = { XDG_CONFIG_HOME: '/etc/passwd' };
    const run = await new Sandbox().run(['login', 'https://tts.example.com'], { env, stdin: KEY });
    expectFailure(run, 8, /cannot write \/etc\/passwd\/tts\/keys\.json/);
  });
});

it.runIf(process.getuid?.() === 0)('who may not read a text is not told to look at its name', async () => {
  const box = new Sandbox();
  box.file('a.txt', 'Hi.');
  chmodSync(box.path('a.txt'), 0);
  const run = await box.run(['-f', 'a.txt', '-o', 'out.wav'], { uid: 65_534 });
  expectFailure(run, 2, /^tts: cannot read a\.txt: .*\nhint: check its permissions\n$/);
});

describe('".." behind a link leads to where the system goes', () => {
  function withLink(): Sandbox {
    const box = new Sandbox();
    mkdirSync(box.path('real/sub'), { recursive: true });
    symlinkSync('real/sub', box.path('link'));
    return box;
  }

  it('for a lexicon', async () => {
    const box = withLink();
    box.file('words.txt', 'gif = wrong');
    box.file('real/words.txt', 'gif = right');
    for (const name of ['link/../words.txt', `${box.folder}/link/../words.txt`]) {
      const run = await box.run(['the gif', '--lexicon', name, '--show-text']);
      expect({ ...run, stdout: run.stdout.toString() }).toMatchObject({ status: 0, stdout: 'the right\n' });
    }
  });

  it('for a config file', async () => {
    const box = withLink();
    box.file('own.json', '{"lexicon": "wrong.txt"}');
    box.file('real/own.json', '{"lexicon": ["other.txt", "right.txt"]}');
    box.file('real/other.txt', 'the = a\ngif = other');
    box.file('real/right.txt', 'gif = right');
    const run = await box.run(['the gif', '--config', 'link/../own.json', '--show-text']);
    expect({ ...run, stdout: run.stdout.toString() }).toMatchObject({ status: 0, stdout: 'a right\n' });
  });

  it('for the folder of the cache, if it is anywhere', async () => {
    const env = { TTS_CACHE_DIR: 'nowhere/../kept' };
    expectFailure(await withLink().run(['cache'], { env }), 2, /there is no nowhere.* \(TTS_CACHE_DIR\)/);
    const run = await withLink().run(['cache', '--json'], { env: { TTS_CACHE_DIR: 'link/../kept' } });
    expect(JSON.parse(run.stdout.toString()).folder).toMatch(/\/real\/kept$/);
  });

  it('for a file that is removed', async () => {
    const box = withLink();
    box.file('ready', 'precious');
    const run = box.start(['serve', '--port', '0', '--ready-file', 'link/../ready', '--api-key', KEY]);
    await expect.poll(() => box.read('real/ready').toString()).toMatch(/^http:/);
    expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
    expect(box.read('ready').toString()).toBe('precious');
  });
});

it('a home is its name, whatever signs are in it', async () => {
  const box = new Sandbox();
  box.file('h$&x/words.txt', 'gif = right');
  const env = { HOME: box.path('h$&x') };
  const run = await box.run(['the gif', '--lexicon', '~/words.txt', '--show-text'], { env });
  expect({ ...run, stdout: run.stdout.toString() }).toMatchObject({ status: 0, stdout: 'the right\n' });
});

describe('in a variable, which no shell expands, ~/ is the home', () => {
  const inHome = (box: Sandbox, name: string) => join(box.home, name);

  it('for a config file', async () => {
    const box = new Sandbox();
    writeFileSync(inHome(box, 'own.json'), '{"retries": 7}');
    const run = await box.run(['config', '--json'], { env: { TTS_CONFIG: '~/own.json' } });
    expect(JSON.parse(run.stdout.toString()).settings.retries.value).toBe(7);
  });

  it('for the folder of the cache', async () => {
    const box = new Sandbox();
    const run = await box.run(['cache', '--json'], { env: { TTS_CACHE_DIR: '~/kept' } });
    expect(JSON.parse(run.stdout.toString()).folder).toBe(inHome(box, 'kept'));
  });
});

describe('a pipe', () => {
  it.each(['package.json', '.ttsrc', '.ttsrc.json', '.config/ttsrc.yaml', 'tts.config.json'])(
    'with the name %s of settings is not waited for',
    async (name) => {
      const box = new Sandbox();
      mkdirSync(box.path('.config'));
      execFileSync('mkfifo', [box.path(name)]);
      expect(await box.run(['hi', '-q', '-o', 'out.wav'])).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it.each(['lexicon', 'apiKeyFile'])('that a project names as its %s is refused', async (key) => {
    const box = new Sandbox();
    execFileSync('mkfifo', [box.path('pipe')]);
    const name = key === 'lexicon' ? [box.file('words.txt'), 'pipe'] : 'pipe';
    box.file('.ttsrc', JSON.stringify({ baseUrl: 'http://127.0.0.1:9', speaker: 1, [key]: name }));
    expectFailure(await box.run(['hi', '-o', 'out.wav']), 2, /is not a regular file/);
  });

  it('that the user names on the command line is read', async () => {
    const box = new Sandbox();
    const line = `tts 'the gif' --show-text --lexicon <(echo 'gif = jif') --config <(echo '{"retries": 7}')`;
    const shown = await box.shell(line);
    expect({ ...shown, stdout: shown.stdout.toString() }).toMatchObject({ status: 0, stdout: 'the jif\n' });
    const env = { TTS_BASE_URL: 'http://127.0.0.1:9', TTS_SPEAKER: '1' };
    const spoken = await box.shell('TTS_API_KEY_FILE=<(echo a-key) tts hi -o x.wav --retries 0', { env });
    expectFailure(spoken, 6, /nothing listens/);
  });
});
