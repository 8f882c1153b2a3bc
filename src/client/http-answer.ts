/** What came back: the body may be iterated once, and leaving it early ends the request. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of a repeated header the first, unless it is a list. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}
