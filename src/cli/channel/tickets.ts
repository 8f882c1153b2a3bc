import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../files/folders.ts';
import { readOwn } from '../../files/own-file.ts';
import { namesIn } from '../../files/paths.ts';
import type { Host } from '../../host.ts';

export type TicketHost = Pick<Host, 'pid' | 'realm' | 'uid' | 'isRunning'>;

type State = 'waits' | 'speaks';

/** A run of a channel that is alive. Their paths sort by the time when the runs were started. */
export interface Ticket {
  readonly path: string;
  readonly pid: number;
  readonly state: State;
}

/** What stands in a file. A process that got the number of a dead one has another birth. */
type Entry = readonly [pid: number, realm: string, birth: string, state: State];

/** What another run or command has put down next to the file of a run. */
const MARKS = ['.paused', '.silenced'] as const;
type Mark = (typeof MARKS)[number];

/** The runs of a channel: each has a file with its name. */
export class Tickets {
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
    const entry: Entry = [pid, realm, birthOf(pid), state];
    makeFolder(this.#folder);
    const draft = join(this.#folder, `new-${pid}`);
    writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 });
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
    const entry = this.#read(path);
    if (entry?.[1] !== this.#host.realm) return undefined;
    const [pid, , birth, state] = entry;
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

  #read(path: string): Entry | undefined {
    try {
      const entry = JSON.parse(readOwn(path, this.#host.uid)) as Entry;
      return Number.isInteger(entry[0]) && entry[0] > 1 ? entry : undefined;
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

/** When the process was started, as Linux counts it; empty elsewhere. */
function birthOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
  } catch {
    return '';
  }
}
