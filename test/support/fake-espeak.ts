import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VOICES = [
  'Pty Language       Age/Gender VoiceName          File                 Other Languages',
  ' 5  yy              --/M      Second_voice       test/yy',
  ' 5  xx              --/M      First              test/xx              (x 5)',
];

/**
 * Writes a program `espeak-ng` with two voices, `First` (101) and `Second voice` (102).
 * @param script the shell script that it runs to speak, with the arguments in `$*`
 * @returns its path
 */
export function fakeEspeak(folder: string, script: string): string {
  const file = join(folder, 'espeak-ng');
  const list = VOICES.map((line) => `echo '${line}'`).join('; ');
  writeFileSync(file, `#!/bin/sh\nif [ "$1" = --voices ]; then ${list}; exit; fi\n${script}\n`, {
    mode: 0o755,
  });
  return file;
}
