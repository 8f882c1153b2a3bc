import { type Command, Option } from 'commander';
import { ExitCode } from '../../error.ts';
import type { Name } from '../../settings/rules.ts';
import type { Context } from '../commands.ts';
import { OF_REQUESTS, readSubcommand, subcommand } from '../subcommand.ts';
import { tell } from '../tell.ts';
import { examinations } from './examinations.ts';
import { type Finding, findingInWords } from './finding.ts';

/** What shapes the one request, and what is looked at. */
const HEEDED: readonly Name[] = ['speaker', 'player', 'callbackUrl', ...OF_REQUESTS];

/** `tts doctor`: looks at all that sound depends on, in the order in which it is needed. */
export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readSubcommand(doctorCommand(), context);
  if (!line) return ExitCode.ok;
  const { yes = false, ...flags } = line.flags;
  const findings: Finding[] = [];
  for await (const finding of examinations({ flags, mayAsk: yes === true }, context)) {
    findings.push(finding);
    if (!notices.json) tell(host.stdout, notices.redact(findingInWords(finding, host)));
  }
  if (notices.json) tell(host.stdout, notices.inJson({ findings }));
  return findings.find(({ state }) => state === 'bad')?.exitCode ?? ExitCode.ok;
}

export function doctorCommand(): Command {
  return subcommand(
    'doctor',
    'Look at everything that speaking needs, and tell what to do where something is wrong.',
    HEEDED,
    [new Option('--yes', 'make the one request without asking; it costs 2 characters')],
  );
}
