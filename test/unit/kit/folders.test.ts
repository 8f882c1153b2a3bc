import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { findProgram, systemError, unwritable } from '../../../src/kit/folders.ts';
import { emptyFolder } from '../../support/folder.ts';

describe('an output that cannot be written', () => {
  it.each([
    ['ENOSPC', 'no space is left there', 'free some space, or write elsewhere with -o'],
    ['ENOENT', 'the folder does not exist', 'make the folder first'],
    ['EROFS', 'the file system is read-only', 'write elsewhere with -o'],
    ['ESTRANGE', 'ESTRANGE', 'write elsewhere with -o'],
  ])('is told with the reason and with what to do: %s', (code, reason, hint) => {
    const cause = systemError(code);
    expect(unwritable('out.wav', cause)).toMatchObject({
      ...{ message: `cannot write out.wav: ${reason}`, hint, cause },
      exitCode: ExitCode.output,
    });
  });

  it('is told with the way elsewhere that there is', () => {
    expect(unwritable('stdout', systemError('ENOSPC'), 'send it elsewhere').hint).toBe(
      'free some space, or send it elsewhere',
    );
  });

  it('leaves an error as it is that is told already, or that does not come from the system', () => {
    const told = new TtsError('told', { exitCode: ExitCode.output, hint: 'do' });
    expect(unwritable('out.wav', told)).toBe(told);
    const defect = new TypeError('a defect');
    expect(() => unwritable('out.wav', defect)).toThrow(defect);
  });
});

/** A folder with a program of each of these names. */
function programs(...names: readonly string[]): string {
  const folder = emptyFolder();
  for (const name of names) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

it('finds the first program of a name', async () => {
  const [none, first, second] = [emptyFolder(), programs('play'), programs('play', 'other')];
  const host = { env: { PATH: [none, first, second].join(delimiter) }, platform: 'linux' } as const;
  expect(await findProgram('play', host)).toBe(join(first, 'play'));
  expect(await findProgram('other', host)).toBe(join(second, 'other'));
  expect(await findProgram('missing', host)).toBeUndefined();
});

it.each(['play', 'play.exe', 'PLAY.EXE'])(
  'adds .exe under Windows only, and never twice: %s',
  async (name) => {
    const folder = programs('play', 'play.exe', 'PLAY.EXE', 'play.exe.exe');
    const under = (platform: NodeJS.Platform) => findProgram(name, { env: { PATH: folder }, platform });
    expect(await under('linux')).toBe(join(folder, name));
    expect(await under('win32')).toBe(join(folder, name === 'play' ? 'play.exe' : name));
  },
);
