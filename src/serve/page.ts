/** The web page of the service. It uses relative addresses only, so that it works under any base path. */
import { readFileSync } from 'node:fs';
import { digestIn } from '../kit/checksum.ts';
import type { Reply } from '../kit/http/route.ts';

/** The build puts the file next to the program. */
const PAGE = readFileSync(new URL('page.html', import.meta.url), 'utf8');

/** The page may use only its own script, its own style and its own service. */
const POLICY = [
  "default-src 'none'",
  `script-src ${digestIn(PAGE, 'script')}`,
  `style-src ${digestIn(PAGE, 'style')}`,
  "connect-src 'self'",
  'media-src blob:',
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the page, or a redirect to its address with a trailing slash, which its relative addresses need. */
export function page(target: string): Reply {
  const { pathname, search } = new URL(target, 'http://localhost');
  if (!pathname.endsWith('/')) {
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    return { status: 308, headers: { Location: `./${name}/${search}`, Vary: 'Accept' } };
  }
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    },
    body: Buffer.from(PAGE),
  };
}
