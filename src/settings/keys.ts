import { book } from './book.ts';
import { baseUrl, type Fault } from './kind.ts';
import { quoted } from './quoted.ts';

/** Keys that were stored, each for one base URL only, as `URL.href` writes it. */
export const keys = book({
  allowed: 'an object of base URLs with their keys',
  faultIn,
  read: (url, key) => [baseUrl.text(url)?.href ?? url, key as string],
});

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
