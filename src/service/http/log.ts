/** What happened to one request. Never holds a key or a text. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  /** Undefined, as the path is, of what was not understood as a request. */
  readonly method?: string;
  /** Without the query. */
  readonly path?: string;
  /** Of the answer; undefined when the client left before there was one. */
  readonly status: number | undefined;
  /** The client left, or the answer broke, before its end. */
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly speaker?: number;
  /** Length of the text in code points, as `--max-text` counts it. */
  readonly characters?: number;
  /** Code of the refusal. */
  readonly refusal?: string;
}

/** How a callback ended. */
interface CallbackRecord {
  readonly event: 'callback';
  readonly id: string;
  readonly origin: string;
  readonly delivered: boolean;
  readonly tries: number;
  /** Why the last try failed. */
  readonly reason?: string;
}

/** A defect of the service, answered with 500. */
interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | DefectRecord;
export type Log = (record: LogRecord) => void;
