import { ExitCode, TtsError } from '../../error.ts';
import type { Manifest } from '../../installed/manifest.ts';
import type { Settings } from '../../settings/resolve.ts';
import { openVoices } from '../../voices/voices.ts';
import type { Context } from '../context.ts';

/** Lets each installed voice speak a word. */
export async function tryInstalled(
  manifests: readonly Manifest[],
  settings: Settings | undefined,
  context: Context,
): Promise<string> {
  const names = manifests.map(({ name }) => name).join(', ');
  if (!settings) return `${names}: not tried`;
  const cache = { ...settings.cache, value: false };
  const own = { ...settings, baseUrl: undefined, engine: undefined, cache };
  const faults: string[] = [];
  for (const manifest of manifests) {
    const fault = await faultOf(manifest, own, context);
    if (fault !== undefined) faults.push(`${manifest.name} does not speak: ${fault}`);
  }
  if (faults.length === 0) return `${names}: ${manifests.length === 1 ? 'it speaks' : 'all of them speak'}`;
  throw new TtsError(faults.join('; '), {
    exitCode: ExitCode.service,
    hint: 'tts voices verify tells whether files are damaged; tts voices install --force NAME installs again',
  });
}

async function faultOf(
  { number }: Manifest,
  settings: Settings,
  context: Context,
): Promise<string | undefined> {
  await using voices = await openVoices({ settings, service: async () => undefined }, context);
  try {
    const origin = { place: 'default', name: 'tts doctor' } as const;
    const voice = await voices.of({ speaker: { value: number, origin } });
    const speech = await voice.speak({ text: 'Hi', index: 0 }, context.signal);
    for await (const piece of speech?.pcm ?? []) if (piece.length > 0) return undefined;
    return 'it sent no sound';
  } catch (error) {
    context.signal.throwIfAborted();
    return (error as Error).message;
  }
}
