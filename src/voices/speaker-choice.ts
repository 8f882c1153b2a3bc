import { OWN_RATE, type Speaker } from '../engine/contract.ts';
import type { Espeak } from '../engine/espeak/voices.ts';
import { FLITE_SPEAKERS } from '../engine/flite/voices.ts';
import { type NumberedSource, speakersOf } from '../engine/source.ts';
import type { RunContext } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { type Choice, chooseSpeaker, isAmong, settingsFor } from '../settings/speaker.ts';
import type { FoundVoice, SourceShelf } from './source-shelf.ts';

interface SpeakerChoice extends Choice {
  readonly espeak?: Espeak | undefined;
  readonly sources: readonly NumberedSource[];
}

export type OpenShelf = () => Promise<SourceShelf>;

/**
 * Looks for sources and espeak-ng only if the speaker is not built in.
 * @throws TtsError (usage)
 */
export async function speakerOf(
  settings: Settings,
  openShelf: OpenShelf | undefined,
  context: RunContext,
): Promise<SpeakerChoice> {
  if (!openShelf) return { ...chooseSpeaker(settings, []), sources: [] };
  if (!settings.engine && isAmong(FLITE_SPEAKERS, settings))
    return { ...chooseSpeaker(settings, FLITE_SPEAKERS), sources: [] };
  const shelf = await openShelf();
  const ofEngine = await voiceOfEngine(settings, shelf);
  if (ofEngine) return ofEngine;
  if (isAmong(FLITE_SPEAKERS, settings)) return { ...chooseSpeaker(settings, FLITE_SPEAKERS), sources: [] };
  const installed = await (await import('./installed.ts')).findInstalled(settings, context);
  if (installed) return withVoice(settings, installed);
  const { findEspeak } = await import('../engine/espeak/voices.ts');
  const { espeak, fault } = await findEspeak(context);
  const builtIn = builtInSpeakers(espeak);
  const byName = isAmong(builtIn, settings) ? undefined : await searched(settings, shelf);
  if (byName) return byName;
  if (settings.engine && !isAmong(builtIn, settings)) {
    const chosen = speakersOf(await shelf.open(0));
    return { ...chooseSpeaker(settings, [...chosen, ...builtIn]), sources: [] };
  }
  await assertNotOffered(settings, context);
  if (espeak) return chooseEspeak(settings, builtIn, espeak);
  const english = inEnglish(settings);
  if (english) return { ...chooseSpeaker(english, FLITE_SPEAKERS), sources: [] };
  const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
  const remark = `101 and up are the voices of espeak-ng, which ${why}`;
  return { ...chooseSpeaker(settings, FLITE_SPEAKERS, remark), sources: [] };
}

/** @throws TtsError (usage) with the line that installs it, for a voice of the catalogue that is not there */
async function assertNotOffered({ speaker }: Settings, { host }: RunContext): Promise<void> {
  if (typeof speaker?.value !== 'string') return;
  const { notInstalled } = await import('../installed/not-installed.ts');
  const error = notInstalled(speaker.value, speaker.origin.name, host);
  if (error) throw error;
}

/** The built-in voices speak a variety of English where no other voice does. */
function inEnglish(settings: Settings): Settings | undefined {
  const { value, origin } = settings.speaker ?? {};
  if (typeof value !== 'string' || !origin || settings.speakers?.value.has(value)) return undefined;
  const code = value.toLowerCase().replaceAll('_', '-');
  const fits = (language: string) =>
    code === 'english' || `${language.toLowerCase()}-`.startsWith(`${code}-`);
  const found = FLITE_SPEAKERS.find(({ language }) => fits(language));
  return found && { ...settings, speaker: { value: found.no, origin } };
}

async function chooseEspeak(
  settings: Settings,
  known: readonly Speaker[],
  espeak: Espeak,
): Promise<SpeakerChoice> {
  const { voiceForLanguage } = await import('../engine/espeak/voices.ts');
  const { speaker } = settings;
  const { value } = speaker ?? {};
  const language = typeof value === 'string' && !isAmong(known, settings) ? value : undefined;
  const voice = language === undefined ? undefined : voiceForLanguage(language, espeak.voices);
  const chosen =
    speaker && voice ? { ...settings, speaker: { ...speaker, value: voice.speaker.no } } : settings;
  return { ...chooseSpeaker(chosen, known), espeak, sources: [] };
}

async function voiceOfEngine(settings: Settings, shelf: SourceShelf): Promise<SpeakerChoice | undefined> {
  const found = await shelf.find(settings);
  return found && withVoice(settings, found);
}

async function searched(settings: Settings, shelf: SourceShelf): Promise<SpeakerChoice | undefined> {
  const { value, origin } = settings.speaker ?? {};
  if (typeof value !== 'string') return undefined;
  const found = await shelf.search(value, origin?.name ?? '');
  return found && withVoice(settings, found);
}

function withVoice(settings: Settings, { numbered, voice, no }: FoundVoice): SpeakerChoice {
  const origin = settings.speaker?.origin ??
    settings.engine?.origin ?? { place: 'default' as const, name: 'the default' };
  const known = [{ no, name: voice.name, kind: 'neo.one' }];
  const { value = '' } = settings.speaker ?? {};
  const own = settings.speakers?.value.get(String(value));
  const named = own ? settingsFor({ ...own, no, name: String(value) }, settings) : settings;
  const chosen = chooseSpeaker({ ...named, speaker: { value: no, origin } }, known);
  return { ...chosen, sources: [numbered] };
}

/** The speakers with the rates that come out where none is asked for. */
export function builtInSpeakers(
  espeak: Espeak | undefined,
  sources: readonly NumberedSource[] = [],
): Speaker[] {
  const own = [...FLITE_SPEAKERS, ...(espeak?.voices.map(({ speaker }) => speaker) ?? [])];
  return [...own.map((speaker) => ({ ...speaker, sampleRate: OWN_RATE })), ...sources.flatMap(speakersOf)];
}
