import type { Command } from 'commander';
import { FLITE_SPEAKERS } from '../engines/flite.ts';
import { ExitCode } from '../kit/error.ts';
import { columnsOf, printable, table, visible } from '../kit/words.ts';
import { loadSettings, type Settings } from '../options/load.ts';
import type { Voice, VoiceEvent } from '../sound/voice.ts';
import { openVoices, type Voices } from '../voices/catalogue.ts';
import { manifestsOf } from '../voices/installed.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { FIRST_PRIVATE_NUMBER } from '../voices/sources.ts';
import { readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';
import { describe, warnOfPause } from './speak-report.ts';

export interface ListedSpeaker {
  /** Later voices of a large engine have none. */
  readonly no?: number | undefined;
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly language?: string | undefined;
  readonly alsoSpeaks?: readonly string[] | undefined;
  readonly gender?: string | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
  readonly instructions?: string | undefined;
  readonly speed?: number | undefined;
  /** `config`, `service`, `built-in`, `espeak-ng`, or the name of an engine or of an installed voice. */
  readonly from: string;
  /** A voice of this program follows instructions. */
  readonly takesInstructions?: true;
}

export async function run(context: Context): Promise<number> {
  const line = readSubcommand(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { names = false, ...flags } = line.flags;
  const { settings, files } = await loadSettings({ flags }, context);
  const configured = configuredSpeakers(settings);
  if (names) {
    const installed = manifestsOf(context).flatMap((voice) => [voice, ...voice.speakers]);
    return showNames(
      [...configured, ...(settings.baseUrl ? [] : [...FLITE_SPEAKERS, ...installed])],
      context,
    );
  }
  const service = await chooseService(settings, { ...context, files });
  await using voices = await openVoices({ settings, service: async () => service }, context);
  // Without a service, only an engine can fail that was chosen; nothing is shown then.
  const listed = await listedSpeakers(voices, service, context).catch((error: unknown) => {
    if (!service) throw error;
    return { error };
  });
  const all = [...configured, ...('error' in listed ? [] : listed)];
  const rows = settings.language ? await speaking(settings.language.value, all) : all;
  if (rows.length > 0 || !('error' in listed)) show(rows, context);
  if ('error' in listed) throw listed.error;
  return ExitCode.ok;
}

function showNames(speakers: readonly Pick<ListedSpeaker, 'name'>[], { notices }: Context): number {
  const names = [...new Set(speakers.map(({ name = '' }) => name))];
  if (names.length === 0 && !notices.json) return ExitCode.ok;
  notices.result(notices.json ? { names } : names.map(visible).join('\n'));
  return ExitCode.ok;
}

async function speaking(asked: string, speakers: readonly ListedSpeaker[]): Promise<ListedSpeaker[]> {
  const { matchesLanguage } = await import('../voices/language.ts');
  return speakers.filter(({ language = '', alsoSpeaks = [] }) =>
    [language, ...alsoSpeaks].some((tag) => matchesLanguage(tag, asked)),
  );
}

function show(speakers: readonly ListedSpeaker[], { host, notices }: Context): void {
  notices.result(notices.json ? { speakers } : speakerTable(speakers, columnsOf(host)));
}

export function describeCommand(): Command {
  return subcommand(
    'speakers',
    'List the speakers that a config file names and those that the service tells.',
    'speakers',
  );
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
  const listed = await voices.list({ onRetry: (retry) => tell({ type: 'retry', ...retry }, context) });
  if (!listed) notices.note(`${service?.url.host} does not list its speakers; any number may be valid`);
  return (listed ?? []).map(asListed);
}

/** The kinds are words of a service. */
function asListed({
  source,
  no,
  name,
  kind,
  language,
  alsoSpeaks,
  gender,
  sampleRate,
  follows,
}: Voice): ListedSpeaker {
  const about = { name, language, alsoSpeaks, gender, sampleRate };
  if (source.kind === 'service') return { no, ...about, kind, from: 'service' };
  const from = source.kind === 'built-in' ? source.kind : source.name;
  const takesInstructions = follows?.includes('instructions') && ({ takesInstructions: true } as const);
  return { ...(no < FIRST_PRIVATE_NUMBER && { no }), ...about, from, ...takesInstructions };
}

function tell(event: VoiceEvent, { notices }: Context): void {
  notices.detail(() => describe(event));
  warnOfPause(event, notices);
}

function speakerTable(rows: readonly ListedSpeaker[], columns: number | undefined): string {
  if (rows.length === 0)
    return 'no speaker has a name; give "speakers" in a config file, as in { "anna": 181 }';
  const hasKinds = rows.some(({ kind }) => kind !== undefined);
  const lines = rows.map(({ no, name, kind, language, sampleRate, from, takesInstructions }) => {
    const where = takesInstructions ? `${from}, takes -i` : from;
    return [no, name, ...(hasKinds ? [kind] : []), language, sampleRate, where];
  });
  const head = ['NO', 'NAME', ...(hasKinds ? ['KIND'] : []), 'LANGUAGE', 'HZ', 'FROM'];
  const cells = lines.map((line) => line.map((cell) => printable(String(cell ?? '-'))));
  return table([head, ...cells], columns);
}
