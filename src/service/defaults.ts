// What holds where nobody says otherwise; `tts serve --help` tells of it, without loading the service.

/** Nobody but this machine can connect. */
export const DEFAULT_HOST = '127.0.0.1';

/** Utterances that may wait for their first turn while all workers are busy. */
export const DEFAULT_MAX_QUEUE = 64;

/** Characters of the longest text: about nine hours of speech. What bounds a request is the size of its body. */
export const DEFAULT_MAX_TEXT = 500_000;

/** Seconds to stay away for after a 429 or 503, when nobody knows better: by then several sentences are done. */
export const DEFAULT_RETRY_AFTER = 1;
