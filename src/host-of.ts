import { isUtf8 } from 'node:buffer';
import { fstatSync, readFileSync, readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { usageError } from './error.ts';
import type { Host, Output } from './host.ts';

/** The host that a process of Node is. */
export function hostOf(process: NodeJS.Process): Host {
  return {
    argv: process.argv.slice(2),
    isArgvUtf8,
    env: process.env,
    get cwd() {
      return workingFolder(process);
    },
    get home() {
      return homeFolder(process);
    },
    platform: process.platform,
    pid: process.pid,
    get realm() {
      return realmOf(process);
    },
    uid: process.geteuid?.(),
    runtime: `${process.version}-${process.arch}`,
    isRunning: (pid) => isRunning(process, pid),
    stdin: {
      get isTTY() {
        return isTerminal(process, 0);
      },
      get stream() {
        // Node would make an empty text of it.
        if (fstatSync(0).isDirectory())
          throw usageError('stdin is a folder', 'redirect a file, or use a pipe');
        return process.stdin;
      },
    },
    stdout: outputOf(process, 'stdout'),
    stderr: outputOf(process, 'stderr'),
    on: (signal, listener) => void process.on(signal, listener),
    off: (signal, listener) => void process.off(signal, listener),
    onExit: (listener) => void process.on('exit', listener),
  };
}

function isArgvUtf8(): boolean | undefined {
  try {
    return isUtf8(readFileSync('/proc/self/cmdline'));
  } catch {
    return undefined;
  }
}

/**
 * What HOME says, if that is a place at all, or else the list of users: some containers run as a number that is not in it.
 * Node would say the same, but brings a module along that nothing else needs.
 */
function homeFolder(process: NodeJS.Process): string | undefined {
  try {
    const named = process.platform === 'win32' ? undefined : process.env.HOME;
    const home = named ?? process.getBuiltinModule('node:os').homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

function workingFolder(process: NodeJS.Process): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw usageError('the working folder is gone', 'change to a folder that exists', cause);
  }
}

/** One boot of a system, and one namespace of processes (a container has its own); elsewhere than on Linux the machine. */
function realmOf(process: NodeJS.Process): string {
  const machine = () => process.getBuiltinModule('node:os').hostname();
  if (process.platform !== 'linux') return machine();
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')}${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return machine();
  }
}

function isRunning(process: NodeJS.Process, pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function outputOf(process: NodeJS.Process, name: 'stdout' | 'stderr'): Output {
  const fd = name === 'stdout' ? 1 : 2;
  return {
    fd,
    get isTTY() {
      return isTerminal(process, fd);
    },
    get columns() {
      return process[name].columns;
    },
    get stream() {
      return process[name];
    },
  };
}

/** Looked up when asked, and where it is worth it: the module behind it brings the whole network stack along, 2 ms of a start. */
function isTerminal(process: NodeJS.Process, fd: number): boolean {
  return mayBeTerminal(fd) && process.getBuiltinModule('node:tty').isatty(fd);
}

function mayBeTerminal(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return !(found.isFile() || found.isFIFO() || found.isSocket());
  } catch {
    return true;
  }
}
