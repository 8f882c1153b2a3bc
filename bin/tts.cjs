#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`tts: Node 20.19 or newer is needed, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  // Node's warnings about a program's insides, such as that a module is experimental, do not help whoever runs it.
  process.removeAllListeners('warning');
  // Should the process ever end before it comes to a result, that is no success.
  process.exitCode = 1;
  const run = async () => {
    // People and scripts expect these at once; anywhere else on the line they come through the whole program.
    const isBrief = ['-h', '--help', '-V', '--version'].includes(process.argv[2]);
    const { hostOf, main } = require(isBrief ? '../dist/brief.cjs' : '../dist/main.cjs');
    return main(hostOf(process));
  };
  const ended = (status) => {
    process.exitCode = status;
    const dieOfSignal = () => process.kill(process.pid, status - 128);
    process.once('exit', () => {
      const typed = status === INTERRUPTED && isOnTerminal();
      leaveTerminals();
      if (typed) dieOfSignal();
    });
    // Node waits for what it cannot end, above all for the lookup of a name: after an interruption the signal ends it.
    if (status > 128) setTimeout(dieOfSignal, 50).unref();
  };
  // Of Ctrl-C: a shell says 130 either way, but bash leaves its loop only where what it ran has died of that.
  const INTERRUPTED = 130;
  const isOnTerminal = () =>
    process.platform !== 'win32' && [0, 1, 2].some((fd) => require('node:tty').isatty(fd));
  // Only here: Node before 14.18 does not know the prefix.
  const { closeSync, fstatSync } = require('node:fs');
  /** Whether a descriptor led to a terminal that is not there any more. Devices of kind 1, as /dev/null, never did. */
  const isGone = (fd) => {
    try {
      const kind = fstatSync(fd);
      return kind.isCharacterDevice() && kind.rdev >> 8 !== 1 && !require('node:tty').isatty(fd);
    } catch {
      return false;
    }
  };
  // Node 20 aborts at its end where a terminal that it was started on is gone, unless what led there is closed.
  const leaveTerminals = () => {
    for (const fd of [0, 1, 2].filter(isGone)) closeSync(fd);
  };
  // What goes wrong is told by the program, unless that is not all there.
  const incomplete = ({ message }) => {
    const [what] = message.split('\n');
    process.stderr.write(`tts: the program cannot be loaded: ${what}\nhint: install it again\n`);
  };
  run().then(ended, incomplete);
}
