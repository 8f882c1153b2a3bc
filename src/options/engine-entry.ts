import { percentDecoded } from '../kit/address.ts';
import { keyHint } from '../kit/words.ts';
import {
  baseUrl,
  choice,
  command,
  describedValue,
  isObject,
  type Kind,
  type Locate,
  list,
  locatedCommand,
  namedMap,
  number,
  sampleRate,
  textual,
  url,
  type ValueFault,
  words,
} from './kinds.ts';

/** An engine is a server, a program, or a folder with a model. */
export interface EngineEntry {
  /** The address of a server with OpenAI's `/audio/speech`. */
  readonly url?: string;
  readonly model?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly format?: 'wav' | 'pcm';
  readonly command?: readonly string[];
  readonly output?: 'wav' | 's16le';
  /** Hz. */
  readonly sampleRate?: number;
  readonly voices?: readonly string[];
  /** A tag of BCP 47: what a model of several languages is to speak. */
  readonly language?: string;
  /** Characters in one call. */
  readonly maxChars?: number;
  readonly concurrency?: number;
}

export interface ServerAddress {
  readonly url: URL;
  /** The user name and the password, as they are typed in HTTP's basic authentication. */
  readonly login?: string;
}

/**
 * Takes user name and password out of an address, so that nothing that shows or keeps the address can give them away. An
 * address without a path gets `/v1`: OpenAI's interface lies there.
 * @returns `undefined` for text that is not such an address
 */
export function serverAddress(text: string): ServerAddress | undefined {
  const given = url('http', 'https').text(text);
  if (!given || given.search || given.hash) return undefined;
  const { username, password } = given;
  const address = new URL(given);
  address.username = '';
  address.password = '';
  address.pathname = given.pathname.replace(/\/+$/, '') || '/v1';
  const login = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return login === ':' ? { url: address } : { url: address, login };
}

export function isAddress(engine: string): boolean {
  return /^https?:\/\//i.test(engine);
}

const COMPLETE = 'write it as in http://127.0.0.1:8880/v1, without "?" or "#"';

/** The value of `--engine`. Only an address can be checked before the engines are known. */
export const engine = textual<string>({
  allowed: 'a name, a folder, or a URL that begins with http:// or https://, without "?" or "#"',
  text: (text) => (isAddress(text) && !serverAddress(text) ? undefined : words.text(text)),
  fault: (data) =>
    typeof data === 'string' && isAddress(data)
      ? { what: `${describedValue(data)} is not a complete URL of a server`, hint: COMPLETE }
      : undefined,
});

const engineFields: { readonly [F in keyof Required<EngineEntry>]: Kind<unknown> } = {
  url: baseUrl,
  model: words,
  key: words,
  keyFile: words,
  format: choice('wav', 'pcm'),
  command,
  output: choice('wav', 's16le'),
  sampleRate,
  voices: list(words),
  language: words,
  maxChars: number({ min: 1, max: 1_000_000, whole: true }),
  concurrency: number({ min: 1, max: 64, whole: true }),
};

const ENGINE = 'as in "engines": { "kokoro": { "url": "http://127.0.0.1:8880/v1" } }';

export const engines = namedMap<EngineEntry>({
  allowed: 'an object of names with their engines',
  faultIn: faultInEngines,
  read: (name, raw) => [name, readEngine(raw as EngineEntry)],
});

export function locatedEngines(
  entries: ReadonlyMap<string, EngineEntry>,
  locate: Locate,
): ReadonlyMap<string, EngineEntry> {
  return new Map([...entries].map(([name, entry]) => [name, locatedEngine(entry, locate)]));
}

/** The model of a server is a name, and not a path. */
function locatedEngine(entry: EngineEntry, locate: Locate): EngineEntry {
  const { url, model, keyFile, command: program } = entry;
  return {
    ...entry,
    ...(program && { command: locatedCommand(program, locate) }),
    ...(keyFile !== undefined && { keyFile: locate(keyFile) }),
    ...(model !== undefined && url === undefined && { model: locate(model) }),
  };
}

function readEngine(raw: EngineEntry): EngineEntry {
  return raw.command === undefined ? raw : { ...raw, command: command.data(raw.command) ?? [] };
}

function faultInEngines(data: object): ValueFault | undefined {
  for (const [name, raw] of Object.entries(data)) {
    if (!/^[\p{L}\p{N}_.-]+$/u.test(name))
      return {
        what: `${describedValue(name)} cannot be the name of an engine`,
        hint: 'use letters, digits, "-" and "_"',
      };
    const fault = isObject(raw) ? faultInEngine(raw) : { what: 'it is not an object', hint: ENGINE };
    if (fault) return { what: `${describedValue(name)}: ${fault.what}`, hint: fault.hint };
  }
  return undefined;
}

function faultInEngine(raw: EngineEntry): ValueFault | undefined {
  for (const [field, value] of Object.entries(raw)) {
    const kind = Object.hasOwn(engineFields, field) ? engineFields[field as keyof EngineEntry] : undefined;
    if (!kind)
      return {
        what: `unknown key ${describedValue(field)}`,
        hint: keyHint(field, Object.keys(engineFields)),
      };
    const shown = field === 'key' ? 'the value' : describedValue(value);
    if (kind.data(value) === undefined)
      return {
        what: `${shown} is not allowed for ${describedValue(field)}; expected ${kind.allowed}`,
        hint: ENGINE,
      };
  }
  if (raw.url === undefined && raw.command === undefined && raw.model === undefined)
    return { what: '"url", "command" or "model" is missing', hint: ENGINE };
  if (raw.url !== undefined && raw.command !== undefined)
    return { what: '"url" and "command" are given together', hint: 'an engine is a server or a program' };
  if (isBare(raw) && raw.sampleRate === undefined)
    return { what: '"sampleRate" is missing', hint: 'samples without a header need it: "sampleRate": 22050' };
  return undefined;
}

/** True for an engine whose samples have no header. */
function isBare({ output, format }: EngineEntry): boolean {
  return output === 's16le' || format === 'pcm';
}
