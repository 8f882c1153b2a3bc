import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, prunable } from '../batch/manifest.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { countOf, visible } from '../kit/words.ts';
import type { Context } from './commands.ts';
import { askYes } from './print.ts';

/** An error names no more files than this. A terminal shows all. */
const MOST_SHOWN = 20;

interface Pruning extends Pick<Outcome, 'folder' | 'plan' | 'known'> {
  /** The user names it so. */
  readonly folderName: string;
}

interface Consent {
  readonly prune: boolean;
  /** It deletes without a question. */
  readonly yes: boolean;
}

/**
 * Asks before a row is made: an answer is not waited for when the work is done.
 * @returns whether the files may be deleted
 * @throws TtsError (usage) where nobody can answer
 */
export async function mayPrune(
  pruning: Pruning,
  { prune: isWanted, yes }: Consent,
  context: Context,
): Promise<boolean> {
  if (!isWanted || yes) return isWanted;
  const { host, notices, signal } = context;
  const shown: string[] = [];
  let count = 0;
  for await (const { file, reasonToKeep } of prunable(pruning, signal)) {
    if (reasonToKeep !== undefined) continue;
    const name = visible(join(pruning.folderName, file));
    count += 1;
    if (host.stdin.isTTY) notices.print(`  ${name}`);
    else if (shown.length < MOST_SHOWN) shown.push(name);
  }
  if (count === 0) return true;
  const answer = await askYes(`Delete ${countOf(count, 'file')}?`, context);
  if (answer === undefined) throw unasked(count, shown);
  if (!answer) notices.note('nothing is deleted');
  return answer;
}

function unasked(count: number, shown: readonly string[]): TtsError {
  const more = count - shown.length;
  return new TtsError(`--prune would delete ${countOf(count, 'file')}`, {
    exitCode: ExitCode.usage,
    details: [...shown, ...(more > 0 ? [`and ${more} more`] : [])],
    hint: 'nothing was deleted or made: add --yes if these files may go',
  });
}

/** Deletes what may be deleted, and notes the name of each file that is deleted or kept. */
export async function pruneFiles(pruning: Pruning, { notices, signal }: Context): Promise<void> {
  for await (const { file, reasonToKeep } of prunable(pruning, signal)) {
    const name = join(pruning.folderName, file);
    if (reasonToKeep !== undefined) {
      notices.note(`kept ${name}: ${reasonToKeep}; delete it by hand`);
      continue;
    }
    rmSync(pruning.folder.pathOf(file), { force: true });
    notices.note(`deleted ${name}`);
  }
}
