import { aborted } from '../../async.ts';
import type { EngineSet } from '../../engine/contract.ts';
import { codeOf, ExitCode, usageError } from '../../error.ts';
import { interruption } from '../../exit.ts';
import type { Host } from '../../host.ts';
import type { LogRecord } from '../../service/http/exchange.ts';
import { randomKey, type Service, startService } from '../../service/service.ts';
import { checkedKey } from '../../settings/key.ts';
import { readKeyFile } from '../../settings/key-file.ts';
import type { Context } from '../context.ts';
import type { Notices } from '../terminal/notices.ts';
import { openServeEngines } from './engines.ts';
import { describeCommand, readServeOptions, type ServeOptions } from './options.ts';
import { announce, logLine } from './output.ts';
import { ReadyFile } from './ready-file.ts';

/** Milliseconds for requests after the signal to stop. */
const GRACE = 10_000;

export { describeCommand };

export async function run(context: Context): Promise<number> {
  const { host, notices, signal } = context;
  notices.asLog = /(^| )--log[ =]json( |$)/.test(context.argv.join(' '));
  const said = readServeOptions(context);
  if (!said) return ExitCode.ok;
  notices.json = said.json;
  const options = {
    ...said,
    apiKey: said.apiKey === undefined ? await keyInFile(host, signal) : said.apiKey,
  };
  if (options.apiKey) notices.hide(options.apiKey);
  const apiKey = options.apiKey === undefined ? randomKey() : options.apiKey;
  const engine = await openServeEngines(options, context);
  try {
    await serve({ engine, apiKey, options }, host, notices, signal);
  } finally {
    await engine.close();
  }
  return ExitCode.ok;
}

interface Setup {
  readonly engine: EngineSet;
  readonly apiKey: string | null;
  readonly options: ServeOptions;
}

async function serve(setup: Setup, host: Host, notices: Notices, signal: AbortSignal): Promise<void> {
  const { readyFile } = setup.options;
  const ready = readyFile === undefined ? undefined : new ReadyFile(readyFile, host.cwd);
  await ready?.check();
  const service = await listen(setup, host, notices);
  try {
    announce(service.url, setup, notices);
    await ready?.write(`${service.url}\n`);
    await aborted(signal);
    notices.note('stopping: no new requests, those under way may finish');
  } finally {
    // The file goes first: a closing service takes no connections.
    await Promise.resolve(ready?.clear()).finally(() => closeOrHurry(service, host));
  }
}

async function listen(
  { engine, apiKey, options }: Setup,
  { env, platform }: Host,
  notices: Notices,
): Promise<Service> {
  const { host, port, basePath, callbacks, cors, faults, maxText } = options;
  const log = (record: LogRecord) => {
    const isFailure = record.event === 'defect' || record.event === 'engine';
    if (options.log === undefined && !isFailure) return;
    notices.print(logLine(record, options.log ?? 'text', { time: new Date(), notices }));
  };
  try {
    return await startService({
      engine,
      apiKey,
      host,
      port,
      basePath,
      callbacks,
      cors,
      faults,
      log,
      hide: (text) => notices.redactOwn(text),
      maxText,
      metrics: true,
      programs: { env, platform },
    });
  } catch (error) {
    throw unusable(error, host, port);
  }
}

function unusable(cause: unknown, host: string, port: number): unknown {
  const hints: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; choose with --port, 0 picks a free one',
    EACCES: 'ports below 1024 are for administrators; choose with --port',
    EADDRNOTAVAIL: 'this machine has no such address; choose with --host',
    ENOTFOUND: 'there is no such name; choose with --host',
  };
  const code = codeOf(cause);
  const hint = hints[code];
  if (hint === undefined) return cause;
  return usageError(`cannot listen on ${host} port ${port} (${code})`, hint, cause);
}

/**
 * A second signal ends the wait.
 * @throws TtsError that names the signal
 */
async function closeOrHurry(service: Service, host: Host): Promise<void> {
  const { signal, stop } = interruption(host);
  signal.addEventListener('abort', () => void service.close(0));
  try {
    await service.close(GRACE);
    signal.throwIfAborted();
  } finally {
    stop();
  }
}

const NAME = 'TTS_API_KEY_FILE';

/**
 * Reads the key from the file that `TTS_API_KEY_FILE` names, as containers get it.
 * @throws TtsError (usage) for an unreadable or empty file
 */
export async function keyInFile(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const path = host.env[NAME];
  if (!path) return undefined;
  const named = { value: path, origin: { place: 'environment', name: NAME } } as const;
  const value = await readKeyFile(named, { cwd: host.cwd, home: host.home, signal });
  return checkedKey({ value, origin: named.origin }).value;
}
