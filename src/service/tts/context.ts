import type { EngineSet } from '../../engine/contract.ts';
import type { Host } from '../../host.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { CallbackPolicy } from '../callbacks/policy.ts';
import type { FaultControl } from '../faults/fault-control.ts';
import type { Log } from '../http/exchange.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Limits } from '../http/refusal.ts';
import type { Traffic } from '../http/traffic.ts';

/** What a face of the service gets from it. */
export interface ServiceContext {
  readonly engine: EngineSet;
  readonly log: Log | undefined;
  /** An engine may quote a key in the name of a voice. */
  hide(text: string): string;
  /** Code points. */
  readonly maxText: number;
  readonly limits: Limits;
  /** Encoders are looked for here. Without it, none is found. */
  readonly programs: Pick<Host, 'env' | 'platform'> | undefined;
  /** It is missing without `--fault`. */
  readonly faultControl: FaultControl | undefined;
  readonly callbackPolicy: CallbackPolicy;
  readonly callbacks: Callbacks;
  readonly traffic: Traffic;
  readonly metrics: Metrics | undefined;
}
