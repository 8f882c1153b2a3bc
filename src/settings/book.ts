import { isObject } from '../is-object.ts';
import type { Fault, Kind } from './kind.ts';

interface Book<T> {
  readonly allowed: string;
  /** What is wrong in an object. */
  readonly faultIn: (data: object) => Fault | undefined;
  /** An entry in which nothing is wrong. */
  readonly read: (name: string, said: unknown) => readonly [name: string, value: T];
}

/** Values by names, an object in data; there is no way to write one as an option. */
export function book<T>({ allowed, faultIn, read }: Book<T>): Kind<ReadonlyMap<string, T>> {
  return {
    allowed,
    text: () => undefined,
    fault: (data) => (isObject(data) ? faultIn(data) : undefined),
    data: (data) =>
      isObject(data) && !faultIn(data)
        ? new Map(Object.entries(data).map(([name, said]) => read(name, said)))
        : undefined,
  };
}
