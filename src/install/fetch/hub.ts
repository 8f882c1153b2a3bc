import { isLoopback, isNearby } from '../../address.ts';
import { usageError } from '../../error.ts';
import type { Host } from '../../host.ts';
import type { PinnedFile, Repository } from '../../installed/catalogue.ts';

/** A hub with the interface of Hugging Face, or a mirror of it. */
export interface Hub {
  readonly url: URL;
  /** The option or the variable that named it. */
  readonly origin: string;
  /** It goes to this hub only, and to no host to which the hub leads on. */
  readonly token: string | undefined;
}

const DEFAULT = 'https://huggingface.co';

/**
 * The hub is named by an option or the environment, and never by a project.
 * @throws TtsError (usage)
 */
export function hubOf(mirror: string | undefined, { env }: Pick<Host, 'env'>): Hub {
  const [named, origin] = mirror
    ? [mirror, '--mirror']
    : env.HF_ENDPOINT
      ? [env.HF_ENDPOINT, 'HF_ENDPOINT']
      : [DEFAULT, 'the default'];
  const url = addressOf(named.trim(), origin);
  return { url, origin, token: env.HF_TOKEN?.trim() || undefined };
}

function addressOf(text: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw usageError(
      `${origin}: ${url ? url.host : JSON.stringify(text.slice(0, 60))} is not the address of a hub`,
      'write it as in https://hf-mirror.example.com, without user, "?" or "#"',
    );
  assertSafe(url, origin);
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** @throws TtsError (usage) for plain http to a host that is not near */
export function assertSafe(url: URL, origin: string): void {
  if (url.protocol === 'https:' || isNear(url)) return;
  throw usageError(
    `${origin}: ${url.host} is reached over plain http, where anybody on the way can change what comes`,
    'use https://; plain http is for this machine and private networks',
  );
}

export function isNear({ hostname }: URL): boolean {
  return isLoopback(hostname) || isNearby(hostname);
}

export function addressIn(
  { url }: Hub,
  { repo, commit }: Repository,
  { path }: Pick<PinnedFile, 'path'>,
): URL {
  const address = new URL(url);
  const steps = [...repo.split('/'), 'resolve', commit, ...path.split('/')].map(encodeURIComponent);
  address.pathname = `${url.pathname.replace(/\/+$/, '')}/${steps.join('/')}`;
  return address;
}
