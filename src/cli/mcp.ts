/** `tts mcp`: a session of the Model Context Protocol on stdin and stdout, with the tools that an agent speaks with. */
import { realpathSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import manifest from '../../package.json' with { type: 'json' };
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { pathOf } from '../kit/folders.ts';
import { isWithin, realOf } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';
import { check, object, optional, type Schema, text, toggle, type ValueOf, whole } from '../kit/schema.ts';
import { aborted, yieldToEventLoop } from '../kit/wait.ts';
import { bytesInWords, countOf, duration, grouped } from '../kit/words.ts';
import { type Flags, loadSettings } from '../options/load.ts';
import { longFlag } from '../options/option.ts';
import { optionsOf, rowOf } from '../options/rows.ts';
import { countCodePoints } from '../text/unicode.ts';
import { speaksLanguage } from '../voices/language.ts';
import type { CommandLine, Context } from './commands.ts';
import { type Printed, Runs, Stopped } from './mcp-runs.ts';
import type { Notices } from './notices.ts';
import type { ListedSpeaker } from './speakers.ts';

/** Most bytes of one message, with room for the longest text with every character escaped. */
const LONGEST_MESSAGE = 16 * 2 ** 20;

/** Most characters of a text: about two hours of speech for `speak`, and a day of it for `save`. */
const LONGEST = { speak: 100_000, save: 1_000_000 };

/** Steps of a text. The client is notified after each, and so at most this many times. */
const STEPS = 100;

const USUAL_CHANNEL = 'mcp';

const INSTRUCTIONS =
  'speak says a text aloud to the person at this machine. Texts may be Markdown: code, thoughts and emoji are left out.';

export async function run(line: CommandLine, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const { settings } = await loadSettings(line, context);
  const closing = new AbortController();
  const runs = new Runs(host, closing.signal);
  const session: Session = {
    runs,
    folder: settings.folder && folderAt(settings.folder.value, host),
    channel: settings.channel?.value ?? USUAL_CHANNEL,
    flags: line.flags,
    failures: [],
    notices,
  };
  try {
    await serve(session, host, signal);
  } finally {
    closing.abort(new Error('the session is over'));
    await runs.settled();
  }
  return ExitCode.ok;
}

interface Session {
  readonly runs: Runs;
  /** The real path of the folder that the user named. Files are saved nowhere else. */
  readonly folder: string | undefined;
  readonly channel: string;
  readonly flags: Flags;
  /** Failures of texts that no call waited for. The next answer reports them. */
  readonly failures: string[];
  readonly notices: Notices;
}

/** @throws TtsError (usage) */
function folderAt(name: string, { cwd }: Host): string {
  try {
    const path = realpathSync(pathOf(cwd, name));
    if (statSync(path).isDirectory()) return path;
  } catch {
    // The error below says what to do.
  }
  throw usageError(`--folder: ${name} is not a folder`, 'make it first, or name another one');
}

/**
 * Resolves when the client has left, or the signal aborts.
 * @throws TtsError (usage) for a message longer than `LONGEST_MESSAGE`
 */
async function serve(session: Session, host: Host, signal: AbortSignal): Promise<void> {
  const { stream: stdin } = host.stdin;
  const { stream: stdout } = host.stdout;
  const server = serverFor(session);
  let lastError: Error | undefined;
  server.onerror = (error) => {
    lastError = error;
    session.notices.detail(() => error.message);
  };
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const ended = new Promise((resolve) => void stdin.once('end', resolve).once('close', resolve));
  const outputFailed = new Promise((resolve) => void stdout.on('error', resolve));
  await server.connect(new StdioServerTransport(stdin, stdout, { maxBufferSize: LONGEST_MESSAGE }));
  const left = ended.then(() => yieldToEventLoop());
  const why = await Promise.race([closed.then(() => 'closed'), left, outputFailed, aborted(signal)]);
  if (why === 'closed')
    throw usageError(
      `the client sent a message that cannot be read: ${lastError?.message}`,
      `a message takes one line, and at most ${bytesInWords(LONGEST_MESSAGE)}`,
    );
  await server.close();
}

function serverFor(session: Session): Server {
  const about = { name: manifest.name, title: 'Text to speech', version: manifest.version };
  const server = new Server(about, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: { getValidator: noValidator },
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken;
    const progress = (done: number, total: number) => {
      if (progressToken === undefined || signal.aborted) return;
      const message = `${grouped(done)} of ${grouped(total)} characters`;
      const params = { progressToken, progress: done, total, message };
      sendNotification({ method: 'notifications/progress', params }).catch(() => {});
    };
    return answerTo(params, { session, signal, progress });
  });
  return server;
}

/** Never called: no tool sends requests to the client, so none of its answers needs a check. */
function noValidator(): never {
  throw new RangeError('nothing is asked of the client');
}

/** The context of a call, which a tool gets in addition to its arguments. */
interface Call {
  readonly session: Session;
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}

interface Answer {
  readonly text: string;
  readonly data?: Record<string, unknown>;
}

interface AgentTool<Arguments = unknown>
  extends Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> {
  readonly takes: Schema<Arguments>;
  /** @throws TtsError; the reason of the signal */
  call(args: Arguments, call: Call): Promise<Answer>;
}

const SPOKEN = {
  text: v.pipe(text(), v.description('What is spoken: plain text or Markdown')),
  voice: optional(
    v.pipe(
      v.union([text(), whole({ min: 0, max: Number.MAX_SAFE_INTEGER })], 'must be a name or a number'),
      v.description('A voice by its name or number, or a language such as "de"; the tool voices lists them'),
    ),
  ),
};

const speakTakes = object({
  ...SPOKEN,
  wait: optional(v.pipe(toggle(), v.description('Answer when the text has been heard, not at once'))),
});

const speak: AgentTool<ValueOf<typeof speakTakes>> = {
  name: 'speak',
  title: 'Speak',
  description:
    'Speaks a text aloud on this machine. It returns at once with the id of the speech; texts are spoken one after the other. With wait it returns when the text has been heard.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  takes: speakTakes,
  async call({ text, voice, wait = false }, { session, signal, progress }) {
    const { runs, channel } = session;
    const total = assertShort(text, 'speak');
    const args = [...spokenArgs(voice, session), '--play', '--queue', `--channel=${channel}`];
    const { id, ahead, heard } = runs.speak({
      args,
      text: withoutNuls(text),
      onSpoken: stepping(total, progress),
    });
    heard.catch((error) => {
      if (!wait && error instanceof TtsError && !(error instanceof Stopped)) fail(id, error, session);
    });
    if (!wait) {
      const place = ahead === 0 ? 'begins' : `waits behind ${countOf(ahead, 'other')}`;
      return { text: `Speech ${id} ${place}.`, data: { id } };
    }
    signal.addEventListener('abort', () => runs.stop(id), { once: true });
    const printed = await heard;
    const isHeard = printed !== undefined && printed.readerLeft !== true;
    const what = isHeard ? 'has been heard' : 'was stopped, or has nothing to say';
    return { text: `Speech ${id} ${what}.${warningsIn(printed)}`, data: { id, heard: isHeard } };
  },
};

function fail(id: number, error: TtsError, { failures, notices }: Session): void {
  notices.warn(`speech ${id}: ${error.message}`);
  failures.push(`Speech ${id} failed: ${sentence(error)}`);
}

const stopTakes = object({
  id: optional(
    v.pipe(whole({ min: 1, max: Number.MAX_SAFE_INTEGER }), v.description('The id that speak returned')),
  ),
});

const stop: AgentTool<ValueOf<typeof stopTakes>> = {
  name: 'stop',
  title: 'Stop',
  description: 'Stops what this session speaks, and what waits: one speech by its id, or all of them.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  takes: stopTakes,
  async call({ id }, { session }) {
    const stopped = session.runs.stop(id);
    const what = id === undefined ? 'Nothing speaks.' : `Speech ${id} is already over.`;
    return {
      text: stopped === 0 ? what : `Stopped ${countOf(stopped, 'speech', 'speeches')}.`,
      data: { stopped },
    };
  },
};

const voicesTakes = object({
  language: optional(
    v.pipe(text(), v.description('List only voices of this language: "de", "pt-BR", "German"')),
  ),
});

const voices: AgentTool<ValueOf<typeof voicesTakes>> = {
  name: 'voices',
  title: 'Voices',
  description: 'Lists what can speak here, by language. speak and save take a name or a number of the list.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  takes: voicesTakes,
  async call({ language }, { session, signal }) {
    const args = ['speakers', ...passedOn(session.flags, 'speakers')];
    const listed = await session.runs.make({ args }, signal);
    const all = (listed?.speakers ?? []) as readonly ListedSpeaker[];
    const speakers = all.filter((each) => language === undefined || speaksLanguage(each, language));
    if (speakers.length === 0)
      throw usageError(
        language === undefined ? 'no voice is listed here' : `no voice speaks ${language}`,
        'tts voices shows the user what can be installed',
      );
    return { text: byLanguage(speakers) + warningsIn(listed), data: { voices: speakers } };
  },
};

/** Returns a line such as `en-GB: awb (3), awb-styled (13)` for each language. */
function byLanguage(speakers: readonly ListedSpeaker[]): string {
  const lines = new Map<string, string[]>();
  for (const speaker of speakers) {
    const { no, name = String(no), language = 'und' } = speaker;
    const voice = no === undefined || name === String(no) ? name : `${name} (${no})`;
    lines.set(language, [...(lines.get(language) ?? []), voice]);
  }
  return [...lines].map(([language, voices]) => `${language}: ${voices.join(', ')}`).join('\n');
}

const saveTakes = object({
  ...SPOKEN,
  file: v.pipe(
    text(),
    v.description('The name inside the folder of the user; its ending is the format: "talk.mp3", "talk.wav"'),
  ),
  overwrite: optional(v.pipe(toggle(), v.description('Replace a file of this name'))),
});

const save: AgentTool<ValueOf<typeof saveTakes>> = {
  name: 'save',
  title: 'Save',
  description: 'Speaks a text into a sound file, inside the one folder that the user has named.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  takes: saveTakes,
  async call({ text, voice, file, overwrite = false }, { session, signal, progress }) {
    const total = assertShort(text, 'save');
    const path = savePath(file, overwrite, session);
    const how = overwrite ? ['--no-play'] : ['--no-play', '--no-clobber'];
    const args = [...spokenArgs(voice, session), `--output=${path}`, ...how];
    const run = { args, text: withoutNuls(text), onSpoken: stepping(total, progress) };
    const printed = await session.runs.make(run, signal);
    if (!printed) throw usageError('the text has nothing to say', 'give some words besides code and emoji');
    const seconds = Number(printed.duration);
    return {
      text: `Saved ${path}: ${duration(seconds)} of sound.${warningsIn(printed)}`,
      data: { path, seconds },
    };
  },
};

/** @throws TtsError (usage) for a place outside the folder, and for a file that exists unless `overwrite` is set */
function savePath(file: string, overwrite: boolean, { folder }: Session): string {
  if (folder === undefined)
    throw usageError('the user has named no folder', 'files can be saved after tts mcp --folder FOLDER');
  const path = /\p{Cc}/u.test(file) ? undefined : realOf(resolve(folder, file));
  if (path === undefined || path === folder || !isWithin(folder, path))
    throw usageError(`${file} is not inside ${folder}`, 'name a file in it, as in "talk.mp3"');
  const found = statSync(path, { throwIfNoEntry: false });
  if (extname(path) === '')
    throw usageError(`${file} has no ending`, 'it is the format, as in "talk.mp3" or "talk.wav"');
  if (found && !found.isFile()) throw usageError(`${file} is not a file`, 'choose another name');
  if (found && !overwrite)
    throw usageError(`${file} is there already`, 'choose another name, or set overwrite');
  return path;
}

const TOOLS: readonly AgentTool[] = [speak, stop, voices, save];

function described({ takes, call: _, ...about }: AgentTool): Tool {
  const { $schema: _schema, ...inputSchema } = toJsonSchema(takes, {
    typeMode: 'input',
    errorMode: 'ignore',
  });
  return { ...about, inputSchema: { ...inputSchema, type: 'object' } } as Tool;
}

/** Calls a tool. Its error becomes an answer, which the agent can read. */
async function answerTo(
  { name, arguments: args = {} }: CallToolRequest['params'],
  call: Call,
): Promise<CallToolResult> {
  const { failures, notices } = call.session;
  try {
    const tool = TOOLS.find((each) => each.name === name);
    if (!tool)
      throw usageError(`there is no tool ${name}`, `there are ${TOOLS.map((each) => each.name).join(', ')}`);
    const { text, data } = await tool.call(checked(args, tool.takes), call);
    const content = [text, ...failures.splice(0)].map((part) => ({
      type: 'text' as const,
      text: notices.redact(part),
    }));
    return { content, ...(data && { structuredContent: data }) };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!(error instanceof TtsError)) notices.failure(error);
    const message =
      error instanceof TtsError ? sentence(error) : 'A defect in tts itself. Its log says more.';
    return { content: [{ type: 'text', text: notices.redact(message) }], isError: true };
  }
}

/** @throws TtsError (usage) that names the argument */
function checked<T>(args: unknown, takes: Schema<T>): T {
  const result = check(takes, args);
  if ('value' in result) return result.value;
  const { path, problem } = result;
  throw usageError(
    `${path || 'the arguments'} ${problem}`,
    'tools/list describes the arguments of each tool',
  );
}

/**
 * @returns the number of characters
 * @throws TtsError (usage) for a text that is too long
 */
function assertShort(text: string, tool: keyof typeof LONGEST): number {
  const count = countCodePoints(text);
  if (count <= LONGEST[tool]) return count;
  throw usageError(
    `the text has ${grouped(count)} characters, and ${tool} takes ${grouped(LONGEST[tool])}`,
    'send it in parts',
  );
}

/** Removes NULs, which would make the text a binary file. */
function withoutNuls(text: string): string {
  return text.replaceAll('\0', '');
}

function spokenArgs(voice: string | number | undefined, { flags }: Session): string[] {
  const given = voice === undefined ? flags : { ...flags, speaker: String(voice) };
  return ['speak', '--assistant', '--no-echo', '--format=markdown', '--file=-', ...passedOn(given, 'speak')];
}

/** Returns the options of `tts mcp` that the command takes, as arguments. */
function passedOn(flags: Flags, command: 'speak' | 'speakers'): string[] {
  return optionsOf('mcp')
    .filter((name) => name !== 'channel' && rowOf(name).commands.includes(command))
    .flatMap((name) => (flags[name] === undefined ? [] : `${longFlag(rowOf(name))}=${flags[name]}`));
}

/** Reports progress only when it has grown by a step. */
function stepping(total: number, progress: Call['progress']): (characters: number) => void {
  let reported = 0;
  return (characters) => {
    if (characters < reported + total / STEPS) return;
    reported = characters;
    progress(characters, total);
  };
}

function warningsIn(printed: Printed | undefined): string {
  return (printed?.warnings ?? []).map((warning) => ` Warning: ${warning}.`).join('');
}

function sentence({ message, hint }: TtsError): string {
  return hint === undefined ? `${message}.` : `${message}. Hint: ${hint}.`;
}
