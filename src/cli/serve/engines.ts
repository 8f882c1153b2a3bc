import type { EngineSet } from '../../engine/contract.ts';
import { espeakIfAny } from '../../engine/espeak/voices.ts';
import type { NumberedSource } from '../../engine/source.ts';
import { loadSettings } from '../../settings/load.ts';
import { fromEnvironment, refused } from '../../settings/resolve.ts';
import { ruleOf } from '../../settings/rules.ts';
import { VoiceSources } from '../../voices/voice-sources.ts';
import type { Context } from '../context.ts';
import type { ServeOptions } from './options.ts';

/** What speaks in the service: a service that it stands in front of, or else the voices of this machine. */
export async function openServeEngines(options: ServeOptions, context: Context): Promise<EngineSet> {
  if (options.relay) return openServiceInFront(options, context);
  const { openEngines } = await import('../../voices/engine-set.ts');
  const { workers, maxQueue } = options;
  const espeak = await espeakIfAny(context).catch((error) => {
    // Stopping is success during the start, too.
    if (!context.signal.aborted) throw error;
    return undefined;
  });
  const sources = await openSources(options, context);
  const engine = await openEngines({
    espeak,
    sources,
    maxQueue,
    runtime: context.host.runtime,
    ...(workers !== undefined && { workers }),
  });
  await engine.prepare();
  return engine;
}

/** Opens the engines that are named, and all installed voices. */
async function openSources(options: ServeOptions, context: Context): Promise<NumberedSource[]> {
  const { openInstalled } = await import('../../voices/installed.ts');
  return [...(await openNamed(options, context)), ...(await openInstalled(context))];
}

/** Without a name, the service reads no config. */
async function openNamed(
  { engines: named, config }: ServeOptions,
  context: Context,
): Promise<NumberedSource[]> {
  const rule = ruleOf('engine');
  const fallback = fromEnvironment(rule, context.host.env);
  const said = named.map((value) => ({ value, origin: { place: 'option', name: '--engine' } as const }));
  const chosen = said.length > 0 ? said : fallback ? [fallback] : [];
  if (chosen.length === 0) return [];
  for (const { value, origin } of chosen)
    if (rule.kind.text(value) === undefined) throw refused(rule, value, origin);
  const { settings } = await loadSettings({ flags: config === undefined ? {} : { config } }, context);
  const sources = new VoiceSources(settings, context, chosen);
  return Promise.all(chosen.map((_, at) => sources.open(at)));
}

async function openServiceInFront({ relay, maxQueue }: ServeOptions, context: Context): Promise<EngineSet> {
  const [{ chooseService }, { openVoices }, { openRelay }] = await Promise.all([
    import('../../voices/service-choice.ts'),
    import('../../voices/voices.ts'),
    import('./relay.ts'),
  ]);
  // The file that it names holds what clients send: the service must not get that.
  const { TTS_API_KEY_FILE: _, ...env } = context.host.env;
  const { settings, files } = await loadSettings(
    { flags: relay ?? {} },
    { ...context, host: { ...context.host, env } },
  );
  const service = await chooseService(settings, { ...context, files });
  if (service?.note) context.notices.note(service.note);
  const voices = await openVoices({ settings, service: async () => service }, context);
  try {
    return await openRelay({ voices, settings, maxQueue });
  } catch (error) {
    await voices[Symbol.asyncDispose]();
    throw error;
  }
}
