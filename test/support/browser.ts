import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { emptyFolder } from './folder.ts';

/** A host name that the browser resolves to this machine, but does not treat as loopback. */
export const OTHER_NAME = 'lan.test';

/** The program of the browser. */
export const BROWSER = 'chromium';

/** A page in a real headless browser, driven over the DevTools protocol. */
export interface Page {
  /** Evaluates an expression in the page, and awaits a promise. */
  evaluate<T>(expression: string): Promise<T>;
  /** @param key a `KeyboardEvent.key`, possibly after `Control+` */
  press(key: string): Promise<void>;
  /** Types into the element that has the focus. */
  type(text: string): Promise<void>;
  /** Reloads the page, and waits until its scripts have run. */
  reload(): Promise<void>;
  /** The addresses that the page requested. */
  readonly requests: readonly string[];
}

interface PageOptions {
  readonly isDark?: boolean;
  /** The width of the window in CSS pixels. */
  readonly width?: number;
  /** A script that runs in the page before its own ones. */
  readonly script?: string;
}

/** Shared by all pages of a test file, since its start takes a second of CPU time. */
let browser: DevTools | undefined;
let killBrowser = async () => {};

/** Ends the browser, after all tests of a file that opens pages. */
export async function endBrowser(): Promise<void> {
  browser = undefined;
  await killBrowser();
}

/** Opens a file or an http address in a page of its own profile, which is closed after the test. */
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
      const event = { key, code: CODES[key] ?? key, windowsVirtualKeyCode: KEY_CODES[key] ?? 0, modifiers };
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
/** Key codes. Without them, these keys have no effect in a form. */
const KEY_CODES: Readonly<Record<string, number>> = {
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

  /** Messages are JSON, each terminated by NUL. */
  constructor(wire: Writable, answers: Readable) {
    this.#wire = wire;
    let rest = '';
    answers.setEncoding('utf8').on('data', (piece: string) => {
      const messages = (rest + piece).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  /** Listens to all events of a page. */
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
    // Its temporary files are removed together with the profile.
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
