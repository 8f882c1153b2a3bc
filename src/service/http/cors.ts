import type { Exchange } from '../exchange/exchange.ts';

/** The interface itself. */
const PATHS = ['/tts', '/speakers'];

const EXPOSED = ['Retry-After', 'X-Instructions-Ignored', 'X-Request-Id'];

const MAX_AGE = 600;

export type Cors = (exchange: Exchange) => void;

export function createCors(origin: string, basePath: string): Cors {
  const paths = PATHS.map((path) => basePath + path);
  return ({ request, response, path }) => {
    if (!paths.includes(path)) return;
    // The one origin does not depend on the request: no `Vary`.
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (request.method !== 'OPTIONS') {
      response.setHeader('Access-Control-Expose-Headers', EXPOSED.join(', '));
      return;
    }
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
    response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-API-KEY');
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  };
}
