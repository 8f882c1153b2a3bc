import { expect } from 'vitest';
import { ask, type Reply } from './ask.ts';
import { type Arguments, type Running, Sandbox, wordsOf } from './run.ts';

export interface Serving extends Running {
  readonly box: Sandbox;
  readonly url: string;
  /** The output so far. */
  readonly said: { stdout: string; stderr: string };
  /** Sends `POST /tts`. */
  speak(body: object, headers?: Readonly<Record<string, string>>): Promise<Reply>;
}

/** Starts `tts serve` on a free port, resolves when it listens, and stops it after the test. */
export async function serve(
  args: Arguments = '--no-auth',
  { box = new Sandbox(), env = {} }: { box?: Sandbox; env?: Readonly<Record<string, string>> } = {},
): Promise<Serving> {
  const run = box.start(['serve', '--port=0', ...wordsOf(args)], { env, patience: 110_000 });
  const said = { stdout: '', stderr: '' };
  let hasEnded = false;
  void run.ended.then(
    () => {
      hasEnded = true;
    },
    () => {},
  );
  run.stdout.on('data', (piece) => {
    said.stdout += piece;
  });
  run.child.stderr?.on('data', (piece) => {
    said.stderr += piece;
  });
  const listening = () =>
    /"url":"([^"]+)".*\n/.exec(said.stdout)?.[1] ??
    /listening on ([^\s"]+)[\s\S]*try: .*\n/.exec(said.stderr)?.[1];
  await expect.poll(() => listening() ?? hasEnded).toBeTruthy();
  const url = listening();
  if (url === undefined) throw new Error(said.stderr);
  const speak: Serving['speak'] = (body, headers = {}) =>
    ask(`${url}/tts`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  return { ...run, box, url, said, speak };
}
