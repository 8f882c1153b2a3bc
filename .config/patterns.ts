import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/** Unicode classes such as `\p{L}`, which V8 expands to sets of thousands of characters. */
const HAS_CLASS = /\\p\{/iu;
/** Flags with which a pattern keeps its position in a text, so that each use needs a new object. */
const KEEPS_PLACE = /[gy]/;

/**
 * Creates patterns with Unicode classes at their first use. V8 expands all pattern literals of a file when it loads it,
 * which takes 7 to 10 ms at the start, although most runs use only a few.
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
