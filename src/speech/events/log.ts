import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageError } from '../../error.ts';
import { isDescriptor, isReadOnly } from '../../files/descriptor.ts';
import { pathOf } from '../../files/paths.ts';
import { unwritable } from '../../files/writable.ts';
import { openPipe } from '../../sink/open.ts';
import type { EventLine } from './events.ts';

/** The lines of events go here. A reader that leaves, or a full disk, ends them and nothing else. */
export interface EventLog extends AsyncDisposable {
  write(line: EventLine): void;
}

/** Bytes that a slow reader may be behind. One that does not read at all gets no more lines. */
const MOST_BEHIND = 8 * 1024 * 1024;

/** Milliseconds that a slow reader has at the end of the run. */
const LAST_MS = 1000;

/**
 * @param where a descriptor that the caller has opened, from 3 on, or a file. A new file is the user's alone, and an old one goes on
 * @throws TtsError (usage) for a descriptor that is not open, (output) for a file that cannot be written
 */
export async function openEventLog(where: string, cwd: string, signal: AbortSignal): Promise<EventLog> {
  if (isDescriptor(where)) {
    const fd = Number(where);
    return logOf(fd, statsOf(fd));
  }
  const path = pathOf(cwd, where);
  try {
    const fd = isPipe(path) ? await openPipe(path, signal) : openSync(path, 'a', 0o600);
    return logOf(fd, fstatSync(fd));
  } catch (error) {
    signal.throwIfAborted();
    throw unwritable(where, error, 'name another file with --events');
  }
}

/** @throws TtsError (usage) */
function statsOf(fd: number): Stats {
  if (fd < 3)
    throw usageError(
      `--events ${fd}: events cannot go to ${['stdin', 'stdout', 'stderr'][fd]}`,
      'use a descriptor from 3 on (tts --events 3 3>events.jsonl), or name a file',
    );
  try {
    const stats = fstatSync(fd);
    if (!isOfThisProgram(fd, stats) && !isReadOnly(fd)) return stats;
  } catch {
    // The error below tells what to do.
  }
  throw usageError(
    `--events ${fd}: descriptor ${fd} is not open for writing`,
    `open it where tts is started: tts --events ${fd} ${fd}>events.jsonl; a file with this name is ./${fd}`,
  );
}

/** Node has descriptors of its own, which only Linux shows: no event may go to them. */
function isOfThisProgram(fd: number, stats: Stats): boolean {
  const targetOf = (name: number | string) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return undefined;
    }
  };
  const target = targetOf(fd);
  if (target === undefined || !stats.isFIFO()) return target?.startsWith('anon_inode:') ?? false;
  // Both ends of such a pipe are here.
  const others = readdirSync('/proc/self/fd').filter(
    (name) => Number(name) !== fd && targetOf(name) === target,
  );
  return others.some((name) => isReadOnly(Number(name)));
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function logOf(fd: number, stats: Stats): EventLog {
  return stats.isFIFO() || stats.isSocket() ? pipeLog(fd) : fileLog(fd);
}

/** Each line is there when `write` returns. */
function fileLog(fd: number): EventLog {
  let isOpen = true;
  return {
    write(line) {
      try {
        if (isOpen) writeSync(fd, textOf(line));
      } catch {
        isOpen = false;
      }
    },
    async [Symbol.asyncDispose]() {
      closeSync(fd);
    },
  };
}

/** The system takes a line at once while its pipe has room. A reader that is slow, or gone, must not hold up the speech. */
function pipeLog(fd: number): EventLog {
  const stream = new Socket({ fd, readable: false, writable: true });
  stream.on('error', () => {});
  return {
    write(line) {
      if (stream.writableLength < MOST_BEHIND) stream.write(textOf(line), () => {});
      else stream.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => void stream.once('close', resolve));
      stream.end(() => stream.destroy());
      if (!stream.closed) await Promise.race([closed, sleep(LAST_MS, undefined, { ref: false })]);
      stream.destroy();
    },
  };
}

function textOf(line: EventLine): string {
  return `${JSON.stringify(line)}\n`;
}
