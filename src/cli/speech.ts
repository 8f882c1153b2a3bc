import type { ClientEvent } from '../client/client.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { Host } from '../host.ts';
import { loadConfig } from '../settings/file.ts';
import { resolve, type Settings } from '../settings/resolve.ts';
import { rules } from '../settings/rules.ts';
import { speakerNumber } from '../settings/speaker.ts';
import { openSink } from '../sink/open.ts';
import type { Sink } from '../sink/sink.ts';
import { readInput } from '../text/input.ts';
import type { CommandLine } from './command-line.ts';
import type { Context } from './commands.ts';
import { connect } from './connect.ts';
import type { Notices } from './notices.ts';
import { chooseService, type NamedService } from './service.ts';

/** What was asked for on the command line. */
type Order = Pick<CommandLine, 'flags' | 'words' | 'files'>;

/** From text to sound: everything that can be known to be wrong is found before a service is asked for anything. */
export async function speak(order: Order, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const files = await loadConfig(host, configName(order, host));
  const settings = resolve({ flags: order.flags, env: host.env, files });
  notices.quiet = settings.quiet.value;
  notices.verbose = settings.verbose.value;
  const service = chooseService(settings, { host, notices, files });
  const speaker = speakerNumber(settings.speaker, service ? undefined : 1);
  const text = await readText(order, host, signal);
  const sink = await openSink(
    { output: settings.output?.value ?? '-', clobber: settings.clobber.value },
    host,
    signal,
  );
  return deliver({ text, speaker, service, settings, sink }, context);
}

interface Job {
  readonly text: string;
  readonly speaker: number;
  readonly service: NamedService | undefined;
  readonly settings: Settings;
  readonly sink: Sink;
}

async function deliver(
  { text, speaker, service, settings, sink }: Job,
  { notices, signal }: Context,
): Promise<number> {
  const started = service ? undefined : await startBuiltIn(notices);
  const tell = (event: ClientEvent) => notices.detail(() => describe(event));
  const used = service ?? started;
  if (!used) throw new Error('unreachable');
  const connection = await connect(used, settings, { speaker, tell });
  try {
    const speech = await connection.synthesize(text, signal);
    if (speech) await sink.write(speech, signal);
    else await sink.discard();
    if (!speech) notices.note(`the service sends the audio to ${settings.callbackUrl?.value.href}`);
    return ExitCode.ok;
  } catch (error) {
    await sink.discard();
    throw error;
  } finally {
    await connection.close();
    await started?.close();
  }
}

async function startBuiltIn(notices: Notices) {
  notices.note(
    'no base URL is set: the built-in voice speaks (English); tts --help tells how to name a service',
  );
  const { startBuiltIn } = await import('./built-in.ts');
  return startBuiltIn();
}

function configName({ flags }: Order, { env }: Host): string | undefined {
  const named = flags.config ?? (env[rules.config.env ?? ''] || undefined);
  return typeof named === 'string' ? named : undefined;
}

async function readText({ words, files }: Order, host: Host, signal: AbortSignal): Promise<string> {
  let text = '';
  for await (const piece of readInput(
    { words, files, cwd: host.cwd, stdin: () => host.stdin.stream },
    signal,
  ))
    text += piece;
  if (text.trim() !== '') return text.trim();
  throw new TtsError('nothing to say', { exitCode: ExitCode.usage, hint: 'the text is blank' });
}

function describe(event: ClientEvent): string {
  switch (event.type) {
    case 'request':
      return `POST ${event.url.href}  X-API-KEY: ***  ${event.body}`;
    case 'answer':
      return `status ${event.status} after ${Math.round(event.milliseconds)} ms`;
    case 'retry':
      return `${event.error.message}: another try in ${event.seconds.toFixed(1)} s`;
  }
}
