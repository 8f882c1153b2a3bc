#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`tts: Node 20.19 or newer is needed, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  // What Node has to say of the program's insides, such as that a module is experimental, is no help to who speaks.
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
    // Node aborts where it finds its terminal gone at the end, as it is after a hangup.
    if (status === 129) process.kill(process.pid, 'SIGHUP');
    // Node waits for what it cannot end, above all for the lookup of a name: after an interruption the signal ends it.
    if (status > 128) setTimeout(() => process.kill(process.pid, status - 128), 50).unref();
  };
  // What goes wrong is told by the program, unless that is not all there.
  const incomplete = ({ message }) => {
    const [what] = message.split('\n');
    process.stderr.write(`tts: the program cannot be loaded: ${what}\nhint: install it again\n`);
  };
  run().then(ended, incomplete);
}
