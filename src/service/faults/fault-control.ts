import { isLoopback } from '../../address.ts';
import { TtsError } from '../../error.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import { sendJson } from '../http/refuse.ts';
import { createFaults, type Effects, type Fault, LISTED_REQUESTS } from './fault.ts';
import { parseFaults } from './fault-spec.ts';

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
