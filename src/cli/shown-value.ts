import type { Name, Value } from '../settings/rules.ts';

/** How a setting is shown where it is not just its text: secrets without the secret. */
const shows: { readonly [N in Name]?: (value: Value<N>) => unknown } = {
  speakers: (speakers) => Object.fromEntries(speakers),
  apiKey: () => 'set',
  keys: (keys) => `set for ${[...keys.keys()].join(', ')}`,
  proxy: withoutPassword,
};

/** A setting's value as data that may be shown: text, a number, or what JSON can hold. */
export function shownValue<N extends Name>(name: N, value: Value<N>): unknown {
  const show = shows[name] as ((value: Value<N>) => unknown) | undefined;
  return show ? show(value) : value;
}

export function withoutPassword(address: URL): string {
  const shown = new URL(address);
  shown.password = '';
  return shown.href;
}

/** The same in a few words. */
export function inWords(shown: unknown): string {
  if (Array.isArray(shown)) return shown.map(inWords).join(', ');
  if (shown instanceof URL) return shown.href;
  if (typeof shown !== 'object' || shown === null) return String(shown);
  return Object.entries(shown)
    .map(([name, { no }]) => `${name} (${no})`)
    .join(', ');
}
