import { frameBytes, type Tags } from '../../audio/pcm.ts';
import type { Journal, ManifestEntry } from '../../batch/manifest.ts';
import type { BatchRow } from '../../batch/plan.ts';
import { type FinishedFile, rowFile } from '../../batch/row-file.ts';
import type { RowFolder } from '../../batch/row-folder.ts';
import type { RowKey } from '../../batch/row-state.ts';
import type { RunContext } from '../../host.ts';
import { type DeliverOptions, deliver } from '../../speech/deliver.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { Rest, Segment } from '../../text/segment.ts';

export interface Making
  extends Pick<DeliverOptions, 'voiceOf' | 'lead' | 'window' | 'sparing' | 'listeners'> {
  readonly folder: RowFolder;
  readonly journal: Journal;
  /** Those of the book. */
  readonly tags: Tags;
}

export interface ChapterSound {
  readonly parts: AsyncIterable<Segment | Rest>;
  readonly key: RowKey;
  readonly title: string | undefined;
  /** The number of the last chapter. */
  readonly count: number;
}

/** Makes the file of a chapter, as a batch makes that of a row. */
export class ChapterMaker {
  readonly #job: SpeechJob;
  readonly #making: Making;
  readonly #context: RunContext;

  constructor(job: SpeechJob, making: Making, context: RunContext) {
    this.#job = job;
    this.#making = making;
    this.#context = context;
  }

  /** @throws TtsError; then there is no file under this name that was not there before */
  async make({ id, file }: BatchRow, { parts, key, title, count }: ChapterSound): Promise<ManifestEntry> {
    const { folder, journal, tags, ...making } = this.#making;
    const { host, signal } = this.#context;
    let entry: ManifestEntry | undefined;
    const onFinished = async ({ format, bytes, sha256 }: FinishedFile) => {
      const frames = bytes / frameBytes(format);
      const { sampleRate } = format;
      entry = { id, file, key: key.key, sha256, frames, sampleRate, characters: key.characters };
      journal.add(entry);
    };
    const { encoding } = this.#job.output;
    const sink = rowFile({ path: folder.pathOf(file), name: file, writer: host, encoding, onFinished });
    try {
      const track = { number: Number(id), count };
      const own: Tags = { ...tags, title: title ?? `Chapter ${id}`, album: tags.title, track };
      await deliver({ ...making, segments: () => parts, mix: this.#job.mix, tags: own, sink, signal });
    } finally {
      await sink.discard();
    }
    if (!entry) throw new Error('the sound of a chapter went elsewhere');
    return entry;
  }
}
