import { type ExitCode, TtsError } from '../../error.ts';
import type { Host } from '../../host.ts';
import { inOneLine } from '../../printable.ts';

export interface Finding {
  readonly name: string;
  readonly state: 'good' | 'bad' | 'skipped';
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly exitCode?: ExitCode;
}

export async function examine(name: string, look: () => string | Promise<string>): Promise<Finding> {
  try {
    return { name, state: 'good', detail: await look() };
  } catch (error) {
    if (!(error instanceof TtsError)) throw error;
    const { message, hint, exitCode } = error;
    return { name, state: 'bad', detail: message, hint, exitCode };
  }
}

export function skipped(name: string, detail: string, hint?: string): Finding {
  return { name, state: 'skipped', detail, hint };
}

const SIGNS = { good: '✔', bad: '✘', skipped: '-' };
const ASCII_SIGNS = { good: 'ok', bad: '!!', skipped: '--' };

export function findingInWords({ name, state, detail, hint }: Finding, host: Host): string {
  const sign = (showsUnicode(host) ? SIGNS : ASCII_SIGNS)[state];
  const line = `${sign} ${name.padEnd(10)} ${inOneLine(detail)}`;
  return hint === undefined ? line : `${line}\n${' '.repeat(sign.length + 12)}${inOneLine(hint)}`;
}

function showsUnicode({ env, platform }: Host): boolean {
  if (platform === 'win32') return env.WT_SESSION !== undefined;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') && env.TERM !== 'linux';
}
