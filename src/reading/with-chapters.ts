import { inTurn, type Stage, through } from '../text/live.ts';
import type { Piece } from '../text/piece.ts';
import type { Reader } from './reading.ts';

interface Chapters {
  /** A book has chapters in any case. */
  readonly areWanted: boolean;
  readonly areTitlesSpoken: boolean;
}

/** Gives Markdown and HTML the chapters of their headings, and leaves the titles of chapters out. */
export function withChapters(reader: Reader, { areWanted, areTitlesSpoken }: Chapters): Reader {
  if (areTitlesSpoken && (reader.name === 'epub' || !areWanted)) return reader;
  return {
    ...reader,
    async open(source, signal) {
      const [reading, stages] = await Promise.all([
        reader.open(source, signal),
        stagesFor(reader.name, areTitlesSpoken),
      ]);
      const pieces: typeof reading.pieces = (until, how) =>
        stages.reduce<AsyncIterable<Piece>>(
          (before, make) => through(before, make()),
          reading.pieces(until, how),
        );
      const { live } = reading;
      if (!live) return { ...reading, pieces };
      const stagedLive: typeof live = (until, how) => {
        const { characters, stage } = live(until, how);
        return { characters, stage: stages.reduce((before, make) => inTurn(before, make()), stage) };
      };
      return { ...reading, pieces, live: stagedLive };
    },
  };
}

async function stagesFor(
  format: Reader['name'],
  areTitlesSpoken: boolean,
): Promise<readonly (() => Stage<Piece, Piece>)[]> {
  const [{ HeadingChapters }, { UntitledChapters }] = await Promise.all([
    import('../text/chapters/headings.ts'),
    import('../text/chapters/untitled.ts'),
  ]);
  const stages: (() => Stage<Piece, Piece>)[] = [];
  if (format === 'markdown' || format === 'html') stages.push(() => new HeadingChapters());
  if (!areTitlesSpoken) stages.push(() => new UntitledChapters());
  return stages;
}
