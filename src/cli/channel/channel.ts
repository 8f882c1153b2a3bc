import { setTimeout as sleep } from 'node:timers/promises';
import { Silenced, usageError } from '../../error.ts';
import type { Host } from '../../host.ts';
import { folderOf, noFolder, terminal } from './place.ts';
import { type Ticket, type TicketHost, Tickets } from './tickets.ts';

/** One speaker at a time: a new run stops the others, or waits for its turn. */
export interface ChannelPlan {
  readonly name: string | undefined;
  readonly interrupts: boolean;
  /** True for a run that neither waits nor stops others, and can be stopped and waited for. */
  readonly joins?: boolean;
}

type ChannelHost = TicketHost &
  Pick<Host, 'env' | 'home' | 'platform' | 'askToEnd' | 'askToLook' | 'on' | 'off'>;

/** Milliseconds between two looks at the run before. One that waits itself is not urgent. */
const LOOK_MS = { speaks: 20, waits: 100 };
/** Milliseconds, at most, in which runs may come that were started earlier: as long as this one took to come. */
const MOST_AWAITED_MS = 500;

/** The time in which a run speaks on its channel. */
export interface Turn extends Disposable {
  /** True if `tts stop` or the next run is about to end this run. */
  readonly isSilenced: boolean;
  /** @param listener is called when the run is paused, and when it is to go on */
  onPause(listener: (isPaused: boolean) => void): void;
}

/**
 * Waits until no other run speaks on the channel.
 * @returns `undefined` for a run that joins, where there is no terminal or no folder for runs
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
  // Whoever finds the file may send the signal, which ends a process that does not listen.
  const turn = new OwnTurn(tickets, host);
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

/** Two runs that begin at the same time both see each other, step back, and the earlier one goes first. */
async function waitForTurn(
  tickets: Tickets,
  { interrupts }: Pick<ChannelPlan, 'interrupts'>,
  host: ChannelHost,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<string>();
  if (!interrupts) await pass(Math.min(performance.now(), MOST_AWAITED_MS), signal);
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
    await pass(LOOK_MS.speaks, signal);
  }
}

/** Waits until the run has ended, or does something else. Of many that wait, each looks at one file only. */
async function gone({ path, state }: Ticket, tickets: Tickets, signal: AbortSignal): Promise<void> {
  while (tickets.look(path)?.state === state) await pass(LOOK_MS[state], signal);
}

async function pass(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

class OwnTurn implements Turn {
  readonly #tickets: Tickets;
  readonly #host: ChannelHost;
  readonly #look = () => this.#tell();
  readonly #listeners: ((isPaused: boolean) => void)[] = [];
  #hasBegun = false;
  #isPaused = false;

  constructor(tickets: Tickets, host: ChannelHost) {
    this.#tickets = tickets;
    this.#host = host;
    host.on('SIGUSR2', this.#look);
  }

  get isSilenced(): boolean {
    return this.#tickets.isSilenced;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#tell();
  }

  onPause(listener: (isPaused: boolean) => void): void {
    this.#listeners.push(listener);
    if (this.#isPaused) listener(true);
  }

  [Symbol.dispose](): void {
    this.#tickets.remove();
    this.#host.off('SIGUSR2', this.#look);
  }

  #tell(): void {
    const { isPaused } = this.#tickets;
    if (!this.#hasBegun || isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    for (const listener of this.#listeners) listener(isPaused);
  }
}

/** @returns the number of runs that were asked to end */
export function stopChannel(name: string | undefined, host: ChannelHost): number {
  const tickets = ticketsOf(name, host);
  const runs = tickets.all();
  for (const run of runs) silence(run, tickets, host);
  return runs.length;
}

/** @returns the number of runs that were asked to pause */
export function pauseChannel(name: string | undefined, host: ChannelHost): number {
  const tickets = ticketsOf(name, host);
  const runs = tickets.all().filter(({ state }) => state === 'speaks');
  for (const run of runs) {
    tickets.mark(run, '.paused');
    askToLook(run, host);
  }
  return runs.length;
}

/** @returns the number of runs that go on */
export function resumeChannel(name: string | undefined, host: ChannelHost): number {
  const tickets = ticketsOf(name, host);
  const runs = tickets.all().filter((run) => tickets.unmark(run));
  for (const run of runs) askToLook(run, host);
  return runs.length;
}

function askToLook({ pid }: Ticket, host: ChannelHost): void {
  if (host.platform === 'win32') throw usageError('a run cannot be paused on Windows', 'tts stop ends it');
  try {
    host.askToLook(pid);
  } catch {
    // It has ended by itself.
  }
}

/** A run that finds the mark at the signal ends without a word. */
function silence(run: Ticket, tickets: Tickets, host: ChannelHost): void {
  try {
    tickets.mark(run, '.silenced');
  } catch {
    // Without a mark, it says that it was terminated.
  }
  try {
    host.askToEnd(run.pid);
  } catch {
    // It has ended by itself.
  }
}

function ticketsOf(name: string | undefined, host: ChannelHost): Tickets {
  const folder = folderOf(name, host);
  if (folder === undefined) throw noFolder(host);
  return new Tickets(folder, host);
}
