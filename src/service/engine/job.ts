import type { Finish } from './finish.ts';
import type { FliteUse } from './voices.ts';

/** A segment of text for a worker. It answers with an `Int16Array`, or dies. */
export interface Job {
  readonly use: FliteUse;
  readonly finish: Finish;
}

/** What a worker says once it can take jobs. */
export const READY = 'ready';
