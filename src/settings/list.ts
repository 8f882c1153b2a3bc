import type { Kind } from './kind.ts';
import { quoted } from './quoted.ts';

/** A list of values of one kind; there is no way to write one as an option. */
export function list<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    allowed: `a list, each entry ${kind.allowed}`,
    text: () => undefined,
    fault: (data) => {
      const wrong = Array.isArray(data) ? data.find((entry) => kind.data(entry) === undefined) : undefined;
      if (wrong === undefined) return undefined;
      return {
        what: `${quoted(wrong)} is not allowed in the list`,
        hint: `each entry has to be ${kind.allowed}`,
      };
    },
    data: (data) => {
      if (!Array.isArray(data)) return undefined;
      const values = data.map((entry) => kind.data(entry));
      return values.includes(undefined) ? undefined : (values as T[]);
    },
  };
}
