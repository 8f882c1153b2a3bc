#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`tts: Node 20.19 or newer is needed, and this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  const { hostOf, main } = require('../dist/main.cjs');
  // Should the process ever end before it comes to a result, that is no success.
  process.exitCode = 1;
  main(hostOf(process)).then((status) => {
    process.exitCode = status;
  });
}
