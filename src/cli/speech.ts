import { ExitCode } from '../error.ts';
import { deliver } from '../pipeline/deliver.ts';
import { FLITE_SPEAKERS } from '../service/engine/voices.ts';
import type { Settings } from '../settings/resolve.ts';
import { chooseSpeaker } from '../settings/speaker.ts';
import { openSink } from '../sink/open.ts';
import type { Sink } from '../sink/sink.ts';
import type { SegmentOptions } from '../text/segment.ts';
import { readSegments } from '../text/source.ts';
import type { CommandLine } from './command-line.ts';
import type { Context } from './commands.ts';
import { type Connection, connect, type ServiceEvent } from './connect.ts';
import { describe } from './describe.ts';
import type { Notices } from './notices.ts';
import { chooseService, type NamedService } from './service.ts';
import { settle } from './settle.ts';
import { Tally } from './tally.ts';

/** What was asked for on the command line. */
type Order = Pick<CommandLine, 'flags' | 'words' | 'files'>;

/** Bytes that parts may hold while they wait for their turn. */
const BUDGET_BYTES = 64 * 2 ** 20;

/** Parts under way or waiting, for each request that may be open: enough to keep all of them busy behind a slow one. */
const WINDOW = 2;

/** From text to sound: everything that can be known to be wrong is found before a service is asked for anything. */
export async function speak(order: Order, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const { settings: said, files } = await settle(order, context);
  const service = chooseService(said, { host, notices, files });
  const { no: speaker, settings } = chooseSpeaker(said, service ? [] : FLITE_SPEAKERS);
  const sink = await openSink(
    { output: settings.output?.value ?? '-', clobber: settings.clobber.value },
    host,
    signal,
  );
  try {
    return await withService({ service, settings, speaker }, context, (connection, tally) =>
      run({ order, settings, sink, connection, tally }, context),
    );
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

interface Choice {
  readonly service: NamedService | undefined;
  readonly settings: Settings;
  readonly speaker: number;
}

type Use = (connection: Connection, tally: Tally) => Promise<number>;

/**
 * Connects to the service, the built-in one if no other is named, for as long as it is used. What the built-in one says
 * costs nothing, and is not kept.
 */
async function withService(
  { service, settings, speaker }: Choice,
  context: Context,
  use: Use,
): Promise<number> {
  const { notices } = context;
  const tally = new Tally();
  const target = service ? { ...service, close: async () => {} } : await startOwn(notices);
  const tell = (event: ServiceEvent) => {
    tally.event(event);
    notices.detail(() => describe(event));
  };
  const isKept = service && settings.cache.value && !settings.callbackUrl;
  const caching = isKept ? await (await import('./caching.ts')).openCaching(settings, context) : undefined;
  const connection = await connect(target, settings, { speaker, tell, caching });
  try {
    return await use(connection, tally);
  } finally {
    await connection.close();
    await target.close();
  }
}

async function startOwn(notices: Notices) {
  notices.note(
    'no base URL is set: the built-in voice speaks (English); tts --help tells how to name a service',
  );
  const { startBuiltIn } = await import('./built-in.ts');
  return startBuiltIn();
}

interface Job {
  readonly order: Order;
  readonly settings: Settings;
  readonly sink: Sink;
  readonly connection: Connection;
  readonly tally: Tally;
}

async function run(
  { order, settings, sink, connection, tally }: Job,
  { host, notices, signal }: Context,
): Promise<number> {
  const input = { words: order.words, files: order.files, cwd: host.cwd, stdin: () => host.stdin.stream };
  const options = segmentOptions(settings, sink);
  const delivery = await deliver({
    segments: (until) => readSegments(input, options, until),
    synthesize: connection.synthesize,
    window: WINDOW * settings.concurrency.value,
    budgetBytes: BUDGET_BYTES,
    paragraphPause: settings.paragraphPause.value,
    sink,
    signal,
    watch(part) {
      tally.part(part.segment);
      return part;
    },
  });
  if (!delivery) notices.note(`the service sends the audio to ${settings.callbackUrl?.value.href}`);
  return ExitCode.ok;
}

/** A text that goes to a callback is sent whole; one that is heard at once begins with its first sentence. */
function segmentOptions({ callbackUrl, maxChars }: Settings, { isLive }: Sink): SegmentOptions {
  if (callbackUrl) return { maxChars: Number.MAX_SAFE_INTEGER, pace: 'full' };
  return { maxChars: maxChars.value, pace: isLive ? 'ramp' : 'full' };
}
