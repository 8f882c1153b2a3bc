import type { IncomingMessage } from 'node:http';
import type { EngineSet, Limits } from '../../engine/contract.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { CallbackPolicy } from '../callbacks/policy.ts';
import type { FaultControl } from '../exchange/fault-control.ts';
import type { Discretion } from '../exchange/refuse.ts';
import type { Cors } from './cors.ts';
import type { Metrics } from './metrics.ts';
import type { Traffic } from './traffic.ts';

export interface ServiceContext extends Discretion {
  readonly engine: EngineSet;
  readonly basePath: string;
  readonly isOpen: boolean;
  /** An engine may quote a key in the name of a voice. */
  hide(text: string): string;
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
}
