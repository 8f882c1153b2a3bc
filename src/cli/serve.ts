import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { bareHost, isLoopback } from '../kit/address.ts';
import { codeOf, ExitCode, usageError } from '../kit/error.ts';
import { replaceFile } from '../kit/file.ts';
import { pathOf, unwritable } from '../kit/folders.ts';
import { type Host, interruption } from '../kit/host.ts';
import { aborted } from '../kit/wait.ts';
import { visible } from '../kit/words.ts';
import { findKey } from '../options/keys.ts';
import type { Settings } from '../options/load.ts';
import { type LogRecord, randomKey, type Service, startService } from '../serve/service.ts';
import type { CommandLine, Context } from './commands.ts';
import type { Notices } from './notices.ts';
import { openServing, readServeOptions, type ServeOptions, type Serving } from './serve-voices.ts';

export async function run({ flags }: CommandLine, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const options = readServeOptions(flags, host.env);
  notices.json = options.settings.json.value;
  const key = await clientKey(options.settings, context);
  if (key.value && !key.isMade) notices.hide(key.value);
  const speaking = await openServing(options, context).catch((error) => {
    // A stop during the start is success, too.
    if (!signal.aborted) throw error;
  });
  if (!speaking) return ExitCode.ok;
  try {
    await serve({ ...speaking, key, options }, host, notices, signal);
  } finally {
    await speaking.voices.close();
  }
  return ExitCode.ok;
}

/**
 * Returns the key that clients have to send.
 * @throws TtsError (usage) for a file that cannot be read, or holds no key
 */
async function clientKey(settings: Settings, { host, signal }: Context): Promise<Setup['key']> {
  if (!settings.auth.value) return { value: null, isMade: false };
  const own = await findKey(settings, { ...host, signal });
  return { value: own?.value ?? randomKey(), isMade: own === undefined };
}

/** The voices, key and options of `tts serve`. */
interface Setup extends Serving {
  /** With `value: null`, no key is needed. */
  readonly key: { readonly value: string | null; readonly isMade: boolean };
  readonly options: ServeOptions;
}

/** How long open requests get to finish after the signal to stop. */
const GRACE_MS = 10_000;

async function serve(setup: Setup, host: Host, notices: Notices, signal: AbortSignal): Promise<void> {
  const { readyFile } = setup.options.settings;
  const ready = readyFile && new ReadyFile(readyFile.value, host.cwd);
  await ready?.check();
  const service = await listen(setup, host, notices);
  try {
    announce(service, setup, notices);
    await ready?.write(`${service.url}\n`);
    await aborted(signal);
    notices.note('stopping: no new requests, those under way may finish');
  } finally {
    // Remove the file first, because a closing service takes no connections.
    await Promise.resolve(ready?.clear()).finally(() => closeUnlessHurried(service, host));
  }
}

/** Events that are logged without `--log`, too. */
const ALWAYS_LOGGED: ReadonlySet<LogRecord['event']> = new Set(['defect', 'engine', 'voice']);

async function listen(
  { voices, reading, key, options }: Setup,
  host: Host,
  notices: Notices,
): Promise<Service> {
  const { settings } = options;
  const form = settings.log?.value;
  const log = (record: LogRecord) => {
    if (form === undefined && !ALWAYS_LOGGED.has(record.event)) return;
    notices.print(logLine(record, form ?? 'text', { time: new Date(), notices }));
  };
  try {
    const hide = (text: string) => notices.redactOwn(text);
    return await startService({
      host: settings.host.value,
      port: settings.port.value,
      wyoming: settings.wyoming?.value,
      basePath: settings.basePath.value,
      maxText: settings.maxText.value,
      callbacks: settings.callbacks?.value ?? [],
      cors: settings.cors?.value,
      voices,
      reading,
      apiKey: key.value,
      log,
      hide,
      programs: host,
    });
  } catch (cause) {
    const { syscall, port = settings.port.value } = cause as NodeJS.ErrnoException & { port?: number };
    if (syscall === undefined) throw cause;
    const code = codeOf(cause);
    const flag = port === settings.port.value ? '--port' : '--wyoming';
    const hint = UNUSABLE[code]?.(flag) ?? 'choose another address with --host';
    throw usageError(`cannot listen on ${settings.host.value} port ${port} (${code})`, hint, cause);
  }
}

const UNUSABLE: Readonly<Record<string, (flag: string) => string>> = {
  EADDRINUSE: (flag) => `another program listens there; choose with ${flag}, 0 picks a free one`,
  EACCES: (flag) => `ports below 1024 are for administrators; choose with ${flag}`,
  EADDRNOTAVAIL: () => 'this machine has no such address; choose with --host',
  ENOTFOUND: () => 'there is no such name; choose with --host',
};

/**
 * Closes the service when its requests have finished, or at a second signal.
 * @throws TtsError that names the signal
 */
async function closeUnlessHurried(service: Service, host: Host): Promise<void> {
  const { signal, stop } = interruption(host);
  signal.addEventListener('abort', () => void service.close(0));
  try {
    await service.close(GRACE_MS);
    signal.throwIfAborted();
  } finally {
    stop();
  }
}

/** Prints the addresses, for people on stderr and for programs on stdout. Of keys, it shows only one that this run made. */
function announce({ url, wyoming }: Service, { voices, key, options }: Setup, notices: Notices): void {
  const made = key.isMade ? key.value : undefined;
  notices.note(`listening on ${url}`);
  notices.note(`for clients of OpenAI's speech interface: ${url}/v1`);
  // A browser never sends the part after the "#", and the page removes it from the address.
  notices.note(`in a browser: ${url}/${made ? `#key=${made}` : ''}`);
  if (made) notices.note(`the API key of this run is ${made} (TTS_API_KEY sets one that stays)`);
  if (wyoming) notices.note(`for Home Assistant, without a key: ${wyoming}`);
  if (!isLoopback(options.settings.host.value)) warnOfNetwork(wyoming !== undefined, notices);
  if (key.value !== null && !made)
    notices.note('the command below needs your key: export TTS_API_KEY=... before you try it');
  const [voice] = voices.all;
  if (!voice)
    notices.note('the service lists no speakers: put the number of one of them into the command below');
  const header = key.value === null ? '' : ` -H "X-API-KEY: ${made ?? '$TTS_API_KEY'}"`;
  const body = `-H "Content-Type: application/json" -d '{"text":"Hello","speaker_no":${voice?.no ?? 1}}'`;
  notices.note(`try: curl -fsS${header} ${body} -o hello.wav ${url}/tts`);
  if (options.settings.json.value)
    notices.result({ url, ...(wyoming && { wyoming }), ...(made && { apiKey: made }) });
}

function warnOfNetwork(hasWyoming: boolean, notices: Notices): void {
  notices.warn('the network can connect, and read along: http is not encrypted');
  if (hasWyoming)
    notices.warn('--wyoming asks for no key: anyone in the network can make this machine speak');
}

export function logLine(
  record: LogRecord,
  form: 'text' | 'json',
  { time, notices }: { readonly time: Date; readonly notices: Pick<Notices, 'inJson' | 'redact'> },
): string {
  if (form === 'text') return notices.redact(`${time.toISOString()} ${textOf(record)}`);
  const error = record.event === 'defect' && { error: stackOf(record.error) };
  return notices.inJson({ time, ...record, ...error });
}

/** Makes escape sequences visible in the words of strangers (a path, the output of an engine): a terminal would obey them. */
function textOf(record: LogRecord): string {
  switch (record.event) {
    case 'request': {
      const { id, method, path, status, cut, milliseconds, speaker, characters, refusal } = record;
      const begun = `${id} ${method} ${visible(path)} ${status ?? '-'} ${milliseconds} ms`;
      const details = [
        speaker !== undefined && `speaker ${speaker}`,
        characters !== undefined && `${characters} characters`,
        refusal,
        cut && 'cut off',
      ];
      return [begun, ...details.filter(Boolean)].join(', ');
    }
    case 'callback': {
      const { id, origin, delivered, tries, reason } = record;
      const end = delivered ? 'delivered' : `given up: ${visible(reason ?? '')}`;
      return `${id} callback to ${origin} ${end} (tries: ${tries})`;
    }
    case 'engine':
      return `${record.id} engine failed: ${visible(record.reason)}`;
    case 'voice': {
      const { id, asked, voice, language } = record;
      return `${id} no voice for ${visible(asked)}: ${visible(voice)} (${language}) speaks`;
    }
    case 'defect':
      return `${record.id} defect: ${stackOf(record.error).split('\n').map(visible).join('\n')}`;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The file of `--ready-file`, which holds the address of the service. It is written atomically. */
class ReadyFile {
  readonly #name: string;
  readonly #cwd: string;
  #text: string | undefined;

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#cwd = cwd;
  }

  /**
   * Removes the file of a killed service, but not that of a running one.
   * @throws TtsError (usage) if the path is not an ordinary file
   */
  async check(): Promise<void> {
    await this.#orFail(async (path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found) return;
      if (!found.isFile())
        throw usageError(
          `--ready-file ${this.#name} is not an ordinary file`,
          'choose another name: the file is created, and removed when the service stops',
        );
      if (!(await isListening(await readFile(path, 'utf8')))) await rm(path, { force: true });
    });
  }

  async write(text: string): Promise<void> {
    await this.#orFail((path) => replaceFile(path, text, 0o666));
    this.#text = text;
  }

  /** Removes the file unless another service has written it in the meantime. */
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
      throw unwritable(this.#name, cause, 'choose another place with --ready-file');
    }
  }
}

/** Milliseconds to wait for a connection. A refusal comes at once. */
const CONNECT_MS = 1000;

/** True unless the text holds no address, or the connection is refused, which alone proves that nothing listens there. */
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
