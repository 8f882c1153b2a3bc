/** What works on one job at a time. */
export interface Lane<Job> {
  /** True while jobs can be given to it at once. */
  readonly ready: boolean;
  /** Starts what the first job would otherwise wait for. */
  prepare(): Promise<void>;
  /**
   * Stops at once when the signal aborts, and then rejects with its reason.
   *
   * @returns no samples for what has no sound
   * @throws Refusal when the work failed
   */
  run(job: Job, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}
