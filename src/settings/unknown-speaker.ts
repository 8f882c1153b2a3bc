import { type TtsError, usageError } from '../error.ts';
import { nearestName } from './nearest.ts';

/** So many speakers fit into a hint. */
const MOST_SHOWN = 20;

interface Unknown {
  /** Who asked for it. */
  readonly origin: string;
  /** The speakers there are, in words. */
  readonly there: readonly string[];
  /** What else to know for whoever misses one. */
  readonly remark: string | undefined;
}

export function unknownNumber(who: string, unknown: Unknown): TtsError {
  return usageError(
    `${unknown.origin}: the built-in service has no speaker ${who}`,
    `name the service that has it with --base-url; there are: ${shown(unknown)}`,
  );
}

export function unknownName(name: string, unknown: Unknown): TtsError {
  const { origin, there } = unknown;
  const nearest = nearestName(name, there);
  const hint =
    there.length > 0
      ? `${nearest ? `did you mean ${nearest}? ` : ''}There are: ${shown(unknown)}`
      : 'give its number, or name it under "speakers" in a config file';
  return usageError(`${origin}: no speaker is called ${JSON.stringify(name)}`, hint);
}

function shown({ there, remark }: Unknown): string {
  const list = there.slice(0, MOST_SHOWN).join(', ');
  const all = there.length > MOST_SHOWN ? `${list}, ...; tts speakers lists all` : list;
  return remark === undefined ? all : `${all}; ${remark}`;
}
