/** Lets one run speak at a time on a channel; `tts stop`, `tts pause` and `tts resume`. */
import { existsSync, fstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { ExitCode, Silenced, type TtsError, usageError } from '../kit/error.ts';
import { cacheFolder, makeFolder, namesIn } from '../kit/folders.ts';
import { isOwnFolder, ownCacheFolder, readOwn } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';
import { birthOf } from '../kit/lock.ts';
import { delay } from '../kit/wait.ts';
import { loadSettings } from '../options/load.ts';
import type { CommandLine, CommandModule, Context } from './commands.ts';

/** One speaker at a time: a new run stops the others, or waits for its turn. */
interface ChannelPlan {
  readonly name: string | undefined;
  readonly interrupts: boolean;
  /** True for a run that neither waits nor stops others; others can still stop it or wait for it. */
  readonly joins?: boolean;
}

type ChannelHost = TicketHost &
  Pick<Host, 'env' | 'home' | 'platform' | 'askToEnd' | 'askToLook' | 'on' | 'off'>;

/** Milliseconds between two looks at the previous run. One that is itself waiting is looked at less often. */
const LOOK_MS = { speaks: 20, waits: 100 };
/** Longest wait, in milliseconds, for earlier runs that are not listed yet. It is as long as this run's own start. */
const MOST_AWAITED_MS = 500;

/**
 * Waits until no other run speaks on the channel.
 * @returns `undefined` for a run that joins, if there is no terminal or no folder for runs
 * @throws TtsError (usage) for a name that is not allowed; Silenced; the signal's reason
 */
export async function takeChannel(
  { name, interrupts, joins = false }: ChannelPlan,
  host: ChannelHost,
  signal: AbortSignal,
): Promise<Turn | undefined> {
  const folder = joins && terminal() === undefined ? undefined : folderOf(name, host);
  if (folder === undefined) {
    if (joins) return undefined;
    throw noFolder(host);
  }
  const tickets = new Tickets(folder, host);
  // Listen before the file exists: the SIGUSR2 of a program that finds it would end a process without a listener.
  const turn = new Turn(tickets, host);
  try {
    tickets.write(joins ? 'speaks' : 'waits');
    if (!joins) await waitForTurn(tickets, { interrupts }, host, signal);
    turn.begin();
    return turn;
  } catch (error) {
    const { isSilenced } = turn;
    turn[Symbol.dispose]();
    if (joins) return undefined;
    throw signal.aborted && isSilenced ? new Silenced() : error;
  }
}

/** Two runs that start to speak at once see each other, both step back, and the earlier one goes first. */
async function waitForTurn(
  tickets: Tickets,
  { interrupts }: Pick<ChannelPlan, 'interrupts'>,
  host: ChannelHost,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<string>();
  if (!interrupts) await delay(Math.min(performance.now(), MOST_AWAITED_MS), signal);
  for (;;) {
    const others = tickets.others();
    for (const other of interrupts ? others.filter((each) => tickets.isEarlier(each)) : []) {
      if (!asked.has(other.path)) silence(other, tickets, host);
      asked.add(other.path);
    }
    const before = others.findLast((each) => each.state === 'speaks' || tickets.isEarlier(each));
    if (before) {
      await gone(before, tickets, signal);
      continue;
    }
    tickets.write('speaks');
    if (tickets.others().every(({ state }) => state === 'waits')) return;
    tickets.write('waits');
    await delay(LOOK_MS.speaks, signal);
  }
}

/** Waits until the run has ended or changed its state. Each waiting run polls a single file. */
async function gone({ path, state }: Ticket, tickets: Tickets, signal: AbortSignal): Promise<void> {
  while (tickets.look(path)?.state === state) await delay(LOOK_MS[state], signal);
}

/** The turn of a run to speak on its channel. */
export class Turn implements Disposable {
  readonly #tickets: Tickets;
  readonly #host: ChannelHost;
  readonly #look = () => this.#notifyListener();
  #listener: (isPaused: boolean) => void = () => {};
  #hasBegun = false;
  #isPaused = false;

  constructor(tickets: Tickets, host: ChannelHost) {
    this.#tickets = tickets;
    this.#host = host;
    host.on('SIGUSR2', this.#look);
  }

  /** True if `tts stop` or the next run is about to end this run. */
  get isSilenced(): boolean {
    return this.#tickets.isSilenced;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#notifyListener();
  }

  /** @param listener is called when the run is paused or resumed */
  onPause(listener: (isPaused: boolean) => void): void {
    this.#listener = listener;
    if (this.#isPaused) listener(true);
  }

  [Symbol.dispose](): void {
    this.#tickets.remove();
    this.#host.off('SIGUSR2', this.#look);
  }

  #notifyListener(): void {
    const { isPaused } = this.#tickets;
    if (!this.#hasBegun || isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#listener(isPaused);
  }
}

type Act = (run: Ticket, tickets: Tickets, host: ChannelHost) => boolean;

/** Actions on a run, by their key in `--json`. Each returns whether it had an effect. */
const ACTS = {
  stopped(run, tickets, host) {
    silence(run, tickets, host);
    return true;
  },
  paused(run, tickets, host) {
    if (run.state !== 'speaks') return false;
    tickets.mark(run, '.paused');
    askToLook(run, host);
    return true;
  },
  resumed(run, tickets, host) {
    if (!tickets.unmark(run)) return false;
    askToLook(run, host);
    return true;
  },
} satisfies Record<string, Act>;

/**
 * Stops, pauses or resumes the runs of a channel.
 * @returns their number
 * @throws TtsError (usage) for a name that is not allowed
 */
export function actOn(name: string | undefined, done: keyof typeof ACTS, host: ChannelHost): number {
  const folder = folderOf(name, host);
  if (folder === undefined) throw noFolder(host);
  const tickets = new Tickets(folder, host);
  return tickets.all().filter((run) => ACTS[done](run, tickets, host)).length;
}

function askToLook({ pid }: Ticket, host: ChannelHost): void {
  if (host.platform === 'win32') throw usageError('a run cannot be paused on Windows', 'tts stop ends it');
  try {
    host.askToLook(pid);
  } catch {
    // The run has ended by itself.
  }
}

/** Marks a run and ends it. A run that finds the mark when the signal comes prints nothing. */
function silence(run: Ticket, tickets: Tickets, host: ChannelHost): void {
  try {
    tickets.mark(run, '.silenced');
  } catch {
    // Without the mark, the run prints that it was terminated.
  }
  try {
    host.askToEnd(run.pid);
  } catch {
    // The run has ended by itself.
  }
}

function command(done: keyof typeof ACTS): CommandModule {
  return {
    async run(line: CommandLine, context: Context): Promise<number> {
      const { host, notices } = context;
      const { settings } = await loadSettings(line, context);
      const count = actOn(settings.channel?.value, done, host);
      if (notices.json) notices.result({ [done]: count });
      else if (count === 0)
        notices.note(done === 'resumed' ? 'nothing is paused here' : 'nothing is speaking here');
      return ExitCode.ok;
    },
  };
}

export const pause = command('paused');
export const resume = command('resumed');
export const stop = command('stopped');

type TicketHost = Pick<Host, 'pid' | 'realm' | 'uid' | 'isRunning'>;

type State = 'waits' | 'speaks';

/** A live run of a channel. Paths sort by the time when the runs were started. */
interface Ticket {
  readonly path: string;
  readonly pid: number;
  readonly state: State;
}

/** Content of a ticket's file. `birth` tells a process from a dead one that had the same ID. */
type TicketContent = readonly [pid: number, realm: string, birth: string, state: State];

/** Endings of the empty files that other runs and commands put next to the file of a run. */
const MARKS = ['.paused', '.silenced'] as const;
type Mark = (typeof MARKS)[number];

/** The runs of a channel. Each has a file in the folder of the channel. */
class Tickets {
  readonly #folder: string;
  readonly #host: TicketHost;
  readonly #mine: string;

  constructor(folder: string, host: TicketHost) {
    this.#folder = folder;
    this.#host = host;
    const started = birthOf(host.pid) || String(Math.round(performance.timeOrigin));
    this.#mine = join(folder, `${started.padStart(18, '0')}-${String(host.pid).padStart(10, '0')}`);
  }

  /** @throws the system's error */
  write(state: State): void {
    const { pid, realm } = this.#host;
    const content: TicketContent = [pid, realm, birthOf(pid), state];
    makeFolder(this.#folder);
    const draft = join(this.#folder, `new-${pid}`);
    writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
    renameSync(draft, this.#mine);
  }

  remove(): void {
    remove(this.#mine);
  }

  /** True if `tts pause` has marked this run. */
  get isPaused(): boolean {
    return this.#has('.paused');
  }

  /** True if `tts stop` or the next run is about to end this run. */
  get isSilenced(): boolean {
    return this.#has('.silenced');
  }

  /** The other runs, the earliest first. Files of dead ones are removed. */
  others(): Ticket[] {
    return this.all().filter(({ path }) => path !== this.#mine);
  }

  isEarlier({ path }: Ticket): boolean {
    return path < this.#mine;
  }

  all(): Ticket[] {
    const names = this.#names().sort();
    for (const name of names)
      if (markOf(name) && !names.includes(name.slice(0, name.lastIndexOf('.'))))
        rmSync(join(this.#folder, name), { force: true });
    const files = names.filter((name) => !markOf(name));
    return files.flatMap((name) => this.look(join(this.#folder, name)) ?? []);
  }

  /** @returns `undefined` for a run that is gone, or of another machine */
  look(path: string): Ticket | undefined {
    const content = this.#read(path);
    if (content?.[1] !== this.#host.realm) return undefined;
    const [pid, , birth, state] = content;
    if (this.#host.isRunning(pid) && birthOf(pid) === birth) return { path, pid, state };
    remove(path);
    return undefined;
  }

  /** @throws the system's error */
  mark({ path }: Pick<Ticket, 'path'>, mark: Mark): void {
    writeFileSync(`${path}${mark}`, '', { mode: 0o600 });
  }

  /** @returns true if the run was paused */
  unmark({ path }: Ticket): boolean {
    try {
      rmSync(`${path}.paused`);
      return true;
    } catch {
      return false;
    }
  }

  #has(mark: Mark): boolean {
    return existsSync(`${this.#mine}${mark}`);
  }

  #read(path: string): TicketContent | undefined {
    try {
      const content = JSON.parse(readOwn(path, this.#host.uid)) as TicketContent;
      return Number.isInteger(content[0]) && content[0] > 1 ? content : undefined;
    } catch {
      return undefined;
    }
  }

  #names(): string[] {
    return namesIn(this.#folder).filter((name) => /^\d/u.test(name));
  }
}

function markOf(name: string): Mark | undefined {
  return MARKS.find((mark) => name.endsWith(mark));
}

function remove(path: string): void {
  for (const end of ['', ...MARKS]) rmSync(`${path}${end}`, { force: true });
}

type User = Pick<Host, 'env' | 'home' | 'platform' | 'uid'>;

const NAME = /^(?!\.+$)[\w.-]{1,64}$/u;

/**
 * Returns the folder of a channel. Without a name, each terminal is a channel.
 * @returns `undefined` for a user without a folder of their own
 * @throws TtsError (usage) for a name that is not allowed
 */
function folderOf(name: string | undefined, user: User): string | undefined {
  if (name !== undefined && !NAME.test(name))
    throw usageError(
      `--channel: "${name}" is not allowed`,
      'name it with letters, digits, hyphens, underscores, and dots between them',
    );
  const folder = runtimeFolder(user) ?? ownCacheFolder(user);
  return folder && join(folder, 'run', name ?? terminal() ?? 'default');
}

function noFolder(user: User): TtsError {
  const folder = cacheFolder(user);
  if (folder === undefined)
    return usageError(
      'there is no folder for runs: HOME names none',
      'set HOME, or XDG_RUNTIME_DIR to a folder of your own',
    );
  return usageError(
    `runs are not kept in ${folder}: it is not in a folder of your own`,
    'set HOME to your own folder',
  );
}

/**
 * Returns a folder for runs that only its owner may enter, as the XDG Base Directory Specification requires: anybody else
 * who can write there could name any process as a run.
 */
function runtimeFolder({ env: { XDG_RUNTIME_DIR: folder }, uid }: User): string | undefined {
  return folder && isAbsolute(folder) && isOwnFolder(folder, uid) ? join(folder, 'tts') : undefined;
}

function terminal(): string | undefined {
  for (const fd of [2, 1, 0]) {
    try {
      const stats = fstatSync(fd);
      // Devices with major number 1, such as /dev/null, are not terminals.
      if (stats.isCharacterDevice() && stats.rdev >> 8 !== 1) return `terminal-${stats.rdev}`;
    } catch {}
  }
  return undefined;
}
