import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { TtsError, usageError } from '../kit/error.ts';
import { fromHome } from '../kit/folders.ts';
import { isSameFile, isWithin, leadsBelow, realOf } from '../kit/guard.ts';
import type { Host } from '../kit/host.ts';
import { PROJECT_PLACES, userFolder } from '../options/config-places.ts';
import { keyFilesIn } from '../options/keys.ts';
import type { LoadedSettings, Settings } from '../options/load.ts';
import { hasControls } from '../read/decode.ts';
import { hasScene, isAsSpoken } from '../read/plain.ts';
import { inputStats } from '../read/source.ts';
import { sourcesOf } from '../run/readers.ts';
import { RunText, type TextPlan } from '../run/text.ts';
import type { Speaker } from '../sound/voice.ts';
import type { Lexicon } from '../text/lexicon.ts';
import { type Piece, writtenOf } from '../text/piece.ts';
import type { Segment, Silence } from '../text/segment.ts';
import type { Stage } from '../text/stage.ts';
import { asRole, type Cast } from '../voices/cast.ts';
import { type BatchRow, placeOf } from './plan.ts';
import { type RowKey, type Shape, speakerShape, TextHash } from './row-key.ts';

interface RowTextOptions extends Omit<Shape, 'voice' | 'owner' | 'encoded'>, Pick<TextPlan, 'pace'> {
  ownerOf(speaker: Speaker): string;
  encodedAs(file: string): Shape['encoded'];
  readonly settings: Settings;
  readonly stages: TextPlan['stages'];
  readonly lines: Lexicon['lines'];
  readonly cast: Cast | undefined;
  readonly host: Pick<Host, 'cwd' | 'stdin' | 'env' | 'platform'>;
}

/** Reads the texts of rows, and computes their keys. */
export class RowTexts {
  readonly #options: RowTextOptions;
  /** True if text in a table cell may be spoken without processing: plain text, no stages, no cast. */
  readonly #isAsWritten: boolean;

  constructor(options: RowTextOptions) {
    this.#options = options;
    const isPlain = options.stages.length === 0 && !options.cast;
    this.#isAsWritten = isPlain && ['auto', 'text'].includes(options.settings.format.value);
  }

  get named(): { readonly cast: Cast | undefined; readonly lexicon: Lexicon['lines'] } {
    const { cast, lines } = this.#options;
    return { cast, lexicon: lines };
  }

  /** @returns the text of a row that is spoken exactly as in the table; `undefined` for other rows */
  asWritten({ text }: BatchRow): string | undefined {
    if (text === undefined || !this.#isAsWritten) return undefined;
    return isAsSpoken(text) && !hasControls(text) && !hasScene(text) ? text : undefined;
  }

  /** @throws TtsError (usage) for a file that cannot be read */
  async keyOf(row: BatchRow, signal: AbortSignal): Promise<RowKey> {
    const hash = new TextHash();
    const written = this.asWritten(row);
    if (written === undefined) await this.#hashText(row, hash, signal);
    else hash.add(written);
    return hash.finish(this.#shapeOf(row));
  }

  async #hashText(row: BatchRow, hash: TextHash, signal: AbortSignal): Promise<void> {
    try {
      const text = await RunText.open(this.#planOf(row), signal);
      for await (const piece of text.pieces(signal)) addTo(hash, piece, this.#options);
    } catch (error) {
      if (!(error instanceof TtsError)) throw error;
      throw error.reworded(`${placeOf(row)}: ${error.message}`);
    }
  }

  /** Reads the segments of a row with their key, as a text file may have changed since the plan. */
  read(
    row: BatchRow,
    signal: AbortSignal,
  ): { segments: AsyncIterable<Segment | Silence>; key: () => RowKey } {
    const hash = new TextHash();
    const segments = segmentsOf(
      this.#planOf(row, () => new Hashing(hash, this.#options)),
      signal,
    );
    return { segments, key: () => hash.finish(this.#shapeOf(row)) };
  }

  #shapeOf({ speaker, file }: BatchRow): Shape {
    const { ownerOf, encodedAs, mix, maxChars, cutsParagraphs } = this.#options;
    return {
      owner: ownerOf(speaker),
      voice: speakerShape(speaker),
      mix,
      maxChars,
      cutsParagraphs,
      encoded: encodedAs(file),
    };
  }

  #planOf({ text, textFile, speaker }: BatchRow, ...last: TextPlan['stages']): TextPlan {
    const { settings, stages, cast, host, maxChars, pace, cutsParagraphs = false } = this.#options;
    const input =
      textFile === undefined ? { words: [text ?? ''], files: [] } : { words: [], files: [textFile] };
    return {
      sources: () => sourcesOf(input, settings, host),
      stages: [...stages, ...last],
      cast: cast?.plan,
      role: { ...asRole(speaker), maxChars },
      pace,
      cutsParagraphs,
    };
  }
}

async function* segmentsOf(plan: TextPlan, signal: AbortSignal): AsyncGenerator<Segment | Silence> {
  const text = await RunText.open(plan, signal);
  yield* text.segments(false, signal);
}

/** Hashes the pieces that pass through. */
class Hashing implements Stage<Piece, Piece> {
  readonly #hash: TextHash;
  readonly #audible: Audible;

  constructor(hash: TextHash, audible: Audible) {
    this.#hash = hash;
    this.#audible = audible;
  }

  push(piece: Piece): readonly Piece[] {
    addTo(this.#hash, piece, this.#audible);
    return [piece];
  }

  end(): readonly Piece[] {
    return [];
  }
}

/** The options that affect pauses and changes of voice. */
type Audible = Pick<RowTextOptions, 'mix' | 'cast'>;

/**
 * Adds a piece to a hash. A text without marks, headings, scenes and chapters gets the same key as in a table cell. A
 * chapter border at the start of a text adds no silence, so it is not in the key.
 */
function addTo(hash: TextHash, piece: Piece, { mix: { pauses }, cast }: Audible): void {
  hash.add(writtenOf(piece));
  const { kind } = piece;
  if (kind === 'chapter' && hash.isEmpty) return;
  if (kind === 'heading' || kind === 'scene' || kind === 'chapter') hash.addMark(`${kind} ${pauses[kind]}`);
  if (piece.kind === 'pause') hash.addMark(`pause ${piece.seconds}`);
  if (piece.kind === 'cue' && piece.time) hash.addMark(`cue ${JSON.stringify(piece.time)}`);
  if (piece.kind === 'voice') {
    const speaker = speakerOf(piece, cast);
    const shape = speaker ? [speaker.voice.identity, speakerShape(speaker)] : null;
    hash.addMark(`voice ${JSON.stringify(shape)}`);
  }
}

function speakerOf(
  { voice, language }: Extract<Piece, { kind: 'voice' }>,
  cast: Cast | undefined,
): Speaker | undefined {
  if (language !== undefined) return cast?.roleIn(language).speaker;
  return voice === undefined ? undefined : cast?.speakerOf(voice);
}

/** Resolves the column `file`, with checks: a table may come from someone else, and the files are sent to a service. */
export class TextFiles {
  readonly #host: Host;
  readonly #loaded: LoadedSettings;
  /** Another allowed folder, from `--files-from`. */
  readonly #from: string | undefined;

  /** @throws TtsError (usage) for a missing folder */
  constructor(host: Host, loaded: LoadedSettings, from: string | undefined) {
    this.#host = host;
    this.#loaded = loaded;
    this.#from = from === undefined ? undefined : realFolder(from, host);
  }

  /**
   * @param cell relative to the folder of the table
   * @throws TtsError (usage)
   */
  pathOf(cell: string, table: string): string {
    const { cwd } = this.#host;
    const folder = resolve(cwd, table === 'stdin' ? '' : dirname(table));
    const path = resolve(folder, cell);
    const folders = [realOf(folder), this.#from];
    if (!folders.some((each) => each !== undefined && leadsBelow(each, path)))
      throw usageError(
        `${cell} lies outside of the folder of its table`,
        'if you mean it, name the folder that holds it: --files-from FOLDER',
      );
    const found = inputStats(path, cwd);
    if (!found.isFile()) throw usageError(`${cell} is not a file`, 'name a file that holds text');
    if (this.#isPrivate(realOf(path) ?? path, found))
      throw usageError(`${cell} holds settings or a key of tts`, 'name a file that holds text');
    assertReadable(path, cell);
    return path;
  }

  #isPrivate(real: string, found: Stats): boolean {
    const own = userFolder(this.#host);
    if (own !== undefined && isWithin(realOf(own) ?? own, real)) return true;
    if (PROJECT_PLACES.some((place) => place !== 'package.json' && real.endsWith(sep + place))) return true;
    return [...this.#privateFiles()].some((path) => isSameFile(found, statsOf(path)));
  }

  *#privateFiles(): Generator<string> {
    const { settings, files } = this.#loaded;
    for (const { path } of files) yield resolve(this.#host.cwd, path);
    for (const { path } of keyFilesIn(settings, this.#host)) yield path;
  }
}

/** Returns `undefined` for a file that cannot be examined: a bad key file matters only to runs that read it. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realFolder(name: string, { cwd, home }: Host): string {
  const path = resolve(cwd, fromHome(name, home));
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const real = isFolder ? realOf(path) : undefined;
  if (real !== undefined) return real;
  throw usageError(`--files-from ${name}: there is no such folder`, 'name the folder that holds the texts');
}

function assertReadable(path: string, cell: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw usageError(`cannot read ${cell}: permission denied`, 'check its permissions', cause);
  }
}
