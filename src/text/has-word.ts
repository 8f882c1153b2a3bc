import { late } from './late.ts';

const letterOrDigit = late(() => /[\p{L}\p{N}]/u);

/** Whether there is anything in a text to say. */
export function hasWord(text: string): boolean {
  return letterOrDigit().test(text);
}
