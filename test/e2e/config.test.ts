import { chmodSync, chownSync, lchownSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectFailure, KEY, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';

describe('tts config', () => {
  it('tells of every setting its value and who said it', async () => {
    const box = new Sandbox();
    const project = box.file('.ttsrc', 'speaker: 181\nmaxChars: 500\n');
    const user = writeUserConfig(box, 'maxChars: 600\nretries: 1\n', { name: 'config.yaml' });
    const run = await box.run(['config', '--json', '--timeout', '9'], { env: { TTS_CONCURRENCY: '2' } });
    const { settings, files } = JSON.parse(run.stdout.toString());
    expect(settings.speaker).toEqual({
      value: 181,
      from: { place: 'project', name: `speaker in ${project}` },
    });
    expect(settings.maxChars.value).toBe(500);
    expect(settings.retries.from.name).toBe(`retries in ${user}`);
    expect(settings.concurrency).toEqual({
      value: 2,
      from: { place: 'environment', name: 'TTS_CONCURRENCY' },
    });
    expect(settings.timeout).toEqual({ value: 9, from: { place: 'option', name: '--timeout' } });
    expect(settings.baseUrl).toEqual({ value: null, from: null });
    expect(files.read).toEqual([project, user]);
    expect(files.lookedFor.join()).toContain('tts.config.json');
  });

  it('says so where a file holds nothing of a kind', async () => {
    const box = new Sandbox();
    box.file('.ttsrc', 'speakers: {}\n');
    const { stdout } = await box.run(['config']);
    expect(stdout.toString()).toMatch(/^speakers +none, from speakers in /m);
  });

  it('shows pairs, and takes the option that was typed for its origin', async () => {
    const args = ['config', '--pauses', 'heading=1,scene=2', '--voices', 'Alice=2,*=4', '--cache'];
    const { stdout } = await new Sandbox().run(args);
    expect(stdout.toString()).toMatch(/^pauses +scene=2, heading=1, from --pauses$/m);
    expect(stdout.toString()).toMatch(/^voices +Alice=2, \*=4, from --voices$/m);
    expect(stdout.toString()).toMatch(/^cache +true, from --cache$/m);
    const { settings } = JSON.parse((await new Sandbox().run([...args, '--json'])).stdout.toString());
    expect(settings.pauses.value).toEqual({ heading: 1, scene: 2 });
    expect(settings.voices.value).toEqual({ Alice: 2, '*': 4 });
  });

  it('shows no key of an engine, however short', async () => {
    const { stdout } = await new Sandbox().run(['config'], { env: { TTS_ENGINE_KEY: 'abc12' } });
    expect(stdout.toString()).toMatch(/^engineKey +set, from TTS_ENGINE_KEY$/m);
    const { stdout: json } = await new Sandbox().run(['config', '--json'], {
      env: { TTS_ENGINE_KEY: 'abc12' },
    });
    expect(json.toString()).not.toContain('abc12');
  });

  it('knows no cache without end, and counts it in whole bytes', async () => {
    const box = new Sandbox();
    writeUserConfig(box, 'cacheSize: .inf\n', { name: 'config.yaml' });
    const message = /cacheSize in .*config\.yaml must be a number of bytes, or a text .*, and is Infinity/;
    expectFailure(await box.run(['hi', '--dry-run']), 2, message);
    writeUserConfig(box, 'cacheSize: 10.5\n', { name: 'config.yaml' });
    const { stdout } = await box.run(['config', '--json']);
    expect(JSON.parse(stdout.toString()).settings.cacheSize.value).toBe(11);
  });

  it('shows that there is a key, and neither the key nor the password of a proxy', async () => {
    const env = {
      TTS_API_KEY: KEY,
      TTS_BASE_URL: 'https://tts.example.com/api',
      HTTPS_PROXY: 'http://me:hidden-word@proxy.example.com:8080',
    };
    for (const args of [['config'], ['config', '--json'], ['config', '-v']]) {
      const run = await new Sandbox().tts(args, { env });
      expect(run.status).toBe(0);
      expect(`${run.stdout}${run.stderr}`).not.toMatch(new RegExp(`${KEY}|hidden-word`));
    }
    const { stdout } = await new Sandbox().tts(['config'], { env });
    expect(stdout.toString()).toMatch(/^apiKey +set, from TTS_API_KEY$/m);
    expect(stdout.toString()).toMatch(/^proxy +http:\/\/me@proxy\.example\.com:8080\/, from HTTPS_PROXY$/m);
  });

  it.each([
    ['a file', { TTS_API_KEY_FILE: 'key.txt' }, {}, /^apiKey +set, from TTS_API_KEY_FILE$/m],
    [
      'a store',
      {},
      { keys: { 'https://tts.example.com/api': KEY } },
      /^apiKey +set, from keys in .*config\.json$/m,
    ],
    ['a store for another', {}, { keys: { 'https://other.example.com/api': KEY } }, /^apiKey +not set/m],
  ])('shows that the key comes from %s', async (_, env, config, expected) => {
    const box = new Sandbox();
    writeUserConfig(box, config, { mode: 0o600 });
    const { stdout } = await box.run(['config', '--base-url', 'https://tts.example.com/api'], { env });
    expect(stdout.toString()).toMatch(expected);
  });

  it('shows no key, also where it is part of an address', async () => {
    const args = ['config', '--base-url', `https://tts.example.com/${KEY}`, '--api-key', KEY];
    for (const more of [[], ['--json']]) {
      const run = await new Sandbox().tts([...args, ...more]);
      expect(run.stdout.toString()).toContain('https://tts.example.com/***');
      expect(run.stdout.toString()).not.toContain(KEY);
    }
  });

  it.skipIf(process.getuid?.() !== 0)(
    'reads nothing of other users in a folder that everybody may write',
    async () => {
      const box = new Sandbox();
      const shared = box.path('shared');
      mkdirSync(join(shared, 'mine'), { recursive: true });
      const file = box.file('shared/.ttsrc', 'speaker: 181\n');
      const speaker = async () => {
        const run = await box.shell('cd shared/mine && tts config --json');
        return JSON.parse(run.stdout.toString()).settings.speaker.value;
      };
      chownSync(file, 1, 1);
      expect(await speaker()).toBe(181);
      chmodSync(shared, 0o1777);
      expect(await speaker()).toBe(null);
      chownSync(file, 0, 0);
      expect(await speaker()).toBe(181);
      renameSync(file, box.path('shared/elsewhere'));
      symlinkSync('elsewhere', file);
      expect(await speaker()).toBe(181);
      lchownSync(file, 1, 1);
      expect(await speaker()).toBe(null);
    },
  );

  it('shows which files there are when one of them is wrong', async () => {
    const box = new Sandbox();
    const path = box.file('.ttsrc', 'speeker: 1\n');
    const run = await box.run(['config']);
    expect(run.status).toBe(2);
    expect(run.stdout.toString()).toContain(path);
    expect(run.stderr).toMatch(/unknown key "speeker" in .*\nhint: did you mean "speaker"\?/);
  });

  it('says which files of other names are there, and why they are not read', async () => {
    const box = new Sandbox();
    for (const name of ['tts.config.js', '.ttsrc.mjs', '.ttsrc.toml', '.config/ttsrc.ts', 'tts.config.yaml'])
      box.file(name, 'throw new Error("code was run")\n');
    box.file('package.yaml', 'name: x\ntts:\n  speaker: 3\n');
    box.file('.ttsrc', 'speaker: 1\n');
    box.file('.ttsrc.json', '{}');
    const { status, stdout } = await box.run(['config']);
    expect(status).toBe(0);
    const lines = stdout.toString().match(/(?<=^not read {4})\S.*/gm) ?? [];
    const code = 'a config is data, and no code is run: use JSON or YAML';
    expect(lines.map((line) => line.replace(`${box.folder}/`, ''))).toEqual([
      '.ttsrc.json (another one comes first)',
      `.ttsrc.mjs (${code})`,
      '.ttsrc.toml (use JSON or YAML)',
      `tts.config.js (${code})`,
      'tts.config.yaml (call it .ttsrc.yaml, or tts.config.json with JSON in it)',
      'package.yaml (its key tts is read in package.json only)',
      `.config/ttsrc.ts (${code})`,
    ]);
    const { files } = JSON.parse((await box.run(['config', '--json'])).stdout.toString());
    expect(files.notRead).toContainEqual({ path: box.path('tts.config.js'), why: code });
  });

  it('does not take words for a text', async () => {
    expectFailure(await new Sandbox().tts(['config', 'me']), 2, /tts config does not know "me"/);
  });
});
