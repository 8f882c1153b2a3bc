import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { WebSocket } from 'undici';

/** A thread that stands still in front of a line. */
export interface Stopped {
  /** Ends the thread where it stands. */
  kill(): void;
}

/** Threads are to stop here. */
export interface Place {
  /** It is a built program. */
  readonly file: URL;
  /** What the line holds. */
  readonly line: string;
  /** In JavaScript, as the program sees it there: only where it holds, the thread stops. */
  readonly condition: string;
}

/** The inspector sends such messages. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own
  readonly params?: any;
}

/**
 * The worker threads of a process that runs with `--inspect=0`, as its debugger sees them. Like this, one can be killed
 * in the middle of its work, while the program knows of nothing; and one that starts waits until it is let go.
 */
export class Threads {
  readonly #socket: WebSocket;
  readonly #breakpoint: object;
  readonly #setting = new Set<number>();
  readonly #starting: string[] = [];
  #lastId = 0;

  private constructor(socket: WebSocket, { file, line, condition }: Place) {
    this.#socket = socket;
    const lineNumber = readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes(line));
    if (lineNumber < 0) throw new Error(`${file} has no line with ${line}`);
    this.#breakpoint = { urlRegex: `${file.pathname}$`, lineNumber, condition };
    socket.addEventListener('message', ({ data }) => this.#hear(JSON.parse(data)));
    this.#send('NodeWorker.enable', { waitForDebuggerOnStart: true });
  }

  /** @param stderr what the process said as it started */
  static async watch(stderr: string, place: Place): Promise<Threads> {
    const socket = new WebSocket(/Debugger listening on (\S+)/.exec(stderr)?.[1] ?? '');
    await once(socket, 'open');
    return new Threads(socket, place);
  }

  /** Threads that will stop at the place: those that were there when the watch began. */
  armed = 0;

  /** Threads that came to the place. */
  readonly stopped: Stopped[] = [];

  /** Threads that wait to be let go. */
  get starting(): number {
    return this.#starting.length;
  }

  letGo(): void {
    for (const thread of this.#starting.splice(0)) this.#tell(thread, 'Runtime.runIfWaitingForDebugger');
  }

  close(): void {
    this.#socket.close();
  }

  #hear({ method, params }: Message): void {
    if (method === 'NodeWorker.attachedToWorker') this.#meet(params);
    if (method === 'NodeWorker.receivedMessageFromWorker')
      this.#hearFrom(params.sessionId, JSON.parse(params.message));
  }

  #meet({ sessionId: thread, waitingForDebugger }: { sessionId: string; waitingForDebugger: boolean }): void {
    if (waitingForDebugger) return void this.#starting.push(thread);
    this.#tell(thread, 'Debugger.enable');
    this.#setting.add(this.#tell(thread, 'Debugger.setBreakpointByUrl', this.#breakpoint));
  }

  #hearFrom(thread: string, { id, method, params }: Message): void {
    if (this.#setting.delete(id ?? 0)) this.armed += 1;
    if (method !== 'Debugger.paused') return;
    const [{ callFrameId }] = params.callFrames;
    this.stopped.push({
      kill: () => {
        this.#tell(thread, 'Debugger.evaluateOnCallFrame', { callFrameId, expression: 'process.exit(1)' });
        this.#tell(thread, 'Debugger.resume');
      },
    });
  }

  /** @returns the number that the answer will have */
  #tell(thread: string, method: string, params: object = {}): number {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#send('NodeWorker.sendMessageToWorker', {
      sessionId: thread,
      message: JSON.stringify({ id, method, params }),
    });
    return id;
  }

  #send(method: string, params: object): void {
    this.#lastId += 1;
    this.#socket.send(JSON.stringify({ id: this.#lastId, method, params }));
  }
}
