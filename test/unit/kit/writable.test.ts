import { describe, expect, it } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { isReaderGone, unwritable } from '../../../src/kit/folders.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

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

describe('a reader that has left', () => {
  it.each([
    // Windows says EOF.
    ...['EPIPE', 'ECONNRESET', 'EOF', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE'],
  ])('is known by %s', (code) => {
    expect(isReaderGone(systemError(code))).toBe(true);
  });

  it('is no disk that is full, and no defect', () => {
    expect([systemError('ENOSPC'), new Error('EPIPE')].map(isReaderGone)).toEqual([false, false]);
  });
});
