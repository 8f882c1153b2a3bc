import { statSync } from 'node:fs';
import type { Host } from '../../host.ts';
import { pathOf } from '../../path-of.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { SegmentOptions } from '../../text/segment.ts';
import { type Order, readText } from '../task.ts';
import type { ProgressState } from './line.ts';

/** A larger text takes days to speak, and seconds to read twice. */
const LARGEST_BYTES = 16 * 2 ** 20;

/**
 * What an order has to speak, in the same segments as it is spoken in. `undefined` where that cannot be known: what
 * comes through a pipe can be read only once.
 */
export async function totalOf(
  order: Order,
  options: SegmentOptions,
  host: Pick<Host, 'cwd' | 'stdin'>,
  signal: AbortSignal,
): Promise<ProgressState['total']> {
  const total = { segments: 0, characters: 0 };
  try {
    if (!canBeReadTwice(order, host)) return undefined;
    for await (const { text } of readText(order, options, host, signal)) {
      total.segments += 1;
      total.characters += countCodePoints(text);
    }
  } catch {
    // Whatever is wrong with the text is told by the run itself.
    return undefined;
  }
  return total;
}

function canBeReadTwice({ files }: Order, { cwd }: Pick<Host, 'cwd'>): boolean {
  let bytes = 0;
  for (const name of files) {
    const stats = name === '-' ? undefined : statSync(pathOf(cwd, name), { throwIfNoEntry: false });
    if (!stats?.isFile()) return false;
    bytes += stats.size;
  }
  return bytes <= LARGEST_BYTES;
}
