const OPENING = /^(---|\+\+\+)[ \t]*\n/u;
/** Without this on its first line, it is a thematic break with text behind it. */
const FIRST_FIELD = /^[ \t]*(?:#|["']?[\p{L}_][^\n]{0,200}?[:=])/u;

/** The document without the YAML (---) or TOML (+++) at its start, which is about the text and not part of it. */
export function withoutFrontMatter(source: string): string {
  return source.slice(frontMatterLength(source));
}

/** In UTF-16 units; `undefined` for what begins like it and does not end. */
export function frontMatterLength(source: string): number | undefined {
  const { 0: fence, 1: mark } = OPENING.exec(source) ?? [];
  if (fence === undefined || !FIRST_FIELD.test(source.slice(fence.length, fence.length + 400))) return 0;
  const closing = mark === '---' ? /\n(?:---|\.\.\.)[ \t]*(?=\n|$)/gu : /\n\+\+\+[ \t]*(?=\n|$)/gu;
  closing.lastIndex = fence.length;
  return closing.test(source) ? closing.lastIndex : undefined;
}
