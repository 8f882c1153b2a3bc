import type { Reading } from '../../reading/reading.ts';
import type { Stage } from '../../text/live.ts';
import { faultError, Marks } from '../../text/marks/marks.ts';
import type { Place } from '../../text/piece.ts';

/**
 * Looks at all marks of a text that can be read again.
 * @throws TtsError (usage) for a mark that is none
 * @returns the names of its voices, each with its first place
 */
export async function checkMarks(reading: Reading, signal: AbortSignal): Promise<ReadonlyMap<string, Place>> {
  const voices = new Map<string, Place>();
  const marks = new Marks({
    source: reading.source.name,
    onMark(mark, spot) {
      if (mark.kind === 'fault') throw faultError(mark, spot);
      if (mark.kind === 'voice' && mark.voice !== undefined && !voices.has(mark.voice))
        voices.set(mark.voice, spot);
    },
  });
  const inFront = withoutOutput(marks.lift());
  for await (const _ of reading.pieces(signal, { inFront }));
  return voices;
}

/** The reader gets nothing to read, which costs nothing. */
function withoutOutput(stage: Stage<string, string>): Stage<string, string> {
  return {
    push(text) {
      for (const _ of stage.push(text));
      return [];
    },
    end() {
      for (const _ of stage.end());
      return [];
    },
  };
}
