import type { Stage } from '../../text/live.ts';
import { END_BEFORE_ERROR, type Piece, type Place } from '../../text/piece.ts';
import type { Limit } from '../../text/segment.ts';
import type { CastPlan } from './cast.ts';

/** One voice speaks all of the text. */
export function spokenBy(voice: Limit): Stage<Piece, Piece<Limit>> {
  return {
    push: (piece) => [piece.kind === 'voice' ? { ...piece, voice } : piece],
    end: () => [],
  };
}

/**
 * Puts voices in the place of names.
 * @param usual the voice of the run
 * @throws TtsError (usage) for an unknown voice
 */
export async function* voiced(
  pieces: AsyncIterable<Piece>,
  usual: Limit,
  roleOf: CastPlan['roleOf'],
): AsyncGenerator<Piece<Limit>> {
  for await (const piece of pieces) {
    if (piece.kind !== 'voice') yield piece;
    else if (piece.voice === undefined || !roleOf) yield { ...piece, voice: usual };
    else yield* calledFor(piece.voice, piece.place, roleOf);
  }
}

async function* calledFor(
  name: string,
  place: Place,
  roleOf: NonNullable<CastPlan['roleOf']>,
): AsyncGenerator<Piece<Limit>> {
  try {
    yield { kind: 'voice', voice: await roleOf(name, place), place };
  } catch (error) {
    yield END_BEFORE_ERROR;
    throw error;
  }
}
