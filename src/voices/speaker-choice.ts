import { OWN_RATE, type Speaker } from '../engine/contract.ts';
import type { Espeak, findEspeak } from '../engine/espeak/voices.ts';
import { FLITE_SPEAKERS } from '../engine/flite/voices.ts';
import { type NumberedSource, speakersOf } from '../engine/source.ts';
import { usageError } from '../error.ts';
import type { RunContext } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { type Choice, chooseSpeaker, isAmong, settingsFor } from '../settings/speaker.ts';
import type { FoundSpeaking, FoundVoice, VoiceSources } from './voice-sources.ts';

interface SpeakerChoice extends Choice {
  readonly espeak?: Espeak | undefined;
  readonly sources: readonly NumberedSource[];
}

export type OpenSources = () => Promise<VoiceSources>;

/** What the places of {@link PLACES} look at. */
interface Search {
  readonly settings: Settings;
  readonly configured: VoiceSources;
  readonly context: RunContext;
  /** It is looked for once, and only if no place before has the voice. */
  readonly espeak: () => ReturnType<typeof findEspeak>;
}

/** @throws TtsError (usage) where the voice can be in no other place, and is not there */
type Place = (search: Search) => Promise<SpeakerChoice | undefined>;

/** A voice is looked for in these places, in this order. */
const PLACES: readonly Place[] = [
  inEngines,
  builtIn,
  installed,
  inEspeakByName,
  inAllEngines,
  byLanguage,
  inChosenEngine,
  inCatalogue,
];

/**
 * @param openSources it is missing where a service speaks
 * @throws TtsError (usage)
 */
export async function speakerOf(
  settings: Settings,
  openSources: OpenSources | undefined,
  context: RunContext,
): Promise<SpeakerChoice> {
  if (!openSources) return { ...chooseSpeaker(settings, []), sources: [] };
  const own = settings.engine ? undefined : await builtIn({ settings });
  if (own) return own;
  let looked: ReturnType<typeof findEspeak> | undefined;
  const espeak = async () => {
    looked ??= import('../engine/espeak/voices.ts').then(({ findEspeak }) => findEspeak(context));
    return looked;
  };
  const search = { settings, configured: await openSources(), context, espeak };
  for (const lookIn of PLACES) {
    const found = await lookIn(search);
    if (found) return found;
  }
  return assertKnown(search);
}

async function builtIn({ settings }: Pick<Search, 'settings'>): Promise<SpeakerChoice | undefined> {
  if (!isAmong(FLITE_SPEAKERS, settings)) return undefined;
  return { ...chooseSpeaker(settings, FLITE_SPEAKERS), sources: [] };
}

async function inEngines({ settings, configured }: Search): Promise<SpeakerChoice | undefined> {
  const found = await configured.find(settings);
  return found && withVoice(settings, found);
}

async function installed({ settings, context }: Search): Promise<SpeakerChoice | undefined> {
  const found = await (await import('./installed.ts')).findInstalled(settings, context);
  return found && withVoice(settings, found);
}

async function inEspeakByName({ settings, espeak: find }: Search): Promise<SpeakerChoice | undefined> {
  const { espeak } = await find();
  const known = builtInSpeakers(espeak);
  return isAmong(known, settings) ? { ...chooseSpeaker(settings, known), espeak, sources: [] } : undefined;
}

async function inAllEngines({ settings, configured }: Search): Promise<SpeakerChoice | undefined> {
  const { value, origin } = settings.speaker ?? {};
  if (typeof value !== 'string') return undefined;
  const found = await configured.search(value, origin?.name ?? '');
  return found && withVoice(settings, found);
}

async function inChosenEngine({ settings, configured, espeak: find }: Search): Promise<undefined> {
  if (!settings.engine) return;
  const { espeak } = await find();
  chooseSpeaker(settings, [...speakersOf(await configured.open(0)), ...builtInSpeakers(espeak)]);
}

/** The error has the line that installs the voice. */
async function inCatalogue({ settings, context, espeak: find }: Search): Promise<undefined> {
  const { speaker } = settings;
  if (typeof speaker?.value !== 'string') return;
  const { value, origin } = speaker;
  const { notInstalled } = await import('../installed/not-installed.ts');
  const error = notInstalled(value, origin.name, context.host);
  if (error) throw error;
  const { baseLanguage, languageName } = await import('./language.ts');
  // A code of three letters without a shorter form is more likely the name of a person.
  if (languageIn(settings) === undefined || baseLanguage(value)?.length !== 2) return;
  const language = languageName(value);
  const { adviceFor } = await import('./advice.ts');
  const advice = adviceFor(value, { espeak: (await find()).espeak, context });
  throw usageError(`${origin.name}: no voice of this machine speaks ${language}`, advice);
}

/** The voices of this program come last, but one of the region that is asked for before one of another region. */
async function byLanguage({
  settings,
  configured,
  context,
  espeak: find,
}: Search): Promise<SpeakerChoice | undefined> {
  const asked = languageIn(settings);
  if (asked === undefined) return undefined;
  const [{ voiceForLanguage }, { installedSpeaking }] = await Promise.all([
    import('./language.ts'),
    import('./installed.ts'),
  ]);
  const { espeak } = await find();
  const known = builtInSpeakers(espeak);
  const asChoice = (voice: FoundSpeaking) => ({
    language: voice.language,
    choose: async () => {
      const found = await voice.find();
      return found && withVoice(settings, found);
    },
  });
  const ofThisProgram = ({ no, language, alsoSpeaks }: Speaker) => ({
    language,
    alsoSpeaks,
    choose: async () => ({ ...chooseSpeaker(withNumber(settings, no), known), espeak, sources: [] }),
  });
  const groups = [
    (await configured.speaking()).map(asChoice),
    installedSpeaking(context).map(asChoice),
    known.map(ofThisProgram),
  ];
  return voiceForLanguage(asked, groups)?.choose();
}

/** A name of the config is no language. */
function languageIn({ speaker, speakers }: Settings): string | undefined {
  const { value } = speaker ?? {};
  return typeof value === 'string' && !speakers?.value.has(value) ? value : undefined;
}

function withNumber(settings: Settings, value: number): Settings {
  return settings.speaker ? { ...settings, speaker: { ...settings.speaker, value } } : settings;
}

/** The speaker is nowhere: this finds the words. */
async function assertKnown({ settings, espeak: find, context: { host } }: Search): Promise<never> {
  const { espeak, fault } = await find();
  const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
  const remark = espeak ? undefined : `101 and up are the voices of espeak-ng, which ${why}`;
  const { loadCatalogue } = await import('../installed/catalogue.ts');
  const offered = loadCatalogue(host).voices.map(({ name }) => name);
  chooseSpeaker(settings, builtInSpeakers(espeak), { remark, offered });
  throw new RangeError(`speaker ${settings.speaker?.value} was found and not found`);
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
