import type { Exchange } from '../http/exchange.ts';
import { PAGE, POLICY } from './page.ts';

/** Relative addresses need the last slash. */
export function sendPage({ request, response, path }: Exchange): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  if (!path.endsWith('/')) {
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    return void response.writeHead(308, { Location: `./${name}/${search}`, Vary: 'Accept' }).end();
  }
  const bytes = Buffer.from(PAGE);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': bytes.length,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  });
  response.end(bytes);
}
