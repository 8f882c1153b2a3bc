import { INPUT_KINDS } from '../read/reading.ts';
import { ENCODINGS } from '../sound/encode/encoding.ts';
import { engine, engines, locatedEngines } from './engine-entry.ts';
import {
  baseUrl,
  bitrate,
  byteCount,
  choice,
  fileName,
  fileNames,
  type Kind,
  keys,
  type Locate,
  list,
  locatedCommand,
  loudness,
  number,
  numbers,
  pauses,
  playerCommand,
  proxyUrl,
  sampleRate,
  speaker,
  speakers,
  speed,
  toggle,
  url,
  voices,
  words,
} from './kinds.ts';

/** Options, configuration, help and docs/options.md come from this table. */
export interface Rule<T> {
  readonly kind: Kind<T>;
  /** The option in commander's syntax. Without it, the setting has no option. */
  readonly flags?: string;
  readonly env?: string;
  /** Help shows it in place of `env` where several variables count. */
  readonly envShown?: string;
  readonly key?: string;
  /** Help shows it in place of `key`. */
  readonly keyShown?: string;
  readonly fallback?: NoInfer<T>;
  readonly otherwise?: string;
  readonly help: string;
  /** The short help has it in place of `help`, which is too long for a line. */
  readonly brief?: string;
  /** All commands that ask a service take the option. */
  readonly ofRequests?: true;
  /** All commands that make sound take the option. */
  readonly ofSound?: true;
  /** The option may be given several times. Its value has a line for each. */
  readonly repeats?: true;
  readonly secret?: true;
  /** Joins the values of several places, the strongest first. Without it, the strongest place counts. */
  combine?(values: readonly T[]): T;
  projectMay?(value: NoInfer<T>): boolean;
  /** It decides what leaves, runs or is deleted on the user's machine. */
  readonly userOnly?: true;
  startsProgram?(value: NoInfer<T>): boolean;
  /** Resolves the relative names of files from the folder of the config file. */
  located?(value: NoInfer<T>, locate: Locate): T;
}

type WithFallback<T> = Rule<T> & { readonly fallback: NoInfer<T> };

function rule<T>(rule: WithFallback<T>): WithFallback<T>;
function rule<T>(rule: Rule<T>): Rule<T>;
function rule<T>(rule: Rule<T>): Rule<T> {
  return rule;
}

/** The strongest value of each name. */
function byName<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  return new Map(maps.toReversed().flatMap((map) => [...map]));
}

export const rules = {
  speaker: rule({
    kind: speaker,
    flags: '-s, --speaker <no|name>',
    env: 'TTS_SPEAKER',
    key: 'speaker',
    otherwise: 'built-in service: 1; otherwise an error',
    help: 'who speaks',
  }),
  speakers: rule({
    kind: speakers,
    key: 'speakers',
    otherwise: 'none',
    help: 'names for speakers, each with its number and its own settings',
    combine: byName,
  }),
  output: rule({
    kind: fileName,
    flags: '-o, --output <file|->',
    otherwise: 'stdout; none where it is played',
    brief: 'the file; its ending is the format; "-" is stdout',
    help: 'where the sound goes, in the format of the ending; "-" is stdout',
  }),
  encode: rule({
    kind: choice(...ENCODINGS),
    flags: '--encode <format>',
    otherwise: 'by the ending of -o; WAV without one',
    help: `format of the sound: ${ENCODINGS.join(', ')}`,
  }),
  bitrate: rule({
    kind: bitrate,
    flags: '--bitrate <kbits>',
    otherwise: 'MP3 and AAC 64k, Opus 32k for each channel',
    help: 'kbit/s of the sound: 64k',
  }),
  loudness: rule({
    kind: loudness,
    flags: '--loudness <lufs>',
    key: 'loudness',
    otherwise: 'as the voices are',
    help: 'bring each voice to one loudness: -18',
    ofSound: true,
  }),
  split: rule({
    kind: choice('chapters'),
    flags: '--split <what>',
    otherwise: 'one file',
    brief: 'a file for each chapter',
    help: "a file for each of the chapters: -o 'novel/{nn} {title}.mp3'",
  }),
  check: rule({
    kind: toggle,
    flags: '--check',
    fallback: false,
    help: 'with --split: send nothing; name what is missing or stale',
  }),
  prune: rule({
    kind: toggle,
    flags: '--prune',
    fallback: false,
    help: 'with --split: delete files of chapters that are gone',
  }),
  yes: rule({
    kind: toggle,
    flags: '--yes',
    fallback: false,
    help: 'with --prune: delete without a question',
  }),
  title: rule({
    kind: words,
    flags: '--title <text>',
    otherwise: 'that of the book',
    help: 'title in the tags of the sound',
  }),
  author: rule({
    kind: words,
    flags: '--author <text>',
    otherwise: 'that of the book',
    help: 'author in the tags of the sound',
  }),
  cover: rule({
    kind: fileName,
    flags: '--cover <file>',
    otherwise: 'that of the book',
    help: 'picture in the tags of the sound: JPEG or PNG',
  }),
  play: rule({
    kind: toggle,
    flags: '--play',
    otherwise: 'with --player; on a terminal without -o',
    help: 'play the audio as it arrives, even with -o',
  }),
  player: rule({
    kind: playerCommand,
    flags: '--player <command>',
    env: 'TTS_PLAYER',
    key: 'player',
    otherwise: 'the first one found',
    help: 'program that plays stdin as WAV; {} = a file name',
    userOnly: true,
    startsProgram: () => true,
    located: locatedCommand,
  }),
  input: rule({
    kind: choice('jsonl'),
    flags: '--input <form>',
    otherwise: 'text',
    help: 'jsonl: stdin holds a conversation, {"text": "…"}, {"end": true} or {"stop": true} a line',
    brief: 'stdin holds a conversation: jsonl',
  }),
  assistant: rule({
    kind: toggle,
    flags: '--assistant',
    key: 'assistant',
    fallback: false,
    help: 'speak what a model writes: --format markdown --math skip --play --stream --echo, without thoughts and calls',
    brief: 'speak and show what a model writes',
    userOnly: true,
  }),
  interrupt: rule({
    kind: toggle,
    flags: '--interrupt',
    fallback: false,
    help: 'stop the run that speaks on this terminal, or on --channel',
  }),
  queue: rule({
    kind: toggle,
    flags: '--queue',
    fallback: false,
    help: 'wait until the runs before it on this terminal, or on --channel, have spoken',
  }),
  channel: rule({
    kind: words,
    flags: '--channel <name>',
    otherwise: 'the terminal',
    help: 'the runs of which one speaks at a time, with --interrupt and --queue',
  }),
  fallback: rule({
    kind: speaker,
    flags: '--fallback <no|name>',
    key: 'fallback',
    otherwise: 'none',
    help: 'a voice of this machine that speaks on where the service fails; in files only with --keep-going',
  }),
  patience: rule({
    kind: number({ min: 0.1, max: 86_400, unit: 'seconds' }),
    flags: '--patience <seconds>',
    key: 'patience',
    otherwise: '5 with --fallback; otherwise as --timeout and --retries say',
    help: 'how long all tries of a sentence that is heard live may bring no sound',
  }),
  echo: rule({
    kind: toggle,
    flags: '--echo',
    fallback: false,
    help: 'show what comes on stdin while it is spoken',
  }),
  events: rule({
    kind: fileName,
    flags: '--events <fd|file>',
    otherwise: 'none',
    brief: 'write what is heard as lines of JSON',
    help: 'write what is queued, playing, spoken and stopped as lines of JSON: --events 3 3>events.jsonl',
  }),
  format: rule({
    kind: choice('auto', ...INPUT_KINDS),
    flags: '--format <format>',
    key: 'format',
    fallback: 'auto',
    otherwise: 'auto: by file ending or first bytes',
    help: 'what the text is: text, markdown, html, epub, auto',
  }),
  code: rule({
    kind: choice('announce', 'skip', 'read'),
    flags: '--code <how>',
    key: 'code',
    fallback: 'announce',
    help: 'code blocks in Markdown: announce, skip, read',
  }),
  math: rule({
    kind: choice('read', 'skip'),
    flags: '--math <how>',
    key: 'math',
    fallback: 'skip',
    help: 'TeX in Markdown: read in plain words, skip with the word "formula"',
  }),
  footnotes: rule({
    kind: choice('read', 'skip'),
    flags: '--footnotes <how>',
    key: 'footnotes',
    fallback: 'read',
    otherwise: 'read; skip in books and web pages',
    help: 'notes: read where they are referred to, skip',
  }),
  chapters: rule({
    kind: numbers,
    flags: '--chapters <list>',
    otherwise: 'all',
    help: 'speak only these chapters: 3,5-7',
  }),
  titles: rule({
    kind: toggle,
    flags: '--no-titles',
    fallback: true,
    help: 'do not speak the titles of chapters',
  }),
  all: rule({
    kind: toggle,
    flags: '--all',
    fallback: false,
    help: 'read title pages, contents, licences and the like of a book, too',
  }),
  ruby: rule({
    kind: choice('base', 'reading'),
    flags: '--ruby <how>',
    key: 'ruby',
    fallback: 'base',
    help: 'Japanese with readings above: base, reading (in kana)',
  }),
  lexicon: rule({
    kind: fileNames,
    flags: '--lexicon <file>',
    env: 'TTS_LEXICON',
    key: 'lexicon',
    otherwise: 'none',
    help: 'how words are spoken: word = spoken form; may be given several times',
    repeats: true,
  }),
  showText: rule({
    kind: toggle,
    flags: '--show-text',
    fallback: false,
    help: 'print what would be spoken, and stop',
  }),
  stream: rule({
    kind: toggle,
    flags: '--stream',
    env: 'TTS_STREAM',
    key: 'stream',
    otherwise: 'off',
    help: 'ask the service to send audio while making it',
    ofRequests: true,
  }),
  sampleRate: rule({
    kind: sampleRate,
    flags: '-r, --sample-rate <hz>',
    env: 'TTS_SAMPLE_RATE',
    key: 'sampleRate',
    otherwise: 'not sent',
    help: 'sample rate in Hz, 8000 to 48000',
    ofRequests: true,
  }),
  instructions: rule({
    kind: words,
    flags: '-i, --instructions <text>',
    env: 'TTS_INSTRUCTIONS',
    key: 'instructions',
    otherwise: 'not sent',
    help: 'how to speak, in plain words',
    ofRequests: true,
  }),
  callbackUrl: rule({
    kind: url('http', 'https'),
    flags: '--callback-url <url>',
    otherwise: 'not sent',
    help: 'have the service send the audio there',
  }),
  baseUrl: rule({
    kind: baseUrl,
    flags: '--base-url <url>',
    env: 'TTS_BASE_URL',
    key: 'baseUrl',
    otherwise: 'the built-in service',
    help: 'the service; /tts is added',
    ofRequests: true,
  }),
  engine: rule({
    kind: engine,
    flags: '--engine <url|folder|name>',
    env: 'TTS_ENGINE',
    key: 'engine',
    otherwise: 'the built-in voices',
    brief: 'a server, a model, or one of engines',
    help: 'a server (key: TTS_ENGINE_KEY), a model, one of engines',
    ofRequests: true,
    projectMay: (name) => !/[/\\]/.test(name),
  }),
  engineKey: rule({
    kind: words,
    env: 'TTS_ENGINE_KEY',
    otherwise: 'none',
    help: 'key of the server that --engine names',
    secret: true,
  }),
  engineKeyFile: rule({
    kind: fileName,
    env: 'TTS_ENGINE_KEY_FILE',
    otherwise: 'none',
    help: 'a file that holds the key of that server',
  }),
  engines: rule({
    kind: engines,
    key: 'engines',
    otherwise: 'none',
    help: 'names for engines, each a server, a program or a model folder',
    userOnly: true,
    startsProgram: (entries) => [...entries.values()].some((entry) => entry.command !== undefined),
    located: locatedEngines,
  }),
  apiKey: rule({
    kind: words,
    flags: '--api-key <key>',
    env: 'TTS_API_KEY',
    envShown: 'TTS_API_KEY, TTS_API_KEY_FILE',
    key: 'apiKey',
    otherwise: 'none',
    help: 'key of the service (ps shows it; use TTS_API_KEY)',
    secret: true,
    ofRequests: true,
  }),
  apiKeyFile: rule({
    kind: fileName,
    env: 'TTS_API_KEY_FILE',
    key: 'apiKeyFile',
    otherwise: 'none',
    help: 'a file that holds the key',
  }),
  keys: rule({
    kind: keys,
    key: 'keys',
    otherwise: 'none',
    help: 'keys by base URL; tts login keeps them in a file of its own',
    secret: true,
    userOnly: true,
    combine: byName,
  }),
  maxChars: rule({
    kind: number({ min: 1, max: 1_000_000, whole: true }),
    flags: '--max-chars <n>',
    env: 'TTS_MAX_CHARS',
    key: 'maxChars',
    fallback: 1000,
    help: 'longest text of one request',
  }),
  concurrency: rule({
    kind: number({ min: 1, max: 64, whole: true }),
    flags: '--concurrency <n>',
    env: 'TTS_CONCURRENCY',
    key: 'concurrency',
    fallback: 4,
    help: 'requests at once, at most',
  }),
  speed: rule({
    kind: speed,
    flags: '--speed <factor>',
    key: 'speed',
    otherwise: '1',
    brief: 'faster or slower, 0.5 to 3, with the pitch kept',
    help: 'how fast it is heard, 0.5 to 3, with the pitch kept',
    ofSound: true,
  }),
  marks: rule({
    kind: toggle,
    flags: '--marks',
    key: 'marks',
    fallback: false,
    help: 'obey [pause:1s], [voice:NAME], [chapter:Title] in the text',
  }),
  voices: rule({
    kind: voices,
    flags: '--voices <name=voice,...>',
    key: 'voices',
    otherwise: 'none',
    help: 'voices for lines such as "Alice: Hello"; * = other names; may be given several times',
    brief: 'voices for lines such as "Alice: Hello"; * = other names',
    repeats: true,
    combine: byName,
  }),
  pauses: rule({
    kind: pauses,
    flags: '--pauses <border=seconds,...>',
    key: 'pauses',
    otherwise: 'chapter=1.5,scene=1.2,heading=0.8,paragraph=0.3,sentence=0',
    help: 'silence at each border of the text; may be given several times',
    repeats: true,
    combine: byName,
    ofSound: true,
  }),
  paragraphPause: rule({
    kind: number({ min: 0, max: 60, unit: 'seconds' }),
    flags: '--paragraph-pause <seconds>',
    key: 'paragraphPause',
    fallback: 0.3,
    help: 'short for --pauses paragraph=SECONDS',
    ofSound: true,
  }),
  cache: rule({
    kind: toggle,
    flags: '--no-cache',
    env: 'TTS_CACHE',
    envShown: 'TTS_CACHE=0',
    key: 'cache',
    keyShown: 'cache: false',
    fallback: true,
    help: 'neither read nor write the cache',
    ofRequests: true,
  }),
  cacheSize: rule({
    kind: byteCount,
    key: 'cacheSize',
    fallback: 4 * 2 ** 30,
    otherwise: '4 GiB, at most a tenth of the free room',
    help: 'what the cache may hold',
    userOnly: true,
  }),
  subtitles: rule({
    kind: fileName,
    flags: '--subtitles <file>',
    otherwise: 'none',
    help: 'also write timed subtitles: .srt, .vtt or .json',
  }),
  dryRun: rule({
    kind: toggle,
    flags: '--dry-run',
    fallback: false,
    help: 'send nothing; show what the run would cost',
  }),
  pricePer1000Chars: rule({
    kind: number({ min: 0, max: 1_000_000 }),
    key: 'pricePer1000Chars',
    otherwise: 'no price is shown',
    help: 'what 1000 characters cost, for --dry-run',
  }),
  currency: rule({
    kind: words,
    key: 'currency',
    otherwise: 'none is shown',
    help: 'currency of pricePer1000Chars: EUR, $',
  }),
  timeout: rule({
    kind: number({ min: 0.001, max: 86_400, unit: 'seconds' }),
    flags: '--timeout <seconds>',
    env: 'TTS_TIMEOUT',
    key: 'timeout',
    fallback: 60,
    help: 'give up when the service is silent this long',
    ofRequests: true,
  }),
  inputTimeout: rule({
    kind: number({ min: 0.1, max: 86_400, unit: 'seconds' }),
    flags: '--input-timeout <seconds>',
    otherwise: 'no limit',
    help: 'give up when the writer of the text is silent this long',
  }),
  retries: rule({
    kind: number({ min: 0, max: 100, whole: true }),
    flags: '--retries <n>',
    env: 'TTS_RETRIES',
    key: 'retries',
    fallback: 3,
    help: 'further tries of each request',
    ofRequests: true,
  }),
  proxy: rule({
    kind: proxyUrl,
    flags: '--proxy <url>',
    envShown: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    key: 'proxy',
    otherwise: 'none',
    help: 'go through a proxy (http or https)',
    ofRequests: true,
  }),
  allowInsecureHttp: rule({
    kind: toggle,
    flags: '--allow-insecure-http',
    key: 'allowInsecureHttp',
    fallback: false,
    help: 'send the key over plain http',
    userOnly: true,
    ofRequests: true,
  }),
  trustedBaseUrls: rule({
    kind: list(baseUrl),
    key: 'trustedBaseUrls',
    otherwise: 'none',
    help: "base URLs to which a project's file may have your key sent",
    userOnly: true,
  }),
  config: rule({
    kind: fileName,
    flags: '--config <file>',
    env: 'TTS_CONFIG',
    otherwise: "search: project folder upwards, then the user's",
    help: 'use only this config file',
    ofRequests: true,
  }),
  clobber: rule({
    kind: toggle,
    flags: '--no-clobber',
    fallback: true,
    help: 'do not overwrite an existing file',
  }),
  keepGoing: rule({
    kind: toggle,
    flags: '--keep-going',
    fallback: false,
    help: 'leave out what the service refuses, warn, and end with 9',
  }),
  keepPartial: rule({
    kind: toggle,
    flags: '--keep-partial',
    fallback: false,
    help: 'after an error keep what is there: out.partial.wav',
  }),
  quiet: rule({ kind: toggle, flags: '-q, --quiet', fallback: false, help: 'errors only', ofRequests: true }),
  verbose: rule({
    kind: toggle,
    flags: '-v, --verbose',
    fallback: false,
    help: 'print each step',
    ofRequests: true,
  }),
  json: rule({
    kind: toggle,
    flags: '--json',
    fallback: false,
    help: 'report the result or error as one JSON object',
    ofRequests: true,
  }),
} as const;

export type Name = keyof typeof rules;
export type Value<N extends Name> = (typeof rules)[N] extends Rule<infer T> ? T : never;

export function ruleOf(name: Name): Rule<unknown> {
  return rules[name] as Rule<unknown>;
}

export const settingNames = Object.keys(rules) as readonly Name[];
