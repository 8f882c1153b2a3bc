import { isObject } from '../is-object.ts';
import { baseUrl, type Fault, type Kind } from './kind.ts';
import { quoted } from './quoted.ts';

/** A key for each base URL, as `URL.href` writes it. */
export type Keys = ReadonlyMap<string, string>;

/** Keys that were stored, each for one base URL only. */
export const keys: Kind<Keys> = {
  allowed: 'an object of base URLs with their keys',
  text: () => undefined,
  data: (data) =>
    isObject(data) && !faultIn(data)
      ? new Map(Object.entries(data).map(([url, key]) => [baseUrl.text(url)?.href ?? url, key as string]))
      : undefined,
  fault: (data) => (isObject(data) ? faultIn(data) : undefined),
};

/** Names the address at most, and only where it is one: what stands beside it is a secret, and the two may be swapped. */
function faultIn(data: object): Fault | undefined {
  for (const [url, key] of Object.entries(data)) {
    if (!baseUrl.text(url))
      return {
        what: `${addressIn(url)} is no base URL`,
        hint: `expected ${baseUrl.allowed}, and its key behind it`,
      };
    if (typeof key !== 'string' || key.trim() === '')
      return { what: `what stands for ${addressIn(url)} is no key`, hint: 'store it with tts login' };
  }
  return undefined;
}

function addressIn(name: string): string {
  return /^https?:\/\//i.test(name) ? quoted(name) : 'one of the names';
}
