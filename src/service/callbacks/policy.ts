import type { IncomingMessage } from 'node:http';
import { originOf } from '../../address.ts';
import { usageError } from '../../error.ts';
import { Refusal } from '../http/refusal.ts';

export interface CallbackPolicy {
  /** The operator listed these: their address may be a private one. */
  readonly origins: ReadonlySet<string>;
  /** True lets every origin with a public address get sound. */
  readonly any: boolean;
}

/** @throws TtsError (usage) */
export function readCallbackPolicy(values: readonly string[], isLoopback: boolean): CallbackPolicy {
  const any = values.includes('*');
  if (any && !isLoopback) {
    throw usageError(
      '--callbacks "*" would let strangers send requests from this machine',
      'name the origins, as in --callbacks https://app.example.com, or listen on 127.0.0.1',
    );
  }
  return { origins: new Set(values.filter((value) => value !== '*').map(readOrigin)), any };
}

function readOrigin(value: string): string {
  const origin = originOf(value);
  if (origin !== undefined) return origin;
  const hint = value.includes('*')
    ? 'there are no patterns: name each origin; "*" alone stands for all public ones'
    : 'give an origin, as in https://app.example.com: no path, no password';
  throw usageError(`bad value for --callbacks: ${value}`, hint);
}

/**
 * @returns `undefined` if the audio belongs in the answer
 * @throws Refusal 403 for an origin that is not allowed, 422 for no URL
 */
export async function callbackTarget(
  value: string | undefined,
  request: IncomingMessage,
  policy: CallbackPolicy,
): Promise<URL | undefined> {
  if (value === undefined || value === '') return undefined;
  const field = 'callback_url';
  if (!URL.canParse(value)) throw new Refusal(422, 'invalid_field', `${field} is not a URL`, { field });
  const url = new URL(value);
  if (ownOrigins(request).includes(url.origin)) return undefined;
  if (policy.origins.has(url.origin) || (policy.any && (await mayBePublic(url)))) return url;
  throw new Refusal(403, 'callback_not_allowed', `Callbacks to ${url.origin} are not allowed`, { field });
}

async function mayBePublic({ hostname }: URL): Promise<boolean> {
  const { isClosedHost } = await import('./public-address.ts');
  return !isClosedHost(hostname);
}

function ownOrigins({ headers }: IncomingMessage): readonly string[] {
  return [`http://${headers.host}`, headers.origin ?? '']
    .filter((origin) => URL.canParse(origin))
    .map((origin) => new URL(origin).origin);
}
