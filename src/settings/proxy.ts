import { usageError } from '../error.ts';
import type { Origin, Setting } from './origin.ts';
import { hostOnly } from './proxy-url.ts';
import type { Settings } from './resolve.ts';
import { rules } from './rules.ts';

/** The proxy for an address, with the hosts that do without: option, environment, config, as for every setting. */
export function chooseProxy(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  address: URL,
): { url: URL; except: string; origin: Origin } | undefined {
  const { proxy } = settings;
  const said = proxy?.origin.place === 'option' ? proxy : (fromEnvironment(env, address) ?? proxy);
  return said && { url: said.value, except: env.no_proxy || env.NO_PROXY || '', origin: said.origin };
}

function fromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  address: URL,
): Setting<URL> | undefined {
  const upper = address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = env[upper.toLowerCase()] ? upper.toLowerCase() : upper;
  const text = env[name];
  if (!text) return undefined;
  const value = rules.proxy.kind.text(text.includes('://') ? text : `http://${text}`);
  if (value) return { value, origin: { place: 'environment', name } };
  throw usageError(
    `${name}: ${hostOnly(text)} is not the address of a proxy; expected ${rules.proxy.kind.allowed}`,
    `correct or unset ${name}`,
  );
}
