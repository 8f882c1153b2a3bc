import type { Entry } from './catalog.ts';
import { bash } from './completion-bash.ts';
import { fish } from './completion-fish.ts';
import { powershell } from './completion-powershell.ts';
import { zsh } from './completion-zsh.ts';

/** What each shell is given. */
export const scripts: ReadonlyMap<string, (entries: readonly Entry[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
  ['powershell', powershell],
]);
