import type { IncomingMessage } from 'node:http';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { CallbackPolicy } from '../callbacks/policy.ts';
import type { Engine, Limits } from '../engine/contract.ts';
import type { Log } from '../exchange/exchange.ts';
import type { Effects } from '../exchange/fault.ts';
import type { Traffic } from './traffic.ts';

/** What the answers of one running service have in common. */
export interface Context {
  readonly engine: Engine;
  readonly basePath: string;
  /** True where no key is asked for. */
  readonly isOpen: boolean;
  /** @throws Refusal 401 */
  checkKey(request: IncomingMessage): void;
  /** Characters of the longest text. */
  readonly maxText: number;
  readonly limits: Limits;
  /** What goes wrong, on purpose, with the answer to a text. */
  effectsOn(text: string): Effects;
  readonly callbackPolicy: CallbackPolicy;
  readonly callbacks: Callbacks;
  readonly traffic: Traffic;
  readonly log: Log | undefined;
}
