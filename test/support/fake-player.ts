import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { node, type Sandbox } from './run.ts';

/** Bodies of the scripts of fake players, in which `heard(bytes)` records bytes of stdin. */
const BEHAVIOURS = {
  /** Plays to the end. */
  plays: `for await (const piece of process.stdin) heard(piece);`,
  /** Reads more slowly than sound arrives. */
  isSlow: `for await (const piece of process.stdin) { heard(piece); await sleep(20); }`,
  /** Plays 16-bit mono at 22,050 Hz, as fast as a person hears it. */
  isInTime: `let due = 0;
    for await (const piece of process.stdin)
      for (let at = 0; at < piece.length; at += 2205) {
        heard(piece.subarray(at, at + 2205));
        due = Math.max(due, Date.now()) + 50;
        await sleep(Math.max(0, due - Date.now()));
      }`,
  /** Is closed by the user in the middle. */
  isClosed: `for await (const piece of process.stdin) { heard(piece); break; }`,
  /** Fails in the middle, with a message of its own. */
  fails: `for await (const piece of process.stdin) { heard(piece); break; }
    console.error('opening the device\\n\\x1b[31mthe device is busy\\x1b[0m\\n'); process.exitCode = 3;`,
  /** Fails without a message before it reads anything. */
  failsAtOnce: `process.exitCode = 4;`,
  /** Never reads, never ends, and ignores SIGTERM. */
  isStubborn: `process.on('SIGTERM', () => {}); heard('started'); setInterval(() => {}, 1000);`,
  /** Plays a file. */
  readsFile: `heard(readFileSync(process.argv[2]));`,
} as const;

export type Behaviour = keyof typeof BEHAVIOURS;

export interface FakePlayer {
  /** The value for `--player`. */
  readonly command: string;
  /** All bytes that it has received so far. */
  heard(): Buffer;
  /** The bytes of each start that received any, in order. */
  heardEach(): Buffer[];
  /** Resolves with its process id once it has received bytes. */
  running(): Promise<number>;
}

/** Writes a program that behaves like a player. @param path its file in the sandbox, such as the name of a real player */
export function fakePlayer(box: Sandbox, behaviour: Behaviour, path = `${behaviour}.cjs`): FakePlayer {
  const log = box.path(`${path}.heard`);
  const script = box.file(
    path,
    `#!${node}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');
writeFileSync(${JSON.stringify(`${log}.pid`)}, String(process.pid));
const own = ${JSON.stringify(`${log}.by-`)} + process.hrtime.bigint().toString().padStart(20, '0');
const heard = (bytes) => { appendFileSync(own, bytes); appendFileSync(${JSON.stringify(log)}, bytes); };
(async () => { ${BEHAVIOURS[behaviour]} })();
`,
  );
  chmodSync(script, 0o755);
  return {
    command: `'${node}' '${script}'`,
    heard: () => (existsSync(log) ? readFileSync(log) : Buffer.alloc(0)),
    heardEach: () =>
      box
        .list()
        .filter((name) => name.startsWith(`${path}.heard.by-`))
        .map((name) => box.read(name)),
    async running() {
      while (!existsSync(log)) await sleep(10);
      return Number(readFileSync(`${log}.pid`, 'utf8'));
    },
  };
}
