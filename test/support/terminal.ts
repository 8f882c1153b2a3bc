import { stripVTControlCharacters } from 'node:util';

export interface Exchange {
  readonly command: string;
  /** The lines that come out, without colours. */
  readonly shown: readonly string[];
}

/** The commands of a console block, and what is shown below each. */
export function dialogue(block: string): Exchange[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((exchange) => {
      const [command = '', ...shown] = exchange.trimEnd().split('\n');
      return { command, shown };
    });
}

/** What stays on a terminal of what was written to it: lines without colours, and without what was written over. */
export function lastingLines(written: string): string[] {
  return written
    .split('\n')
    .map((line) => stripVTControlCharacters(line.replaceAll(ERASE_BELOW, '\r')).trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .filter((line) => line !== '');
}

/** It is ED of ECMA-48, 8.3.39. */
const ERASE_BELOW = '\x1b[J';
