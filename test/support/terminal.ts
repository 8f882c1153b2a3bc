import { stripVTControlCharacters } from 'node:util';

export interface Exchange {
  readonly command: string;
  /** The lines of the output, without colours. */
  readonly shown: readonly string[];
}

/** The commands of a console block, each with the output shown below it. */
export function dialogue(block: string): Exchange[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((exchange) => {
      const [command = '', ...shown] = exchange.trimEnd().split('\n');
      return { command, shown };
    });
}

/** The lines that remain visible on a terminal, without colours and without overwritten text. */
export function lastingLines(written: string): string[] {
  return written
    .split('\n')
    .map((line) => stripVTControlCharacters(line.replaceAll(ERASE_BELOW, '\r')).trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .filter((line) => line !== '');
}

/** The control function ED (ECMA-48, 8.3.39). */
const ERASE_BELOW = '\x1b[J';
