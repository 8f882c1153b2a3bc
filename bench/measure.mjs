// Measures whole processes: wall time, peak memory, and when which output arrives. Compared commands take turns: A B A B …
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** stdout for `> /dev/null`. Node's 'ignore' would look to the command like a closed stdout, which is an error. */
const nowhere = openSync(devNull, 'w');

/** Runs a command to its end. `onData` gets stdout as it arrives; `watchMemory` samples the largest resident set. */
export function run([command, ...args], { env, onData, watchMemory = false } = {}) {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(command, args, {
      env,
      cwd: env?.HOME,
      stdio: ['ignore', onData ? 'pipe' : nowhere, 'inherit'],
    });
    let peak = 0;
    // Only on request: sampling takes time that would be counted as the command's.
    const timer = watchMemory && setInterval(() => (peak = Math.max(peak, peakOf(child.pid))), 5);
    if (onData) child.stdout.on('data', (data) => onData(data, performance.now() - begun));
    child.on('error', reject);
    child.on('close', (status) => {
      clearInterval(timer);
      if (status !== 0) reject(new Error(`${command} ${args.join(' ')}: status ${status}`));
      else resolve({ milliseconds: performance.now() - begun, peakKiB: peak });
    });
  });
}

function peakOf(pid) {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Runs two commands in turn. @returns the median times in milliseconds, and the median of the ratios within the pairs */
export async function pairs(a, b, { rounds, env }) {
  const rows = [];
  for (let round = -1; round < rounds; round++) {
    const first = await run(a, { env });
    const second = await run(b, { env });
    if (round >= 0) rows.push({ a: first, b: second });
  }
  return {
    a: median(rows.map((row) => row.a.milliseconds)),
    b: median(rows.map((row) => row.b.milliseconds)),
    ratio: median(rows.map((row) => row.a.milliseconds / row.b.milliseconds)),
  };
}

const FRAME_BYTES = 882;
const HEADER_BYTES = 44;

/** Milliseconds until the first byte at stdout, and the median from the sending of a frame to its arrival. */
export async function latency(command, env) {
  let first;
  let received = Buffer.alloc(0);
  let frames = 0;
  const delays = [];
  await run(command, {
    env,
    onData(data, at) {
      first ??= at;
      received = Buffer.concat([received, data]);
      const now = process.hrtime.bigint();
      while (received.length >= HEADER_BYTES + (frames + 1) * FRAME_BYTES) {
        const sent = received.readBigUInt64LE(HEADER_BYTES + frames++ * FRAME_BYTES);
        delays.push(Number(now - sent) / 1e6);
      }
    },
  });
  return { first, delay: median(delays) };
}
