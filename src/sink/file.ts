import { type FileOptions, PartFile } from './part-file.ts';
import { record } from './recording.ts';
import type { Sink } from './sink.ts';

/**
 * A file that appears when all of the sound is in it.
 * @throws TtsError (output) when it could not be written
 */
export function fileSink(options: FileOptions): Sink {
  const part = new PartFile(options);
  const { fd, path } = part;
  return {
    isLive: false,
    async write(speech, signal) {
      try {
        const delivery = await record({ fd, name: options.name, start: 0, path }, speech, signal);
        await part.publish(signal);
        return delivery;
      } finally {
        part.discard();
      }
    },
    discard: async () => part.discard(),
  };
}
