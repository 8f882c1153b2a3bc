import type { Host } from '../host.ts';

/** Marks words for the eye. */
export interface Paint {
  problem(text: string): string;
  hint(text: string): string;
}

/** Words as they are. */
export const plain: Paint = { problem: (text) => text, hint: (text) => text };

/** Colours, where stderr shows them to somebody who did not say no (https://no-color.org). */
export async function paintFor({ env, stderr }: Pick<Host, 'env' | 'stderr'>): Promise<Paint> {
  if (!stderr.isTTY || env.NO_COLOR || env.TERM === 'dumb') return plain;
  const { Chalk } = await import('chalk');
  // The level is given, since chalk would look at the process itself.
  const chalk = new Chalk({ level: 1 });
  return { problem: chalk.red.bold, hint: chalk.dim };
}
