import { extname } from 'node:path';

const endings = new Set(['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn']);

/** @param name of a file, or "-"; words and stdin are text by default */
export function formatOf(name: string, format: 'text' | 'markdown' | 'auto'): 'text' | 'markdown' {
  if (format !== 'auto') return format;
  return endings.has(extname(name).toLowerCase()) ? 'markdown' : 'text';
}
