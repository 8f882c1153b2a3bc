/** Schemas of `--engine` and of an entry of `engines` in a config file. */
import { percentDecoded, withoutEndSlashes } from '../kit/address.ts';
import {
  checked,
  choice,
  later,
  list,
  named,
  object,
  optional,
  text,
  textAs,
  type ValueOf,
  whole,
} from '../kit/schema.ts';
import { BASE_URL, command, commandIn, fileIn, readBaseUrl, readUrl, sampleRate, words } from './kinds.ts';

const entry = () =>
  checked(
    object({
      /** The address of a server with OpenAI's `/audio/speech`. */
      url: optional(textAs((typed) => (readBaseUrl(typed) ? typed : undefined), `must be ${BASE_URL}`)),
      /** The folder of a model, or a server's name for one. */
      model: optional(words),
      key: optional(text(/\S/, 'is not text: a key of digits needs quotes')),
      keyFile: optional(words),
      format: optional(choice('wav', 'pcm')),
      command: optional(command),
      output: optional(choice('wav', 's16le')),
      sampleRate: optional(sampleRate),
      voices: optional(list(words)),
      /** A BCP 47 tag: the language for a multilingual model, and for numbers in words. */
      language: optional(words),
      /** Set for an engine that cannot read digits: it gets numbers as words of `language`. */
      numbers: optional(choice('words')),
      /** Most characters per call. */
      maxChars: optional(whole({ min: 1, max: 1_000_000 })),
      concurrency: optional(whole({ min: 1, max: 64 })),
    }),
    (entry) => {
      const { url, command, model, output, format, sampleRate } = entry;
      if (url === undefined && command === undefined && model === undefined)
        return `has none of "url", "command" and "model"; ${EXAMPLE}`;
      if (url !== undefined && command !== undefined)
        return 'has both "url" and "command": an engine is a server or a program';
      // Samples without a header do not contain their rate.
      const isBare = output === 's16le' || format === 'pcm';
      return isBare && sampleRate === undefined
        ? 'has no "sampleRate", which bare samples need: 22050'
        : numbersFault(entry);
    },
  );

interface EntryValues {
  readonly url?: string;
  readonly command?: readonly string[];
  readonly numbers?: string;
  readonly language?: string;
}

/** Returns what is wrong with `numbers`, if anything. */
function numbersFault({ url, command, numbers, language }: EntryValues): string | undefined {
  if (numbers === undefined) return undefined;
  if (url === undefined && command === undefined)
    return 'has "numbers", which is for a server or a program: what a model reads is known from its files';
  return language === undefined
    ? 'has "numbers" and no "language", which says in which words: "de"'
    : undefined;
}

const EXAMPLE = 'as in "engines": { "kokoro": { "url": "http://127.0.0.1:8880/v1" } }';

/** A checked entry: a server, a program, or a folder with a model. */
export type EngineEntry = ValueOf<ReturnType<typeof entry>>;

export const engines = later(() =>
  named(
    text(/^[\w.\p{L}\p{N}-]+$/u, 'cannot be the name of an engine: use letters, digits, "-" and "_"'),
    entry(),
    `must be names with their engines, ${EXAMPLE}`,
  ),
);

export function enginesIn(
  folder: string,
  entries: ReadonlyMap<string, EngineEntry>,
): ReadonlyMap<string, EngineEntry> {
  return new Map([...entries].map(([name, entry]) => [name, engineIn(folder, entry)]));
}

/** Resolves paths of an entry against a folder, except a server's model, which is a name. */
function engineIn(folder: string, entry: EngineEntry): EngineEntry {
  const { url, model, keyFile, command: program } = entry;
  return {
    ...entry,
    ...(program && { command: commandIn(folder, program) }),
    ...(keyFile !== undefined && { keyFile: fileIn(folder, keyFile) }),
    ...(model !== undefined && url === undefined && { model: fileIn(folder, model) }),
  };
}

export interface ServerAddress {
  readonly url: URL;
  /** `user:password` for HTTP basic authentication. */
  readonly login?: string;
}

/**
 * Separates user name and password from an address, so that nothing that shows or stores the address can leak them. An
 * address without a path gets `/v1`, the path of OpenAI's interface.
 * @returns `undefined` if the text is not an address
 */
export function serverAddress(text: string): ServerAddress | undefined {
  const given = readUrl(text);
  if (!given || given.search || given.hash) return undefined;
  const { username, password } = given;
  const address = new URL(given);
  address.username = '';
  address.password = '';
  address.pathname = withoutEndSlashes(given.pathname) || '/v1';
  const login = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return login === ':' ? { url: address } : { url: address, login };
}

/** True for a text that begins like a URL, even if it is not a whole one. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** The value of `--engine`. Names are checked later, when the engines are known. */
export const engine = textAs(
  (typed) => (typed.trim() === '' || (isAddress(typed) && !serverAddress(typed)) ? undefined : typed),
  (typed) =>
    isAddress(typed)
      ? 'must be the whole URL of a server, as in http://127.0.0.1:8880/v1, without "?" or "#"'
      : 'must be a name, a folder, or a URL that begins with http:// or https://',
);
