import type { Reading } from '../../reading/reading.ts';
import type { Stage } from '../../text/live.ts';
import { Marks } from '../../text/marks/marks.ts';
import type { Place } from '../../text/piece.ts';
import type { CastPlan } from './cast.ts';

/**
 * Looks at all marks of a text that can be read again.
 * @throws TtsError (usage) for a mark that is none, and for an unknown voice
 */
export async function checkMarks(
  reading: Reading,
  { roleOf }: Pick<CastPlan, 'roleOf'>,
  signal: AbortSignal,
): Promise<void> {
  const { voices, hasFault } = await lookThrough(reading, signal);
  const unknown = new Map<string, unknown>();
  for (const [name, place] of voices)
    await roleOf?.(name, place).catch((error) => {
      unknown.set(name, error);
    });
  if (hasFault || unknown.size > 0) await assertUnread(unknown, reading, signal);
}

/** The reader gets nothing to read, which costs nothing. */
async function lookThrough(reading: Reading, signal: AbortSignal) {
  const voices = new Map<string, Place>();
  let hasFault = false;
  const marks = new Marks({
    source: reading.source.name,
    onMark(mark, spot) {
      hasFault ||= mark.kind === 'fault';
      if (mark.kind === 'voice' && mark.voice !== undefined && !voices.has(mark.voice))
        voices.set(mark.voice, spot);
    },
  });
  const inFront = withoutOutput(marks.lift());
  for await (const _ of reading.pieces(signal, { inFront }));
  return { voices, hasFault };
}

/** What looks like a mark in a comment, an attribute or a script is not read, and no error. */
async function assertUnread(
  unknown: ReadonlyMap<string, unknown>,
  reading: Reading,
  signal: AbortSignal,
): Promise<void> {
  const marks = new Marks({ source: reading.source.name });
  const place = marks.place();
  for await (const piece of reading.pieces(signal, { inFront: marks.lift() }))
    for (const each of place.push(piece))
      if (each.kind === 'voice' && each.voice !== undefined && unknown.has(each.voice))
        throw unknown.get(each.voice);
}

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
