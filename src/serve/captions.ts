/** Responses with sound and word times, for both HTTP APIs. Loaded on the first request for word times. */
import type { Exchange, Reply } from '../kit/http/route.ts';
import type { ValueOf } from '../kit/schema.ts';
import { aborted, peek } from '../kit/wait.ts';
import { wordsSource } from '../read/source.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import { EXPECTED_ERROR, type TimeSource, WordTimes } from '../run/words.ts';
import type { PcmFormat } from '../sound/pcm.ts';
import { type CAPTIONED, SOURCES } from './captioned.ts';
import { speakLive } from './live.ts';
import { storeSound } from './sound.ts';
import { type Captioning, isRelayed, register, type ServiceContext, type SpeechRequest } from './speak.ts';

type Word = NonNullable<ValueOf<typeof CAPTIONED>['timestamps']>[number];

/**
 * Answers with sound and word times. Each sentence is queued like a request, and timed before the next one is sent.
 * @throws EngineError, TtsError before the response begins; later errors are thrown by its body
 */
export async function captioned(
  request: SpeechRequest,
  { live, inLines, hasWords, speed = 1 }: Captioning,
  exchange: Exchange,
  context: ServiceContext,
): Promise<Reply> {
  const { signal, begun } = exchange;
  const { metrics, openReference } = context;
  const headers = register(request, exchange, context);
  const stream = isRelayed(request.voice) ? request.fields.stream : inLines;
  const times = new WordTimes(({ role }) => role.speaker, { openReference, signal });
  const captions = hasWords ? new Captions(times, speed) : undefined;
  const { format, pcm } = await speakLive(
    {
      source: wordsSource(request.text),
      voice: request.voice,
      fields: { ...request.fields, stream },
      bySentence: {
        listener: captions,
        onSkip: (index) => captions?.skip(index),
        silentIfUnreadable: request.silentIfUnreadable ?? false,
      },
    },
    context,
    signal,
  );
  const { mediaType, encoded } = live(format);
  const onSound = () => metrics.addFirstByte((performance.now() - begun) / 1000);
  if (inLines) {
    // If the voice refuses the text, this throws while the response can still become an error.
    const { all } = await peek(ndjsonBody(encoded(pcm), mediaType, captions), 1);
    onSound();
    return { headers: { ...headers, 'Content-Type': 'application/x-ndjson' }, body: all };
  }
  const sound = await storeSound(encoded(pcm));
  void aborted(signal).then(sound.dispose);
  onSound();
  const rest = `,${JSON.stringify({ audio_format: mediaType, ...takenWords(captions) }).slice(1)}`;
  const length = JSON_HEAD.length + 4 * Math.ceil(sound.bytes / 3) + 1 + Buffer.byteLength(rest);
  const bytes = mediaType === 'audio/wav' ? withSizes(sound.read(), sound.bytes) : sound.read();
  const ofJson = { 'Content-Type': 'application/json', 'Content-Length': length };
  return { headers: { ...headers, ...ofJson }, body: jsonBody(bytes, rest) };
}

/** Collects the timed words of a response until they are sent. */
class Captions implements Listener {
  readonly #times: WordTimes;
  readonly #speed: number;
  /** Sentences that the voice could not read, whose words get no times. */
  readonly #skipped = new Set<number>();
  #index = 0;
  #format: PcmFormat | undefined;
  #start = 0;
  #words: Word[] = [];
  #source: TimeSource | undefined;
  /** Resolves when there are words to send. */
  more: Promise<void> | undefined;
  #announce = () => {};

  constructor(times: WordTimes, speed: number) {
    this.#times = times;
    this.#speed = speed;
    this.#waitForMore();
  }

  #waitForMore(): void {
    this.more = new Promise((resolve) => {
      this.#announce = resolve;
    });
  }

  /** @param index of a sentence that becomes silence */
  skip(index: number): void {
    this.#skipped.add(index);
  }

  on(event: RunEvent): Promise<void> | void {
    if (event.type === 'started' && event.part.speech) {
      const { format } = event.part.speech;
      this.#index = event.part.segment.index;
      this.#format = format;
      this.#start = event.at;
      this.#times.begin(event.part, format);
    }
    if (event.type === 'sound') this.#times.sound(event.pcm);
    return event.type === 'spoken' ? this.#end() : undefined;
  }

  async #end(): Promise<void> {
    const timed = await this.#times.end();
    if (!timed || !this.#format || this.#skipped.has(this.#index)) return;
    const rate = this.#format.sampleRate * this.#speed;
    const time = (frames: number) => Math.round((1000 * (this.#start + frames)) / rate) / 1000;
    for (const { text, start, end } of timed.words)
      this.#words.push({ word: text, start_time: time(start), end_time: time(end) });
    const worst = [this.#source, timed.source].map((each) => (each ? SOURCES.indexOf(each) : 0));
    this.#source = SOURCES[Math.max(...worst)];
    if (this.hasMore) this.#announce();
  }

  get hasMore(): boolean {
    return this.#words.length > 0;
  }

  /** Returns the words collected since the last call. */
  take() {
    const [timestamps, source] = [this.#words, this.#source];
    this.#words = [];
    this.#source = undefined;
    this.#waitForMore();
    return { timestamps, ...(source && { source, error: EXPECTED_ERROR[source] }) };
  }
}

function takenWords(
  captions: Captions | undefined,
): Omit<ValueOf<typeof CAPTIONED>, 'audio' | 'audio_format'> {
  return captions?.take() ?? { timestamps: null };
}

/** Bytes of sound that complete a line. A longer sentence takes several lines; its words come in the last one. */
const FULL_LINE_BYTES = 2 ** 20;

/** Yields a line of JSON for each sentence. Encoders buffer, so the audio of a line may end before or after its sentence. */
async function* ndjsonBody(
  sound: AsyncIterable<Uint8Array>,
  mediaType: string,
  captions: Captions | undefined,
): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const line = () => {
    const audio = Buffer.concat(pieces).toString('base64');
    [pieces, bytes] = [[], 0];
    return Buffer.from(`${JSON.stringify({ audio, audio_format: mediaType, ...takenWords(captions) })}\n`);
  };
  const coming = sound[Symbol.asyncIterator]();
  try {
    let next = withoutUnhandledRejection(coming.next());
    for (;;) {
      // Sends the words of a sentence without waiting for sound of the next one.
      const piece = await (bytes > 0 && captions ? Promise.race([next, captions.more]) : next);
      if (piece?.done) break;
      if (piece) {
        pieces.push(piece.value);
        bytes += piece.value.length;
        next = withoutUnhandledRejection(coming.next());
      }
      if (isComplete(bytes, captions)) yield line();
    }
    if (bytes > 0 || captions?.hasMore) yield line();
  } finally {
    await coming.return?.();
  }
}

function isComplete(bytes: number, captions: Captions | undefined): boolean {
  return captions ? captions.hasMore || bytes > FULL_LINE_BYTES : bytes > BARE_LINE_BYTES;
}

/** Prevents an unhandled rejection before the piece is awaited; awaiting it still throws. */
function withoutUnhandledRejection<T>(piece: Promise<T>): Promise<T> {
  piece.catch(() => {});
  return piece;
}

/** Bytes of sound that complete a line if no words were requested. */
const BARE_LINE_BYTES = 2 ** 14;

const JSON_HEAD = '{"audio":"';

/** Yields one JSON object. Base64 encodes groups of three bytes, so a remainder waits for the next piece. */
async function* jsonBody(sound: AsyncIterable<Uint8Array>, rest: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON_HEAD);
  let left: Uint8Array = new Uint8Array();
  for await (const piece of sound) {
    const all = Buffer.concat([left, piece]);
    const whole = all.length - (all.length % 3);
    left = all.subarray(whole);
    yield Buffer.from(all.toString('base64', 0, whole));
  }
  yield Buffer.from(`${Buffer.from(left).toString('base64')}"${rest}`);
}

/** Writes the sizes into the 44-byte header of a WAV that was encoded as a stream. */
async function* withSizes(wav: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of wav) {
    if (!isFirst) {
      yield piece;
      continue;
    }
    isFirst = false;
    const head = Buffer.from(piece);
    head.writeUInt32LE(bytes - 8, 4);
    head.writeUInt32LE(bytes - 44, 40);
    yield head;
  }
}
