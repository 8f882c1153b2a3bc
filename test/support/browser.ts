import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { emptyFolder } from './folder.ts';

/** A name that leads the browser to this machine, and is no name of loopback for it. */
export const OTHER_NAME = 'lan.test';

/** The name of the browser on this machine. */
export const BROWSER = 'chromium';

/** A page in a real browser without a window, driven by the DevTools protocol. */
export interface Page {
  /** The value of an expression in the page; a promise is waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** @param key as `KeyboardEvent.key` calls it, also with `Control+` before it */
  press(key: string): Promise<void>;
  /** Types into the element that has the focus. */
  type(text: string): Promise<void>;
  /** Loads it once more, and waits until its scripts have run. */
  reload(): Promise<void>;
  /** Addresses that the page asked for. */
  readonly requests: readonly string[];
}

interface PageOptions {
  readonly isDark?: boolean;
  /** It is the width of the window in CSS pixels. */
  readonly width?: number;
  /** Runs in the page before its own scripts. */
  readonly script?: string;
}

/** One for all pages of a test file: its start takes a second of the processor. */
let browser: DevTools | undefined;
let killBrowser = async () => {};

/** For the end of a test file that opens pages. */
export async function endBrowser(): Promise<void> {
  browser = undefined;
  await killBrowser();
}

/** Opens a file, or an address of http. The page shares nothing with others, and is closed after the test. */
export async function openPage(path: string, options: PageOptions = {}): Promise<Page> {
  const { isDark = false, width, script } = options;
  browser ??= startBrowser();
  const devTools = browser;
  const { browserContextId } = await devTools.send('Target.createBrowserContext', {});
  onTestFinished(async () => {
    await devTools.send('Target.disposeBrowserContext', { browserContextId });
  });
  const { targetId } = await devTools.send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await devTools.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: object = {}) => devTools.send(method, params, String(sessionId));
  const requests: string[] = [];
  const loads = new EventEmitter();
  devTools.onEvent(String(sessionId), ({ method, params }) => {
    if (method === 'Network.requestWillBeSent') requests.push((params as Requested).request.url);
    if (method === 'Page.loadEventFired') loads.emit('load');
  });
  const load = async (method: string, params: object = {}) => {
    const isLoaded = once(loads, 'load');
    await send(method, params);
    await isLoaded;
  };
  await send('Network.enable');
  await send('Page.enable');
  const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }];
  await send('Emulation.setEmulatedMedia', { features });
  if (width) {
    const screen = { width, height: 800, deviceScaleFactor: 2, mobile: true };
    await send('Emulation.setDeviceMetricsOverride', screen);
    await send('Emulation.setTouchEmulationEnabled', { enabled: true });
  }
  if (script) await send('Page.addScriptToEvaluateOnNewDocument', { source: script });
  await load('Page.navigate', { url: path.startsWith('http:') ? path : pathToFileURL(path).href });
  return {
    requests,
    async evaluate<T>(expression: string) {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send('Runtime.evaluate', options);
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: T }).value;
    },
    async press(name) {
      const key = name.replace('Control+', '');
      const text = TEXTS[name] ?? (key.length === 1 && { text: key });
      const modifiers = key === name ? 0 : CONTROL;
      const event = { key, code: CODES[key] ?? key, windowsVirtualKeyCode: NUMBERS[key] ?? 0, modifiers };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...text });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async type(text) {
      await send('Input.insertText', { text });
    },
    reload: () => load('Page.reload'),
  };
}

const CONTROL = 2;
const TEXTS: Readonly<Record<string, object>> = {
  Enter: { text: '\r' },
  'Control+v': { commands: ['paste'] },
};
/** Keys that do something in a form do it only with their number. */
const NUMBERS: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ArrowUp: 38,
  ArrowDown: 40,
};
const CODES: Readonly<Record<string, string>> = { ' ': 'Space', '/': 'Slash', x: 'KeyX' };

interface Requested {
  readonly request: { readonly url: string };
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: unknown;
}

class DevTools {
  readonly #listeners = new Map<string, (message: Message) => void>();
  readonly #wire: Writable;
  readonly #waiting: ((message: Message) => void)[] = [];

  /** Messages are JSON, each ended by a NUL. */
  constructor(wire: Writable, answers: Readable) {
    this.#wire = wire;
    let rest = '';
    answers.setEncoding('utf8').on('data', (piece: string) => {
      const messages = (rest + piece).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  /** Hears all events of a page. */
  onEvent(sessionId: string, listener: (message: Message) => void): void {
    this.#listeners.set(sessionId, listener);
  }

  async send(method: string, params: object, sessionId?: string): Promise<Record<string, unknown>> {
    const answer = new Promise<Message>((resolve) => this.#waiting.push(resolve));
    const id = this.#waiting.length - 1;
    this.#wire.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { result, error } = await answer;
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  #receive(message: Message): void {
    if (message.id === undefined) this.#listeners.get(message.sessionId ?? '')?.(message);
    else this.#waiting[message.id]?.(message);
  }
}

function startBrowser(): DevTools {
  let remove = () => {};
  const profile = emptyFolder((removing) => {
    remove = removing;
  });
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--mute-audio', '--remote-debugging-pipe'];
  const names = `--host-resolver-rules=MAP ${OTHER_NAME} 127.0.0.1`;
  const child = spawn(BROWSER, [...flags, names, `--user-data-dir=${profile}`], {
    // What it leaves in the folder for temporary files goes with the profile.
    env: { ...process.env, TMPDIR: profile },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  killBrowser = async () => {
    const closed = once(child, 'close');
    if (child.exitCode === null && child.pid !== undefined) {
      process.kill(-child.pid, 'SIGKILL');
      await closed;
    }
    remove();
  };
  return new DevTools(child.stdio[3] as Writable, child.stdio[4] as Readable);
}
