/** Braces, and strings with the colon that makes keys of them. */
const TOKEN = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/**
 * The first key that stands twice in one object. Readers of JSON differ in which of the two they believe: what one has
 * checked, another would not speak.
 *
 * @param json valid
 */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, string = '', colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const key: string = JSON.parse(string);
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
