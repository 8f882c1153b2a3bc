import { type TtsError, usageError } from '../../error.ts';
import { type Effects, type Fault, type HeaderFault, headerFaults, LISTED_REQUESTS } from './fault.ts';

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
