import { chownSync, mkdirSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));
const NOT_KEPT = 'tts: warning: segments are not kept: there is no folder for the cache: HOME names none\n';
/** The system knows nobody with this number. */
const UNLISTED = 54_321;

describe.each(['', 'home', '.'])('with HOME=%s, which is no place', (HOME) => {
  it('nothing is kept and no config is read in the working folder', async () => {
    const box = new Sandbox();
    for (const home of ['.', 'home']) box.file(`${home}/.config/tts/config.json`, '{"speaker": "nobody"}');
    const before = box.list();
    const { url } = await serveBytes(complete(wav));
    const env = named(url, { HOME, TTS_CACHE: '1' });
    expect(await box.run(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0, stderr: NOT_KEPT });
    expect(box.read('out.wav')).toEqual(wav);
    expect(await box.run(['hi', '-o', 'out.wav', '--no-cache'], { env })).toMatchObject({ stderr: '' });
    expect(box.list()).toEqual([...before, 'out.wav'].toSorted());
    expect(readdirSync(box.path('home'))).toEqual(['.config']);
  });

  it('a place can be named all the same', async () => {
    const box = new Sandbox();
    const { url } = await serveBytes(complete(wav));
    const env = named(url, { HOME, TTS_CACHE: '1', XDG_CACHE_HOME: box.path('cache') });
    expect(await box.run(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toEqual(['cache', 'out.wav']);
    const XDG_CONFIG_HOME = box.path('config');
    const login = ['login', 'https://tts.example.com'];
    expect(await box.run(login, { env: { HOME, XDG_CONFIG_HOME }, stdin: KEY })).toMatchObject({ status: 0 });
    expect(box.list()).toEqual(['cache', 'config', 'out.wav']);
  });

  it('what needs a place says so', async () => {
    const box = new Sandbox();
    const env = { HOME };
    const login = ['login', 'https://tts.example.com'];
    expectFailure(await box.run(login, { env, stdin: KEY }), 2, /your keys.*\nhint: .*XDG_CONFIG_HOME/);
    expectFailure(await box.run(['cache'], { env }), 2, /folder for the cache.*\nhint: .*TTS_CACHE_DIR/);
    expectFailure(
      await box.run(['stop'], { env: { HOME, XDG_RUNTIME_DIR: '' } }),
      2,
      /no folder for runs: HOME names none\nhint: set HOME, or XDG_RUNTIME_DIR/,
    );
    expect(box.list()).toEqual([]);
  });
});

it.runIf(userInfo().uid === 0)('A user who is in no list and has no HOME can speak.', async () => {
  const box = new Sandbox();
  mkdirSync(box.path('mine'));
  chownSync(box.path('mine'), UNLISTED, UNLISTED);
  const run = await box.shell('unset HOME; tts hi -q -o out.wav', { cwd: 'mine', uid: UNLISTED });
  expect(run).toMatchObject({ status: 0, stderr: '' });
});
