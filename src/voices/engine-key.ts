import { usageError } from '../error.ts';
import type { RunContext } from '../host.ts';
import { type EngineEntry, type ServerAddress, serverAddress } from '../settings/engine-kind.ts';
import { canBeOverheard, checkedKey } from '../settings/key.ts';
import { readKeyFile } from '../settings/key-file.ts';
import type { Setting, Settings } from '../settings/resolve.ts';

type KeySettings = Pick<Settings, 'allowInsecureHttp' | 'engineKey' | 'engineKeyFile'>;

export interface KeyedContext extends RunContext {
  readonly settings: KeySettings;
  /** True for the engine that the user chose for the run: `TTS_ENGINE_KEY` and a typed key are meant for it. */
  readonly isChosen: boolean;
}

/** What a server learns of who asks. */
export interface Authorization {
  /** The header of this name. */
  readonly authorization: string | undefined;
  /** Asks the person at the terminal for the key. It resolves with `undefined` for none. */
  readonly askAuthorization: (() => Promise<string | undefined>) | undefined;
}

/**
 * Takes the key of the entry, or the login of the address, or the key for the chosen engine. It goes to that server only, and
 * over plain http to near ones only.
 * @throws TtsError (usage)
 */
export async function authorizationOf(
  name: string,
  entry: EngineEntry,
  { url, login }: ServerAddress,
  context: KeyedContext,
): Promise<Authorization> {
  const own = await ownKey(name, entry, context);
  const key = own ?? (login === undefined ? await chosenKey(context) : undefined);
  const [what, authorization] =
    key === undefined ? ['password', login && basic(login, context)] : ['key', bearer(key, context)];
  const isOverheard = canBeOverheard(url, context.settings.allowInsecureHttp);
  if (authorization !== undefined && isOverheard)
    throw usageError(
      `the ${what} of the engine ${name} is not sent over plain http to ${url.host}: others could read it on the way`,
      'use https://, or "allowInsecureHttp": true in your own config if you mean it',
    );
  const mayAsk = authorization === undefined && !isOverheard && context.isChosen;
  return { authorization, askAuthorization: mayAsk ? () => askedKey(url, context) : undefined };
}

async function ownKey(
  name: string,
  { key, keyFile }: EngineEntry,
  { host, signal }: KeyedContext,
): Promise<string | undefined> {
  const isFile = keyFile !== undefined;
  const origin = { place: 'user', name: `engines.${name}.${isFile ? 'keyFile' : 'key'}` } as const;
  const place = { cwd: host.cwd, home: host.home, signal };
  const value = isFile ? await readKeyFile({ value: keyFile, origin }, place) : key;
  return value === undefined ? undefined : checkedKey({ value, origin }).value;
}

async function chosenKey({ settings, isChosen, host, signal }: KeyedContext): Promise<string | undefined> {
  const { engineKey, engineKeyFile } = settings;
  if (!isChosen || (!engineKey && !engineKeyFile)) return undefined;
  const given = engineKey ?? (await readNamed(engineKeyFile, { cwd: host.cwd, home: host.home, signal }));
  return given && checkedKey(given).value;
}

async function readNamed(
  file: Settings['engineKeyFile'],
  place: Parameters<typeof readKeyFile>[1],
): Promise<Setting<string> | undefined> {
  return file && { origin: file.origin, value: await readKeyFile(file, place) };
}

async function askedKey({ host }: URL, context: KeyedContext): Promise<string | undefined> {
  const { notices, signal } = context;
  const typed = await notices.askSecret(`Key for ${host} (not shown; none: Enter): `, signal);
  if (!typed?.trim()) return undefined;
  const origin = { place: 'option', name: 'the terminal' } as const;
  return bearer(checkedKey({ value: typed, origin }).value, context);
}

function bearer(key: string, { notices }: KeyedContext): string {
  notices.hide(key);
  return `Bearer ${key}`;
}

/** The header has the form of RFC 7617. A token may stand in the place of the user name, without a password. */
function basic(login: string, { notices }: KeyedContext): string {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(login) ?? [];
  const encoded = Buffer.from(login).toString('base64');
  for (const secret of [password || user, encoded]) notices.hide(secret);
  return `Basic ${encoded}`;
}

/** The key of the engine that the user's own config names with the same address. */
export function keyForAddress(
  address: string,
  engines: Settings['engines'],
): Pick<EngineEntry, 'key' | 'keyFile'> {
  const href = serverAddress(address)?.url.href;
  const isSame = ({ url }: EngineEntry) => url !== undefined && serverAddress(url)?.url.href === href;
  const { key, keyFile } = [...(engines?.value.values() ?? [])].find(isSame) ?? {};
  return { ...(key !== undefined && { key }), ...(keyFile !== undefined && { keyFile }) };
}
