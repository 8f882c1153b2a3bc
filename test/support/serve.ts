import type { ChildProcess } from 'node:child_process';
import { expect } from 'vitest';
import { ask, type Reply } from './ask.ts';
import { type Arguments, type Ended, Sandbox, wordsOf } from './run.ts';

export interface Serving {
  readonly box: Sandbox;
  readonly url: string;
  /** The output so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  /** Sends `POST /tts`. */
  speak(body: object, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  endBy(signal: NodeJS.Signals): Promise<{ ended: Ended }>;
}

interface ServingProcess extends Serving {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

interface Surroundings {
  readonly box?: Sandbox;
  readonly env?: Readonly<Record<string, string>>;
}

const PATIENCE_MS = 110_000;
const lineOf = (args: Arguments) => ['serve', '--port=0', ...wordsOf(args)];

/**
 * Starts `tts serve` on a free port, in the process of the test if that is possible. Resolves when it listens, and stops it
 * after the test.
 */
export async function serve(
  args: Arguments = '--no-auth',
  { box = new Sandbox(), env = {} }: Surroundings = {},
): Promise<Serving> {
  const run = box.startHere(lineOf(args), { env, patience: PATIENCE_MS });
  if (!run) return serveProcess(args, { box, env });
  const { said, ended, send } = run;
  const endBy = async (signal: string) => {
    send(signal);
    return { ended: await ended };
  };
  return { box, said, endBy, ...(await listening(said, ended)) };
}

/** Starts `tts serve` in a process of its own. */
export async function serveProcess(
  args: Arguments = '--no-auth',
  { box = new Sandbox(), env = {} }: Surroundings = {},
): Promise<ServingProcess> {
  const run = box.start(lineOf(args), { env, patience: PATIENCE_MS });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    run.child[name]?.on('data', (piece) => {
      said[name] += piece;
    });
  return { ...run, box, said, ...(await listening(said, run.ended)) };
}

async function listening(
  said: Serving['said'],
  ended: Promise<Ended>,
): Promise<Pick<Serving, 'url' | 'speak'>> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  ended.then(end, end);
  const address = () =>
    /"url":"([^"]+)".*\n/.exec(said.stdout)?.[1] ??
    /listening on ([^\s"]+)[\s\S]*try: .*\n/.exec(said.stderr)?.[1];
  await expect.poll(() => address() ?? hasEnded).toBeTruthy();
  const url = address();
  if (url === undefined) throw new Error(said.stderr);
  const speak: Serving['speak'] = (body, headers = {}) =>
    ask(`${url}/tts`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  return { url, speak };
}
