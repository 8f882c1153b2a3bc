import type { MarkdownOptions } from './spoken.ts';

/** @param info what stands behind the opening fence: the first word names the language */
export function spokenCode(content: string, info: string, code: MarkdownOptions['code']): string {
  if (code === 'skip') return '';
  if (code === 'read') return content.trim();
  const language = /^[\p{L}\p{N}][\p{L}\p{N}+#.-]{0,30}/u.exec(info.trim())?.[0];
  return language ? `Code in ${language} omitted.` : 'Code omitted.';
}
