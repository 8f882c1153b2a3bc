import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../kit/address.ts';
import { TtsError, usageError } from '../kit/error.ts';
import { yieldToEventLoop } from '../kit/wait.ts';
import { type Exchange, Refusal, readJson, sendJson } from './http.ts';

export interface Effects {
  /** This status is sent in place of audio. */
  readonly status?: number;
  /** Seconds. The header `Retry-After` has them. */
  readonly retryAfter?: number;
  /** Milliseconds. The answer waits for them. */
  readonly delay?: number;
  /** Bytes. The connection ends after them. */
  readonly dropAfter?: number;
  /** True ends the answer after half of the promised samples. */
  readonly truncate?: boolean;
  readonly wavHeader?: HeaderFault;
  readonly contentType?: string;
  readonly hang?: boolean;
  /** The connection ends like this after `dropAfter` bytes, or in place of an answer. */
  readonly ending?: 'reset' | 'close';
  /** Bytes per second. */
  readonly bandwidth?: number;
  /** Bytes. No write is longer. */
  readonly slice?: number;
}

/** `zero` and `max` (0xFFFFFFFF) spoil both size fields; `per-chunk` repeats the header; `none` is bare PCM. */
export const headerFaults = ['zero', 'max', 'per-chunk', 'none'] as const;
export type HeaderFault = (typeof headerFaults)[number];

export const LISTED_REQUESTS = 1000;

export interface Fault {
  /** The fault, as the user wrote it. */
  readonly spec: string;
  readonly effects: Effects;
  readonly match?: string;
  readonly speaker?: number;
  readonly after?: number;
  readonly every?: number;
  /** The share of the requests that meet it, from 0 to 1. */
  readonly rate?: number;
  readonly times?: number;
}

export interface FaultOutcome {
  readonly effects: Effects;
  readonly specs: readonly string[];
}

/**
 * Faults in place of audio come first. An effect that is set is not replaced.
 * @param random gives a number from 0 to below 1
 */
export function createFaults(
  faults: readonly Fault[],
  random = Math.random,
): (text: string, speaker?: number) => FaultOutcome {
  const remaining = new Map(faults.map((fault) => [fault, fault.times ?? Number.POSITIVE_INFINITY]));
  const seen = new Map<Fault, number>();
  const meets = (fault: Fault, text: string, speaker: number | undefined) => {
    const { match = '', after = 0, every = 1, rate = 1 } = fault;
    if (!text.includes(match) || (fault.speaker !== undefined && fault.speaker !== speaker)) return false;
    const number = (seen.get(fault) ?? 0) + 1;
    seen.set(fault, number);
    const isDue = number > after && (number - after) % every === 0;
    return isDue && (remaining.get(fault) ?? 0) > 0 && random() < rate;
  };
  const ordered = faults.toSorted(
    (a, b) => Number(replacesAudio(b.effects)) - Number(replacesAudio(a.effects)),
  );
  return (text, speaker) => {
    let effects: Effects = {};
    const specs: string[] = [];
    for (const fault of ordered.filter((one) => meets(one, text, speaker))) {
      const added = addedTo(effects, fault.effects);
      if (Object.keys(added).length === 0) continue;
      remaining.set(fault, (remaining.get(fault) ?? 0) - 1);
      specs.push(fault.spec);
      effects = { ...effects, ...added };
    }
    return { effects, specs };
  };
}

function replacesAudio({ status, hang, ending, dropAfter }: Effects): boolean {
  return status !== undefined || hang === true || (ending !== undefined && dropAfter === undefined);
}

function addedTo(sum: Effects, further: Effects): Effects {
  const isDropped = sum.dropAfter !== undefined;
  const shows = (name: string) =>
    !(name in sum) && (name === 'delay' || !replacesAudio(sum)) && !(name === 'ending' && isDropped);
  return Object.fromEntries(Object.entries(further).filter(([name]) => shows(name)));
}

const WRITES_PER_SECOND = 20;

/** Milliseconds. A longer pause of the engine does not make later bytes faster. */
const CATCH_UP = 100;

/** Milliseconds. Node's timers wait no longer. */
const LONGEST_SLEEP = 2 ** 31 - 1;

export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { bandwidth = Number.POSITIVE_INFINITY, slice = Math.ceil(bandwidth / WRITES_PER_SECOND) }: Effects,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let due = performance.now();
  for await (const piece of body) {
    for (let at = 0; at < piece.length; at += slice) {
      const wait = Math.min(due - performance.now(), LONGEST_SLEEP);
      // A turn of the event loop keeps two writes apart.
      await (wait >= 1 ? sleep(wait, undefined, { signal }) : yieldToEventLoop());
      const part = piece.subarray(at, at + slice);
      due = Math.max(due, performance.now() - CATCH_UP) + (1000 * part.length) / bandwidth;
      yield part;
    }
  }
}

const CONDITIONS = ['match', 'speaker', 'after', 'every', 'times', 'rate'] as const;
type Condition = (typeof CONDITIONS)[number];

type Part = { readonly effects: Effects } | Partial<Pick<Fault, Condition>>;

type Reader = (value: string) => Part | undefined;

/** Milliseconds. Node's timers wait no longer. */
const LONGEST_DELAY = 2 ** 31 - 1;

const parts: Readonly<
  Record<string, { readonly form: string; readonly help: string; readonly read: Reader }>
> = {
  status: {
    form: 'status=300..599',
    help: 'answers with this status',
    read: integer(300, 599, (status) => ({ effects: { status } })),
  },
  'retry-after': {
    form: 'retry-after=SECONDS',
    help: 'sends Retry-After with the status',
    read: integer(0, 86_400, (retryAfter) => ({ effects: { retryAfter } })),
  },
  delay: {
    form: 'delay=2s (24 days at most)',
    help: 'waits before the answer',
    read: measure(/^(\d+(?:\.\d+)?)(ms|s|m)?$/, { ms: 1, s: 1000, m: 60_000 }, 's', (delay) =>
      delay <= LONGEST_DELAY ? { effects: { delay } } : undefined,
    ),
  },
  'drop-after': {
    form: 'drop-after=64k',
    help: 'ends the connection after N bytes of the body',
    read: bytes((dropAfter) => ({ effects: { dropAfter } })),
  },
  close: {
    form: 'close',
    help: 'ends the connection in order (FIN): after drop-after, or in place of an answer',
    read: flag({ ending: 'close' }),
  },
  reset: {
    form: 'reset',
    help: 'ends it with a TCP reset (RST); bytes under way may be lost',
    read: flag({ ending: 'reset' }),
  },
  bandwidth: {
    form: 'bandwidth=16k',
    help: 'sends at most N bytes of the body in a second',
    read: bytes((bandwidth) => (bandwidth > 0 ? { effects: { bandwidth } } : undefined)),
  },
  slice: {
    form: 'slice=100',
    help: 'sends the body in writes of N bytes',
    read: bytes((slice) => (slice > 0 ? { effects: { slice } } : undefined)),
  },
  truncate: {
    form: 'truncate',
    help: 'ends the answer in order, with half of the promised samples',
    read: flag({ truncate: true }),
  },
  'wav-header': {
    form: `wav-header=${headerFaults.join('|')}`,
    help: 'spoils the sizes of the header, repeats it, or leaves it out',
    read: (value) => (isHeaderFault(value) ? { effects: { wavHeader: value } } : undefined),
  },
  'content-type': {
    form: 'content-type=text/html',
    help: 'sends this Content-Type',
    read: (contentType) => (/^[\x21-\x7e]+$/.test(contentType) ? { effects: { contentType } } : undefined),
  },
  hang: { form: 'hang', help: 'never answers', read: flag({ hang: true }) },
  speaker: {
    form: 'speaker=11',
    help: 'for requests with this speaker',
    read: integer(0, Number.MAX_SAFE_INTEGER, (speaker) => ({ speaker })),
  },
  after: {
    form: 'after=5',
    help: 'not for the first N requests',
    read: integer(0, Number.MAX_SAFE_INTEGER, (after) => ({ after })),
  },
  every: {
    form: 'every=3',
    help: 'for each third request',
    read: integer(1, Number.MAX_SAFE_INTEGER, (every) => ({ every })),
  },
  times: {
    form: 'times=2',
    help: 'for N requests only',
    read: integer(1, Number.MAX_SAFE_INTEGER, (times) => ({ times })),
  },
  match: {
    form: 'match=TEXT',
    help: 'for texts that hold these words',
    read: (match) => (match === '' ? undefined : { match }),
  },
  rate: {
    form: 'rate=0.1',
    help: 'for this share of the requests, at random',
    read: (value) => {
      const rate = /^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
      return rate >= 0 && rate <= 1 ? { rate } : undefined;
    },
  },
};

export function faultHelp(): string {
  return [
    '--fault SPEC: parts separated by commas; effects, and the requests that they are for. Repeatable.',
    ...Object.values(parts).map(({ form, help }) => `  ${form.padEnd(36)} ${help}`),
    'Examples:',
    '  --fault status=429,times=2,retry-after=1',
    '  --fault drop-after=64k,every=3 --fault "hang,match=Yes\\, sir"',
    '  --fault drop-after=64k,reset,times=1 --fault close,speaker=11',
    '  --fault bandwidth=16k,slice=100',
    '--fault none begins without faults. While it runs, from this machine and with the key:',
    '  PUT /faults    takes others in place of these: ["status=503,times=1"], or [] for none',
    `  GET /requests  tells of the last ${LISTED_REQUESTS} requests: number, method, path, speaker, characters,`,
    '                 status, and the faults that they met',
  ].join('\n');
}

const SPOILING = ['drop-after', 'truncate', 'wav-header', 'content-type', 'bandwidth', 'slice'];
const ENDING = ['reset', 'close'];

const contradictions: Readonly<Record<string, readonly string[]>> = {
  hang: ['status', 'retry-after', 'delay', ...SPOILING, ...ENDING],
  status: [...SPOILING, ...ENDING],
  truncate: ['drop-after'],
  reset: ['close', ...SPOILING],
  close: SPOILING,
};

export function parseFaults(specs: readonly string[]): Fault[] {
  return specs.filter((spec) => spec !== 'none').map(parseFault);
}

/** A backslash before a comma makes it a part of the value. */
const SEPARATOR = /(?<=(?<!\\)(?:\\\\)*),/;

/**
 * Reads one fault, such as `status=429,times=2,retry-after=1`. `\,` is a comma, `\\` a backslash.
 * @throws TtsError (usage)
 */
export function parseFault(spec: string): Fault {
  let fault: Fault = { spec, effects: {} };
  const names: string[] = [];
  for (const word of spec.split(SEPARATOR)) {
    const [name = '', ...rest] = word.trim().split('=');
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (part === undefined) throw badFault(spec, `there is no "${name}"`, Object.keys(parts).join(', '));
    const read = part.read(rest.join('=').replace(/\\([\\,])/g, '$1'));
    if (read === undefined) throw badFault(spec, `"${word}" is not understood`, part.form);
    fault = { ...fault, ...read, effects: { ...fault.effects, ...('effects' in read ? read.effects : {}) } };
    names.push(name);
  }
  checkNames(names, spec);
  return fault;
}

function checkNames(names: readonly string[], spec: string): void {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    throw badFault(spec, `it says ${repeated} twice`, 'each once; --fault as often as wanted');
  const effects = names.filter((name) => !['retry-after', ...CONDITIONS].includes(name));
  if (effects.length === 0) {
    throw badFault(
      spec,
      'it says when, but not what',
      'status, delay, drop-after, truncate, hang, and others',
    );
  }
  const isLate = (name: string, other: string) =>
    ENDING.includes(name) && names.includes('drop-after') && SPOILING.includes(other);
  for (const name of names) {
    const other = contradictions[name]?.find((one) => names.includes(one) && !isLate(name, one));
    if (other !== undefined)
      throw badFault(spec, `${name} and ${other} contradict each other`, 'one of the two');
  }
  if (names.includes('retry-after') && !names.includes('status')) {
    throw badFault(spec, 'retry-after is sent with a status only', 'status=429,retry-after=1');
  }
}

function badFault(spec: string, reason: string, allowed: string): TtsError {
  return usageError(`bad value for --fault: ${spec}: ${reason}`, `allowed: ${allowed}`);
}

function flag(effects: Effects): Reader {
  return (value) => (value === '' ? { effects } : undefined);
}

function integer(least: number, most: number, part: (value: number) => Part): Reader {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? part(value) : undefined;
  };
}

function measure(
  form: RegExp,
  units: Readonly<Record<string, number>>,
  unit: string,
  part: (value: number) => Part | undefined,
): Reader {
  return (text) => {
    const [, number, given = unit] = form.exec(text) ?? [];
    const factor = units[given.toLowerCase()];
    return number === undefined || factor === undefined
      ? undefined
      : part(Math.round(Number(number) * factor));
  };
}

function bytes(part: (value: number) => Part | undefined): Reader {
  return measure(/^(\d+)(b|k|m)?$/i, { b: 1, k: 1024, m: 1024 ** 2 }, 'b', part);
}

function isHeaderFault(value: string): value is HeaderFault {
  return (headerFaults as readonly string[]).includes(value);
}

interface Entry {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly details: Exchange['details'];
  /** It is `undefined` before the answer, and if there is none. */
  status: () => number | undefined;
  faults: readonly string[];
}

export class FaultControl {
  #next: ReturnType<typeof createFaults>;
  #came = 0;
  readonly #entries: Entry[] = [];
  readonly #ofExchange = new WeakMap<Exchange, Entry>();

  constructor(faults: readonly Fault[]) {
    this.#next = createFaults(faults);
  }

  /** Adds a request to the list of `GET /requests`. */
  record(exchange: Exchange): void {
    const { request, response, path, details } = exchange;
    this.#came += 1;
    const status = () => details.status ?? (response.headersSent ? response.statusCode : undefined);
    const entry = { number: this.#came, method: request.method ?? '', path, details, status, faults: [] };
    response.once('close', () => {
      const last = entry.status();
      entry.status = () => last;
    });
    this.#ofExchange.set(exchange, entry);
    this.#entries.push(entry);
    if (this.#entries.length > LISTED_REQUESTS) this.#entries.shift();
  }

  effectsOn(exchange: Exchange, text: string, speaker: number): Effects {
    const { effects, specs } = this.#next(text, speaker);
    const entry = this.#ofExchange.get(exchange);
    if (entry) entry.faults = specs;
    return effects;
  }

  /** @throws Refusal 403 for another machine, 422 for a fault that it cannot read */
  async change(exchange: Exchange, limit: number): Promise<void> {
    checkOrigin(exchange);
    const faults = readFaults(await readJson(exchange.request, exchange.response, limit));
    this.#next = createFaults(faults);
    sendJson(exchange, 200, { faults: faults.map(({ spec }) => spec) });
  }

  /** @throws Refusal 403 for another machine */
  list(exchange: Exchange): void {
    checkOrigin(exchange);
    const requests = this.#entries.map(({ number, method, path, details, status, faults }) => {
      const { speaker, characters } = details;
      return { number, method, path, speaker, characters, status: status(), faults };
    });
    sendJson(exchange, 200, { requests });
  }
}

function checkOrigin({ request }: Exchange): void {
  if (isLoopback(request.socket.remoteAddress ?? '')) return;
  throw new Refusal(403, 'loopback_only', 'Faults and requests are for programs on the same machine only');
}

function readFaults(body: unknown): Fault[] {
  if (!Array.isArray(body) || !body.every((word) => typeof word === 'string')) {
    throw new Refusal(422, 'invalid_fault', 'The body must be an array of texts, as --fault takes them');
  }
  try {
    return parseFaults(body);
  } catch (error) {
    if (!(error instanceof TtsError)) throw error;
    throw new Refusal(422, 'invalid_fault', `${error.message}; ${error.hint}`);
  }
}
