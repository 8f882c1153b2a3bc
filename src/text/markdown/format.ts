import { extname } from 'node:path';

const endings = new Set(['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn']);

/**
 * How one input is read.
 * @param name a file's name, or "-"; what has no name (words, standard input) is text unless somebody says otherwise
 */
export function formatOf(name: string, format: 'text' | 'markdown' | 'auto'): 'text' | 'markdown' {
  if (format !== 'auto') return format;
  return endings.has(extname(name).toLowerCase()) ? 'markdown' : 'text';
}
