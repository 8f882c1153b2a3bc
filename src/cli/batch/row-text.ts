import type { BatchRow } from '../../batch/plan.ts';
import { type RowKey, rowKeyOf, type Shape, TextHash } from '../../batch/row-state.ts';
import { TtsError } from '../../error.ts';
import type { Host } from '../../host.ts';
import { hasControls } from '../../reading/controls.ts';
import { hasScene, isAsSpoken } from '../../reading/plain.ts';
import type { Settings } from '../../settings/resolve.ts';
import type { Cast } from '../../speech/cast/cast.ts';
import { readerOf, sourcesOf } from '../../speech/readers.ts';
import { RunText, type TextPlan } from '../../speech/text.ts';
import type { Lexicon } from '../../text/lexicon/lexicon.ts';
import type { Stage } from '../../text/live.ts';
import { type Piece, writtenOf } from '../../text/piece.ts';
import type { Limit, Rest, Segment } from '../../text/segment.ts';
import type { VoiceShape } from '../../voices/voice.ts';
import type { Named } from '../speak/notes.ts';

interface RowTextOptions extends Omit<Shape, 'voice' | 'owner' | 'encoded'>, Pick<TextPlan, 'pace'> {
  ownerOf(voice: VoiceShape): string;
  encodedAs(file: string): Shape['encoded'];
  readonly settings: Settings;
  readonly stages: TextPlan['stages'];
  readonly lines: Lexicon['lines'];
  readonly cast: Cast | undefined;
  readonly host: Pick<Host, 'cwd' | 'stdin'>;
}

export class RowTexts {
  readonly #options: RowTextOptions;
  /** True if the text of a row that is not a file is spoken as it stands. */
  readonly #isAsWritten: boolean;

  constructor(options: RowTextOptions) {
    this.#options = options;
    const isPlain = options.stages.length === 0 && !options.cast;
    this.#isAsWritten = isPlain && readerOf('', options.settings).name === 'text';
  }

  get named(): Named {
    const { cast, lines } = this.#options;
    return { cast, lexicon: lines };
  }

  /** @returns the text of a row that is spoken as it stands in the table; `undefined` for others */
  asWritten({ text }: BatchRow): string | undefined {
    if (text === undefined || !this.#isAsWritten) return undefined;
    return isAsSpoken(text) && !hasControls(text) && !hasScene(text) ? text : undefined;
  }

  /** @throws TtsError (usage) for a file that cannot be read */
  async keyOf(row: BatchRow, signal: AbortSignal): Promise<RowKey> {
    const written = this.asWritten(row);
    if (written !== undefined) return rowKeyOf(written, this.#shapeOf(row));
    const hash = new TextHash();
    try {
      const text = await RunText.open(this.#planOf(row, {}), signal);
      for await (const piece of text.pieces(signal)) addTo(hash, piece, this.#options);
    } catch (error) {
      throw error instanceof TtsError && row.text !== undefined ? inRow(error, row) : error;
    }
    return hash.finish(this.#shapeOf(row));
  }

  /** The file may have changed since the plan: the key belongs to these segments. */
  read(
    row: BatchRow,
    voice: Pick<Limit, 'isKept'>,
    signal: AbortSignal,
  ): { segments: AsyncIterable<Segment | Rest>; key: () => RowKey } {
    const hash = new TextHash();
    const segments = segmentsOf(
      this.#planOf(row, voice, () => new Hashing(hash, this.#options)),
      signal,
    );
    return { segments, key: () => hash.finish(this.#shapeOf(row)) };
  }

  #shapeOf({ voice, file }: BatchRow): Shape {
    const { ownerOf, encodedAs, mix, maxChars, cutsParagraphs } = this.#options;
    return { owner: ownerOf(voice), voice, mix, maxChars, cutsParagraphs, encoded: encodedAs(file) };
  }

  #planOf(
    { text, textFile }: BatchRow,
    { isKept }: Pick<Limit, 'isKept'>,
    ...last: TextPlan['stages']
  ): TextPlan {
    const { settings, stages, cast, host, maxChars, pace, cutsParagraphs = false } = this.#options;
    const input =
      textFile === undefined ? { words: [text ?? ''], files: [] } : { words: [], files: [textFile] };
    return {
      sources: () => sourcesOf(input, settings, host),
      stages: [...stages, ...last],
      cast: cast?.plan,
      voice: { maxChars, ...(isKept && { isKept }) },
      pace,
      cutsParagraphs,
    };
  }
}

async function* segmentsOf(plan: TextPlan, signal: AbortSignal): AsyncGenerator<Segment | Rest> {
  const text = await RunText.open(plan, signal);
  yield* text.segments(false, signal);
}

/** It hashes the pieces that pass through it. */
class Hashing implements Stage<Piece, Piece> {
  readonly #hash: TextHash;
  readonly #heard: Heard;

  constructor(hash: TextHash, heard: Heard) {
    this.#hash = hash;
    this.#heard = heard;
  }

  push(piece: Piece): readonly Piece[] {
    addTo(this.#hash, piece, this.#heard);
    return [piece];
  }

  end(): readonly Piece[] {
    return [];
  }
}

function inRow(error: TtsError, { table, line }: BatchRow): TtsError {
  return error.reworded(`${table}, line ${line}: ${error.message}`);
}

/** What is heard besides the words. */
type Heard = Pick<RowTextOptions, 'mix' | 'cast'>;

/**
 * The key of a text without marks and such borders is that of the text as it stands in a table. The chapter with which a text begins
 * is not heard, and in some formats a text without chapters is one.
 */
function addTo(hash: TextHash, piece: Piece, { mix: { pauses }, cast }: Heard): void {
  hash.add(writtenOf(piece));
  const { kind } = piece;
  if (kind === 'chapter' && hash.isEmpty) return;
  if (kind === 'heading' || kind === 'scene' || kind === 'chapter') hash.addMark(`${kind} ${pauses[kind]}`);
  if (piece.kind === 'pause') hash.addMark(`pause ${piece.seconds}`);
  if (piece.kind === 'voice')
    hash.addMark(`voice ${JSON.stringify(piece.voice === undefined ? null : cast?.shapeOf(piece.voice))}`);
}
