/** Prometheus metrics of the service. */

/** Upper bounds of the histogram buckets, in seconds. */
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts what `/metrics` reports. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  #audio = 0;
  readonly #firstBytes = { counts: BOUNDS.map(() => 0), count: 0, sum: 0 };

  /** @param path the path of a route; paths that clients make up would create labels without limit */
  addRequest(path: string, status: number | undefined): void {
    const labels = `path="${path}",status="${status ?? 'none'}"`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
  }

  /** @param seconds the length of the sound */
  addAudio(seconds: number): void {
    this.#audio += seconds;
  }

  /** @param seconds the time from the request to the first byte of its sound */
  addFirstByte(seconds: number): void {
    const { counts } = this.#firstBytes;
    BOUNDS.forEach((bound, at) => {
      if (seconds <= bound) counts[at] = (counts[at] ?? 0) + 1;
    });
    this.#firstBytes.count += 1;
    this.#firstBytes.sum += seconds;
  }

  /** Returns the metrics in the text format 0.0.4 of Prometheus. */
  text(queued: number): string {
    const { counts, count, sum } = this.#firstBytes;
    const requests = [...this.#requests].map(([labels, number]) => `tts_requests_total{${labels}} ${number}`);
    const buckets = BOUNDS.map((bound, at) => `tts_first_byte_seconds_bucket{le="${bound}"} ${counts[at]}`);
    return [
      '# HELP tts_requests_total Requests that ended, by path and status; none: the client left before the answer.',
      '# TYPE tts_requests_total counter',
      ...requests,
      '# HELP tts_audio_seconds_total Seconds of sound that were made.',
      '# TYPE tts_audio_seconds_total counter',
      `tts_audio_seconds_total ${this.#audio}`,
      '# HELP tts_queue_length Requests that wait for a worker to begin with them.',
      '# TYPE tts_queue_length gauge',
      `tts_queue_length ${queued}`,
      '# HELP tts_first_byte_seconds Seconds from a request to the first byte of its sound.',
      '# TYPE tts_first_byte_seconds histogram',
      ...buckets,
      `tts_first_byte_seconds_bucket{le="+Inf"} ${count}`,
      `tts_first_byte_seconds_sum ${sum}`,
      `tts_first_byte_seconds_count ${count}`,
      '',
    ].join('\n');
  }
}
