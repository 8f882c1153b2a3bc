import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { EngineSet } from '../engines/engine.ts';
import { bareHost, isLoopback } from '../kit/address.ts';
import { codeOf, ExitCode, TtsError, usageError } from '../kit/error.ts';
import { replaceFile } from '../kit/file.ts';
import { pathOf } from '../kit/folders.ts';
import { type Host, interruption } from '../kit/host.ts';
import { aborted } from '../kit/wait.ts';
import { visible } from '../kit/words.ts';
import { checkedKey, readKeyFile } from '../options/keys.ts';
import type { LogRecord } from '../serve/http.ts';
import { randomKey, type Service, startService } from '../serve/service.ts';
import type { Context } from './commands.ts';
import type { Notices } from './notices.ts';
import { describeCommand, openServeEngines, readServeOptions, type ServeOptions } from './serve-voices.ts';

/** What `tts serve` runs with. A key of `null` lets everybody in. */
interface Setup {
  readonly engine: EngineSet;
  readonly apiKey: string | null;
  readonly options: ServeOptions;
}

/** Prints for people on stderr, and for programs on stdout. */
export function announce(url: string, { engine, apiKey, options }: Setup, notices: Notices): void {
  const made = options.apiKey === undefined ? apiKey : undefined;
  notices.note(`listening on ${url}`);
  notices.note(`for clients of OpenAI's speech interface: ${url}/v1`);
  // A browser never sends the part behind the sign, and the page takes it out of the address.
  notices.note(`in a browser: ${url}/${made ? `#key=${made}` : ''}`);
  if (made) notices.note(`the API key of this run is ${made} (TTS_API_KEY sets one that stays)`);
  if (!isLoopback(options.host))
    notices.warn('the network can connect, and read along: http is not encrypted');
  // The line shows only a key that this run made.
  if (options.apiKey) notices.note('the line below needs your key: export TTS_API_KEY=... where you try it');
  const [speaker] = engine.speakers;
  if (!speaker)
    notices.note('the service lists no speakers: put the number of one of its own into the line below');
  const key = apiKey === null ? null : (made ?? '$TTS_API_KEY');
  notices.note(`try: ${curlLine(url, key, speaker?.no ?? 1)}`);
  if (!options.json) return;
  notices.result({ url, ...(made && { apiKey: made }) });
}

function curlLine(url: string, key: string | null, speaker: number): string {
  const keyHeader = key === null ? '' : ` -H "X-API-KEY: ${key}"`;
  const body = `-H "Content-Type: application/json" -d '{"text":"Hello","speaker_no":${speaker}}'`;
  return `curl -fsS${keyHeader} ${body} -o hello.wav ${url}/tts`;
}

export function logLine(
  record: LogRecord,
  form: 'text' | 'json',
  { time, notices }: { readonly time: Date; readonly notices: Pick<Notices, 'inJson' | 'redact'> },
): string {
  if (form === 'json') return notices.inJson({ time, ...record, ...errorOf(record) });
  return notices.redact(`${time.toISOString()} ${textOf(record)}`);
}

function errorOf(record: LogRecord): { error?: string } {
  return record.event === 'defect' ? { error: stackOf(record.error) } : {};
}

function textOf(record: LogRecord): string {
  switch (record.event) {
    case 'request':
      return requestText(record);
    case 'callback': {
      const { id, origin, delivered, tries, reason } = record;
      const end = delivered ? 'delivered' : `given up: ${reason}`;
      return inAscii(`${id} callback to ${origin} ${end} (tries: ${tries})`);
    }
    case 'engine':
      return `${record.id} engine failed: ${visible(record.reason)}`;
    case 'defect':
      return `${record.id} defect: ${stackOf(record.error).split('\n').map(visible).join('\n')}`;
  }
}

function requestText(record: Extract<LogRecord, { event: 'request' }>): string {
  const { id, method, path, status, cut, milliseconds, speaker, characters, refusal } = record;
  return inAscii(
    [
      `${id} ${method} ${path} ${status ?? '-'} ${milliseconds} ms`,
      speaker === undefined ? '' : `speaker ${speaker}`,
      characters === undefined ? '' : `${characters} characters`,
      refusal ?? '',
      cut ? 'cut off' : '',
    ]
      .filter(Boolean)
      .join(', '),
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A terminal obeys escape sequences in a stranger's path. */
function inAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** Milliseconds. A refused connection is known at once. */
const CONNECT_MS = 1000;

/** Says where the service listens. It appears in one step. */
export class ReadyFile {
  readonly #name: string;
  readonly #cwd: string;
  #text: string | undefined;

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#cwd = cwd;
  }

  /**
   * Removes the file of a killed service, and leaves that of a running one.
   * @throws TtsError for what is not a file
   */
  async check(): Promise<void> {
    await this.#orFail(async (path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found) return;
      if (!found.isFile())
        throw usageError(
          `--ready-file ${this.#name} is not an ordinary file`,
          'name one: it is made, and removed again',
        );
      if (!(await isListening(await readFile(path, 'utf8')))) await rm(path, { force: true });
    });
  }

  async write(text: string): Promise<void> {
    await this.#orFail((path) => replaceFile(path, text, 0o666));
    this.#text = text;
  }

  /** Removes the file of this service. Another one may have written the file in the meantime. */
  async clear(): Promise<void> {
    if (this.#text === undefined) return;
    await this.#orFail(async (path) => {
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
      if ((await readFile(path, 'utf8')) === this.#text) await rm(path, { force: true });
    });
  }

  async #orFail(action: (path: string) => Promise<void>): Promise<void> {
    try {
      await action(pathOf(this.#cwd, this.#name));
    } catch (cause) {
      if (cause instanceof TtsError) throw cause;
      throw new TtsError(`cannot write ${this.#name}`, {
        exitCode: ExitCode.output,
        hint: 'choose another place with --ready-file',
        cause,
      });
    }
  }
}

/** Only a refused connection proves that nothing listens. */
async function isListening(text: string): Promise<boolean> {
  if (!URL.canParse(text.trim())) return false;
  const { hostname, port } = new URL(text.trim());
  const socket = connect({ host: bareHost(hostname), port: Number(port) });
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).once('error', resolve);
    socket.setTimeout(CONNECT_MS, () => resolve(undefined));
  });
  socket.destroy();
  return error?.code !== 'ECONNREFUSED';
}

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
    await Promise.resolve(ready?.clear()).finally(() => closeUnlessHurried(service, host));
  }
}

async function listen(
  { engine, apiKey, options }: Setup,
  { env, platform }: Host,
  notices: Notices,
): Promise<Service> {
  const { host, port, basePath, callbacks, cors, maxText } = options;
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
      log,
      hide: (text) => notices.redactOwn(text),
      maxText,
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
async function closeUnlessHurried(service: Service, host: Host): Promise<void> {
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
