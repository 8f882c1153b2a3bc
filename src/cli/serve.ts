import { resolve } from 'node:path';
import { aborted } from '../aborted.ts';
import { ExitCode, usageError } from '../error.ts';
import type { Host } from '../host.ts';
import type { Engine } from '../service/engine.ts';
import { randomKey } from '../service/http/api-key.ts';
import type { LogRecord } from '../service/http/log.ts';
import { type Service, startService } from '../service/service.ts';
import { isLoopback } from '../settings/nearby.ts';
import { leaveYoungSpaceSmall } from '../v8-flags.ts';
import type { Context } from './commands.ts';
import { logLine } from './log-line.ts';
import type { Notices } from './notices.ts';
import { ReadyFile } from './ready-file.ts';
import { readServeOptions, type ServeOptions } from './serve-options.ts';
import { tell } from './tell.ts';

/** Milliseconds that requests get to finish in once the process is told to stop. */
const GRACE = 10_000;

/** `tts serve`: runs the service until the process is told to stop, which is how it ends well. */
export async function run(context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const options = readServeOptions(context);
  if ('help' in options) {
    tell(host.stdout, options.help);
    return ExitCode.ok;
  }
  notices.json = options.json;
  if (options.apiKey) notices.hide(options.apiKey);
  const apiKey = options.apiKey === undefined ? randomKey() : options.apiKey;
  leaveYoungSpaceSmall();
  const { createEngine } = await import('../service/engine/create.ts');
  const { workers, maxQueue } = options;
  const engine = await createEngine({
    path: host.env.PATH,
    warn: (text) => notices.warn(text),
    ...(workers !== undefined && { workers }),
    ...(maxQueue !== undefined && { maxQueue }),
  });
  try {
    await engine.prepare();
    await serve({ engine, apiKey, options }, host, notices, signal);
  } finally {
    await engine.close();
  }
  return ExitCode.ok;
}

interface Setup {
  readonly engine: Engine;
  readonly apiKey: string | null;
  readonly options: ServeOptions;
}

async function serve(setup: Setup, host: Host, notices: Notices, signal: AbortSignal): Promise<void> {
  const { readyFile } = setup.options;
  const ready = readyFile === undefined ? undefined : new ReadyFile(resolve(host.cwd, readyFile));
  await ready?.clear();
  const service = await listen(setup, notices);
  try {
    announce(service.url, setup, host, notices);
    await ready?.write(`${service.url}\n`);
    await aborted(signal);
    notices.note('stopping: no new requests, those under way may finish');
  } finally {
    await closeOrHurry(service, host);
    await ready?.clear();
  }
}

async function listen({ engine, apiKey, options }: Setup, notices: Notices): Promise<Service> {
  const { host, port, basePath, callbacks, faults, maxText } = options;
  const log = (record: LogRecord) => {
    if (options.log === undefined && record.event !== 'defect') return;
    notices.print(logLine(record, options.log ?? 'text', new Date()));
  };
  try {
    return await startService({
      ...{ engine, apiKey, host, port, basePath, callbacks, faults, log },
      ...(maxText !== undefined && { maxText }),
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
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const hint = hints[code];
  if (hint === undefined) return cause;
  return usageError(`cannot listen on ${host} port ${port} (${code})`, hint, cause);
}

/** Tells people on stderr, and programs on stdout, where the service is. */
function announce(url: string, { apiKey, options }: Setup, host: Host, notices: Notices): void {
  const made = options.apiKey === undefined ? apiKey : undefined;
  const faults = options.faults.map(({ spec }) => spec);
  notices.note(`listening on ${url}`);
  if (made) notices.note(`the API key of this run is ${made} (TTS_API_KEY sets one that stays)`);
  if (!isLoopback(options.host))
    notices.warn('the network can connect, and read along: http is not encrypted');
  for (const spec of faults) notices.note(`fails on purpose: --fault ${spec}`);
  notices.note(`try: ${curlLine(url, apiKey === null ? null : (made ?? '$TTS_API_KEY'))}`);
  if (!options.json) return;
  const told = { url, ...(made && { apiKey: made }), ...(faults.length > 0 && { faults }) };
  tell(host.stdout, notices.inJson(told));
}

function curlLine(url: string, key: string | null): string {
  const keyHeader = key === null ? '' : ` -H "X-API-KEY: ${key}"`;
  const body = `-H "Content-Type: application/json" -d '{"text":"Hello","speaker_no":1}'`;
  return `curl${keyHeader} ${body} -o hello.wav ${url}/tts`;
}

/** A second Ctrl-C ends what the first one waits for. */
async function closeOrHurry(service: Service, host: Host): Promise<void> {
  const hurry = () => void service.close(0);
  host.on('SIGINT', hurry);
  try {
    await service.close(GRACE);
  } finally {
    host.off('SIGINT', hurry);
  }
}
