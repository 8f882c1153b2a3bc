import type { RunContext } from '../host.ts';
import { loadConfig } from './config.ts';
import type { Flags } from './resolve.ts';
import { type ConfigFile, fromEnvironment, resolve, type Settings } from './resolve.ts';
import { ruleOf } from './rules.ts';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly files: readonly ConfigFile[];
}

/** @throws TtsError (usage) */
export async function loadSettings(
  { flags }: { readonly flags: Flags },
  { host, notices, signal }: Pick<RunContext, 'host' | 'notices' | 'signal'>,
): Promise<LoadedSettings> {
  const hide = (secret: string) => notices.hide(secret);
  const files = await loadConfig(host, configName(flags, host.env), { hide, signal });
  const settings = resolve({ flags, env: host.env, files });
  notices.quiet = settings.quiet.value;
  notices.verbose = settings.verbose.value;
  for (const secret of secretsOf(settings)) hide(secret);
  for (const name of namesIn(settings)) notices.spare(name);
  return { settings, files };
}

function* secretsOf({ apiKey, engineKey, callbackUrl }: Settings): Generator<string> {
  if (apiKey) yield apiKey.value.trim();
  if (engineKey) yield engineKey.value.trim();
  if (callbackUrl) yield callbackUrl.value.password;
}

function* namesIn(settings: Settings): Generator<string> {
  const { output, subtitles, lexicon, speaker, config } = settings;
  for (const setting of [output, subtitles, lexicon, speaker, config])
    if (typeof setting?.value === 'string') yield setting.value;
}

export function configName(flags: Flags, env: RunContext['host']['env']): string | undefined {
  const named = flags.config ?? fromEnvironment(ruleOf('config'), env)?.value;
  return typeof named === 'string' ? named : undefined;
}
