import { existsSync } from 'node:fs';
import type { Sandbox } from './run.ts';

/** The lines of `--events` in a file that need not be there yet. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows the fields of a line
export function eventsIn(box: Sandbox, name = 'events.jsonl'): any[] {
  if (!existsSync(box.path(name))) return [];
  const lines = box.read(name).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}
