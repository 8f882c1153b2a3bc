import { FLITE_VOICES } from '../engines/flite-voices.ts';
import { ExitCode, type TtsError, usageError } from '../kit/error.ts';
import { brokenAt, columnsOf, printable, table, visible } from '../kit/words.ts';
import { loadSettings, type Settings } from '../options/load.ts';
import type { Voice, VoiceEvent } from '../sound/voice.ts';
import { manifestsOf } from '../voices/installed.ts';
import { languageName, shownLanguage, speaksLanguage, systemLanguage } from '../voices/language.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { FIRST_PRIVATE_NUMBER } from '../voices/sources.ts';
import { openVoices, type Voices } from '../voices/voices.ts';
import type { CommandLine, Context } from './commands.ts';
import { describe, warnOfPause } from './speak-report.ts';

export interface ListedSpeaker {
  /** The number of the voice. Voices of a large engine beyond the numbers reserved for it have none. */
  readonly no?: number | undefined;
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly language?: string | undefined;
  readonly alsoSpeaks?: readonly string[] | undefined;
  readonly gender?: string | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  /** The name of a voice that is listed once for each of its languages. */
  readonly style?: string | undefined;
  /** Number of further languages of the style, for the one row that stands for all in a table. */
  readonly others?: number;
  readonly instructions?: string | undefined;
  readonly speed?: number | undefined;
  /** `config`, `service`, `built-in`, `espeak-ng`, or the name of an engine or of an installed voice. */
  readonly from: string;
  /** Set if the voice takes instructions; not for voices of a service. */
  readonly takesInstructions?: true;
}

export async function run(line: CommandLine, context: Context): Promise<number> {
  const { settings, files } = await loadSettings(line, context);
  const configured = configuredSpeakers(settings);
  if (settings.names.value) {
    const installed = manifestsOf(context).flatMap((voice) => [voice, ...voice.speakers]);
    return showNames([...configured, ...(settings.baseUrl ? [] : [...FLITE_VOICES, ...installed])], context);
  }
  const service = await chooseService(settings, { ...context, files });
  await using voices = await openVoices({ settings, service: async () => service }, context);
  // Without a service, only a chosen engine can fail: then list nothing.
  const listed = await listedSpeakers(voices, service, context).catch((error: unknown) => {
    if (!service) throw error;
    return { error };
  });
  const all = [...configured, ...('error' in listed ? [] : listed)];
  const asked = settings.language?.value;
  const rows = asked === undefined ? all : all.filter((each) => speaksLanguage(each, asked));
  if (asked !== undefined && rows.length === 0 && !('error' in listed) && !service)
    throw await noneSpeaks(asked, context);
  if (rows.length > 0 || !('error' in listed)) {
    const isShort = !service && asked === undefined && !settings.all.value;
    show(rows, isShort, context);
  }
  if ('error' in listed) throw listed.error;
  return ExitCode.ok;
}

function showNames(speakers: readonly Pick<ListedSpeaker, 'name'>[], { notices }: Context): number {
  const names = [...new Set(speakers.map(({ name = '' }) => name))];
  if (names.length === 0 && !notices.json) return ExitCode.ok;
  notices.result(notices.json ? { names } : names.map(visible).join('\n'));
  return ExitCode.ok;
}

async function noneSpeaks(asked: string, context: Context): Promise<TtsError> {
  const name = languageName(asked);
  if (name === undefined) return (await import('../voices/unknown.ts')).notALanguage(asked);
  const { advice } = await import('./language-check.ts');
  return usageError(`no voice of this machine speaks ${name}`, await advice(asked, context));
}

/** @param isShort true lists, on a terminal, only speakers of the language of the system */
function show(speakers: readonly ListedSpeaker[], isShort: boolean, { host, notices }: Context): void {
  if (notices.json) {
    notices.result({ speakers });
    return;
  }
  const own = systemLanguage(host.env);
  const isOwn = (speaker: ListedSpeaker) => FIRST.includes(speaker.from) || speaksLanguage(speaker, own);
  const rank = (speaker: ListedSpeaker) => rankOf(speaker.from) + PLACES.length * Number(!isOwn(speaker));
  const columns = columnsOf(host);
  const ordered = speakers.toSorted((a, b) => rank(a) - rank(b));
  const shown = isShort && columns !== undefined ? ordered.filter(isOwn) : ordered;
  const more = ordered.length - shown.length;
  const slt = shown.some(({ name, from }) => name === 'slt' && from === 'built-in');
  const notes = [
    ...(slt ? ['To hear one: tts -s slt --play "Hello."'] : []),
    ...(more > 0
      ? [`${more} more speak other languages than ${languageName(own)}: tts speakers --all, or --language de`]
      : []),
  ];
  // No notes without a terminal: a script may count the lines.
  const below = columns === undefined ? [] : notes.flatMap((note) => brokenAt(note, columns));
  notices.result([speakerTable(inStyles(shown), columns), ...below].join('\n'));
}

/** Merges a style that speaks several languages into one row. */
function inStyles(speakers: readonly ListedSpeaker[]): ListedSpeaker[] {
  const styles = new Map<string, number>();
  const keyOf = ({ from, style }: ListedSpeaker) => `${from} ${style}`;
  for (const speaker of speakers) styles.set(keyOf(speaker), (styles.get(keyOf(speaker)) ?? -1) + 1);
  return speakers.flatMap((speaker) => {
    if (speaker.style === undefined) return [speaker];
    const others = styles.get(keyOf(speaker));
    styles.delete(keyOf(speaker));
    return others === undefined ? [] : [{ ...speaker, others }];
  });
}

/** Origins whose speakers come first and are listed in any language. */
const FIRST = ['config', 'service'];

/** The order of origins in the list. Installed voices and engines count as `natural`. */
const PLACES = ['config', 'service', 'natural', 'built-in', 'espeak-ng'];

function rankOf(from: string): number {
  const place = PLACES.indexOf(from);
  return place < 0 ? PLACES.indexOf('natural') : place;
}

function configuredSpeakers({ speakers }: Settings): ListedSpeaker[] {
  return [...(speakers?.value ?? [])].flatMap(([name, { no, ...speaker }]) =>
    no === undefined ? [] : [{ name, no, ...speaker, from: 'config' }],
  );
}

async function listedSpeakers(
  voices: Voices,
  service: Endpoint | undefined,
  context: Context,
): Promise<ListedSpeaker[]> {
  const { notices } = context;
  const listed = await voices.list({ onRetry: (retry) => reportRetry({ type: 'retry', ...retry }, context) });
  if (!listed) notices.note(`${service?.url.host} does not list its speakers; any number may be valid`);
  return (listed ?? []).map(asListed);
}

/** Lists `kind` only for a service, whose own word it is. */
function asListed({
  source,
  no,
  name,
  kind,
  language,
  alsoSpeaks,
  gender,
  style,
  sampleRate,
  supports,
}: Voice): ListedSpeaker {
  const about = { name, language, alsoSpeaks, gender, style, sampleRate };
  if (source.kind === 'service') return { no, ...about, kind, from: 'service' };
  const from = source.kind === 'built-in' ? source.kind : source.name;
  const takesInstructions = supports?.includes('instructions') && ({ takesInstructions: true } as const);
  return { ...(no < FIRST_PRIVATE_NUMBER && { no }), ...about, from, ...takesInstructions };
}

function reportRetry(event: VoiceEvent, { notices }: Context): void {
  notices.detail(() => describe(event));
  warnOfPause(event, notices);
}

function speakerTable(rows: readonly ListedSpeaker[], columns: number | undefined): string {
  if (rows.length === 0)
    return 'no speaker has a name; give "speakers" in a config file, as in { "anna": 181 }';
  const hasKinds = rows.some(({ kind }) => kind !== undefined);
  const lines = rows.map(
    ({ no, name, kind, language, others = 0, gender, sampleRate, from, takesInstructions }) => {
      const where = takesInstructions ? `${from}, takes -i` : from;
      const also = others > 0 ? ` and ${others} more` : '';
      const spoken = language === undefined ? undefined : `${shownLanguage(language)}${also}`;
      return [no, name, ...(hasKinds ? [kind] : []), gender, spoken, sampleRate, where];
    },
  );
  const head = ['NO', 'NAME', ...(hasKinds ? ['KIND'] : []), 'VOICE', 'LANGUAGE', 'HZ', 'FROM'];
  const cells = lines.map((line) => line.map((cell) => printable(String(cell ?? '-'))));
  return table([head, ...cells], columns);
}
