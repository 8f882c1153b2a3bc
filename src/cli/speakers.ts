import { type Command, Option } from 'commander';
import { FLITE_SPEAKERS } from '../engines/flite.ts';
import { ExitCode } from '../kit/error.ts';
import { columnsOf, printable, table, visible } from '../kit/words.ts';
import { loadSettings, type Settings } from '../options/load.ts';
import { openVoices } from '../voices/catalogue.ts';
import { manifestsOf } from '../voices/installed.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import type { ListedVoice, VoiceEvent, Voices } from '../voices/voice.ts';
import { OF_REQUESTS, readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';
import { describe, warnOfPause } from './speak-report.ts';

export interface ListedSpeaker extends ListedVoice {
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
  const rows = [...configured, ...('error' in listed ? [] : listed)];
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

function show(speakers: readonly ListedSpeaker[], { host, notices }: Context): void {
  notices.result(notices.json ? { speakers } : speakerTable(speakers, columnsOf(host)));
}

export function describeCommand(): Command {
  return subcommand(
    'speakers',
    'List the speakers that a config file names and those that the service tells.',
    OF_REQUESTS,
    [new Option('--names', 'names only, one a line; neither a service nor espeak-ng is asked')],
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
  const listed = await voices.list({ onEvent: (event) => tell(event, context) });
  if (!listed) notices.note(`${service?.url.host} does not list its speakers; any number may be valid`);
  if (service) return (listed ?? []).map((speaker) => ({ ...speaker, from: 'service' }));
  return (listed ?? []).map(ofThisMachine);
}

/** The kinds are words of a service. */
function ofThisMachine({ kind, engine, ...speaker }: ListedVoice): ListedSpeaker {
  const isBuiltIn = FLITE_SPEAKERS.some(({ no }) => no === speaker.no);
  const from = engine ?? (isBuiltIn ? 'built-in' : 'espeak-ng');
  return { ...speaker, from, ...(isBuiltIn && kind === 'Mermish' && { takesInstructions: true }) };
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
