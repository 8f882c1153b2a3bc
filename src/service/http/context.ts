import type { IncomingMessage } from 'node:http';
import type { EngineSet, Limits } from '../../engine/contract.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { CallbackPolicy } from '../callbacks/policy.ts';
import type { Log } from '../exchange/exchange.ts';
import type { FaultControl } from '../exchange/fault-control.ts';
import type { Cors } from './cors.ts';
import type { Metrics } from './metrics.ts';
import type { Traffic } from './traffic.ts';

export interface ServiceContext {
  readonly engine: EngineSet;
  readonly basePath: string;
  readonly isOpen: boolean;
  readonly tellsEngineWords: boolean;
  /** @throws Refusal 401 */
  checkKey(request: IncomingMessage): void;
  /** Code points. */
  readonly maxText: number;
  readonly limits: Limits;
  /** Only with `--fault`. */
  readonly faultControl: FaultControl | undefined;
  readonly cors: Cors | undefined;
  readonly callbackPolicy: CallbackPolicy;
  readonly callbacks: Callbacks;
  readonly traffic: Traffic;
  readonly metrics: Metrics | undefined;
  readonly log: Log | undefined;
}
