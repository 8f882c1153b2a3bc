import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/** A class such as `\p{L}` is a set of thousands of characters. */
const HAS_CLASS = /\\p\{/iu;
/** A pattern with one of these flags keeps a place in a text, so each use needs a pattern of its own. */
const KEEPS_PLACE = /[gy]/;

/**
 * Makes patterns with Unicode classes where they are first used. V8 builds the sets of all patterns of a file while it loads the
 * file, which takes 7 to 10 ms of a start, though most runs use a few of them.
 */
export function latePatterns(): Plugin {
  return {
    name: 'late-patterns',
    renderChunk(code, { fileName }) {
      const found: { start: number; end: number; pattern: string; flags: string }[] = [];
      const { program } = parseSync(fileName.replace(/\.cjs$/, '.js'), code);
      new Visitor({
        Literal({ start, end, ...literal }) {
          if ('regex' in literal && HAS_CLASS.test(literal.regex.pattern))
            found.push({ start, end, ...literal.regex });
        },
      }).visit(program);
      let result = '';
      let at = 0;
      const kept: string[] = [];
      for (const { start, end, pattern, flags } of found) {
        const made = `new RegExp(${JSON.stringify(pattern)}, "${flags}")`;
        const name = `pattern$${kept.length}`;
        if (!KEEPS_PLACE.test(flags)) kept.push(name);
        result += code.slice(at, start) + (KEEPS_PLACE.test(flags) ? made : `(${name} ??= ${made})`);
        at = end;
      }
      if (found.length === 0) return null;
      return `${result}${code.slice(at)}\nvar ${kept.join(', ') || 'pattern$'};\n`;
    },
  };
}
