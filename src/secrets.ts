import type { Host } from './host.ts';

/** The variables that hold a secret of this program, or name a file with one. No child process gets them, and no output shows them. */
export const SECRET_VARIABLES = [
  'TTS_API_KEY',
  'TTS_API_KEY_FILE',
  'TTS_ENGINE_KEY',
  'TTS_ENGINE_KEY_FILE',
  'HF_TOKEN',
] as const;

/** Their addresses may hold a user and a password. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];

/** What no output may show. The name of a file is no secret. */
export function* secretsIn(env: Host['env']): Generator<string> {
  for (const name of SECRET_VARIABLES) if (!name.endsWith('_FILE')) yield env[name]?.trim() ?? '';
}

/** @param usesNetwork keeps the passwords of proxies */
export function withoutSecrets(env: Host['env'], usesNetwork = false): Record<string, string | undefined> {
  const rest = { ...env };
  for (const name of SECRET_VARIABLES) delete rest[name];
  for (const name of usesNetwork ? [] : PROXIES) {
    const address = rest[name];
    if (address !== undefined) rest[name] = withoutLogin(address);
  }
  return rest;
}

/** Such a variable need not be a valid URL: `user:password@host:3128` is one, too. */
function withoutLogin(address: string): string {
  const start = address.indexOf('://');
  const scheme = start < 0 ? '' : address.slice(0, start + 3);
  return scheme + address.slice(Math.max(scheme.length, address.lastIndexOf('@') + 1));
}
