import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { expect, it } from 'vitest';
import { emptyFolder } from '../../support/folder.ts';
import { mayTrace } from '../../support/programs.ts';

/** More pieces than the system takes at once: it is asked twice. */
const PROGRAM = `
const { openSync } = require('node:fs');
const { FileWriter } = require('./block-writer.cjs');
const writer = new FileWriter(openSync('out', 'w'), 'out');
for (let i = 0; i < 2000; i++) writer.write(Buffer.from(i + ' '));
writer.flush();
`;

it.runIf(mayTrace())(
  'A disk that is full for a moment gets each byte once (skipped without strace).',
  async () => {
    const folder = emptyFolder();
    const entryFileNames = '[name].cjs';
    await build({
      input: 'src/kit/file.ts',
      platform: 'node',
      output: { dir: folder, format: 'cjs', entryFileNames },
    });
    writeFileSync(join(folder, 'program.cjs'), PROGRAM);
    const full = ['-P', join(folder, 'out'), '-e', 'inject=writev:error=ENOSPC:when=2'];
    const args = ['-f', '-qq', '-o', join(folder, 'trace'), ...full, process.execPath, 'program.cjs'];
    execFileSync('strace', args, { cwd: folder });
    expect(readFileSync(join(folder, 'trace'), 'utf8')).toContain('(INJECTED)');
    const written = readFileSync(join(folder, 'out'), 'utf8').trimEnd().split(' ');
    expect(written).toEqual(Array.from({ length: 2000 }, (_, i) => String(i)));
  },
);
