import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failingCall, MODES } from '../support/failing-calls.ts';
import { filesBelow } from '../support/folder.ts';
import { randomFrom, SEED } from '../support/random.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { hasSherpa, tinySound } from '../support/tiny-voice.ts';
import { standIn } from '../support/voices.ts';

const PLACES = ['MODEL_CARD', 'model.onnx', 'tokens.txt', 'voice.json'].map((name) => `voices/tina/${name}`);

/** All of them take a minute: `TTS_TEST_ALL_CALLS=1`. */
const every = process.env.TTS_TEST_ALL_CALLS === '1';

type Mode = (typeof MODES)[number];

/**
 * Installs a voice while one call fails, looks at what is there, and installs it again.
 * @returns false if there are fewer calls
 */
async function survives(at: number, mode: Mode): Promise<boolean> {
  const box = new Sandbox();
  const { hub, env } = await standIn(box);
  const data = join(box.home, '.local', 'share', 'tts');
  const fault = failingCall(box, at, mode);
  const run = await box.shell('tts voices install tina; exit $?', { env: { ...env, ...fault.env } });
  const hit = fault.hit();
  const where = `${mode} at ${at}: ${hit}\n${run.stderr}`;
  expect(mode === 'kill' && hit !== undefined ? [137] : [0, 2, 7, 8], where).toContain(run.status);
  expect(run.stderr, where).not.toMatch(/defect|\n {4}at /);
  const voice = filesBelow(join(data, 'voices', 'tina'));
  expect([0, PLACES.length], where).toContain(voice.length);
  expect(await box.tts(['voices', 'install', 'tina'], { env }), where).toMatchObject({ status: 0 });
  expect(filesBelow(data), where).toEqual(PLACES);
  const whole = hub.cdn.filter(({ headers }) => headers.range === undefined);
  // Only a file of which no byte could be kept is asked for again.
  expect(whole.length, where).toBeLessThanOrEqual(4);
  return hit !== undefined;
}

describe.runIf(hasSherpa() && process.platform === 'linux')('an installation', () => {
  it('that fails or is killed at any write leaves no half voice, and the next one ends well', async () => {
    const pick = randomFrom(SEED);
    const some = () => Math.floor(pick() * 15) + 1;
    if (!every) for (const mode of MODES) await survives(some(), mode);
    for (const mode of every ? MODES : []) for (let at = 1; await survives(at, mode); at += 1);
  }, 600_000);

  it('waits for another one, and downloads nothing twice', async () => {
    const box = new Sandbox();
    const { hub, env } = await standIn(box);
    const runs = await Promise.all([1, 2].map(() => box.tts(['voices', 'install', 'tina'], { env })));
    expect(runs.map(({ status }) => status)).toEqual([0, 0]);
    expect(runs.map(({ stderr }) => stderr).join('')).toContain('tina is installed already');
    expect(hub.cdn).toHaveLength(3);
    await box.tts(['hi', '-o', 'out.wav', '-s', 'tina'], { env });
    expect(box.read('out.wav').subarray(44).equals(tinySound('hi'))).toBe(true);
  });

  it('on a full disk says so before it downloads', async ({ skip }) => {
    const box = new Sandbox();
    const { hub, env } = await standIn(box);
    const folder = smallDisk(box, 'disk', 'size=8k,mode=700', skip);
    const run = await box.tts(['voices', 'install', 'tina'], { env: { ...env, TTS_DATA_DIR: folder } });
    expectFailure(
      { ...run, stderr: run.stderr.split('\n').slice(-3).join('\n') },
      8,
      /not enough room in .*are needed|no space is left/,
    );
    expect(hub.cdn.length).toBeLessThanOrEqual(3);
    expect(filesBelow(join(folder, 'voices'))).toEqual([]);
  });
});
