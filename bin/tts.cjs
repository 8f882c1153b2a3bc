#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
process.exitCode = 1; // until the run has a result
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`tts: Node 20.19 or newer is needed, and this is ${process.versions.node}\n`);
} else {
  try {
    require('../dist/main.cjs').main(process);
  } catch ({ message }) {
    const what = `the program cannot be loaded: ${message.split('\n')[0]}`;
    process.stderr.write(`tts: ${what}\nhint: install it again, or npm run build\n`);
  }
}
