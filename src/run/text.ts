import { parse } from 'node:path';
import { type TtsError, usageError } from '../kit/error.ts';
import type { UnspokenOptions } from '../read/assistant.ts';
import type { About, BookFile, PieceOptions, Reader, Reading, Source } from '../read/reading.ts';
import { nothingToSay, Watched } from '../read/source.ts';
import { type ChapterRange, PickedChapters } from '../text/chapters.ts';
import { Cutter, type Pace } from '../text/cut.ts';
import { Marks } from '../text/marks.ts';
import type { Piece } from '../text/piece.ts';
import type { Places } from '../text/places.ts';
import type { Role, Segment, Silence } from '../text/segment.ts';
import { allInTurn, inTurn, type Stage, through, whileArriving } from '../text/stage.ts';
import { type CastPlan, checkMarks, spokenBy, voiced } from '../voices/cast.ts';
import { Answers, type SegmentOptions, segmentsByAnswer, Thought } from './conversation.ts';

/** What a run speaks, and how it is cut. */
export interface TextPlan {
  /** Makes the sources, and checks that files exist. */
  readonly sources: () => readonly TextSource[];
  /** The stages after the reader of each text, in this order. */
  readonly stages: readonly (() => Stage<Piece, Piece>)[];
  /** Stdin holds messages of `--input jsonl`. */
  readonly isConversation?: boolean;
  /** A stage before the reader of each text. */
  readonly filter?: ((how: Omit<UnspokenOptions, 'beginsInThought'>) => Stage<string, string>) | undefined;
  /** Speaks wherever the text names no other voice. Without it, the text is only read. */
  readonly role?: Role | undefined;
  /** Set if the text may name voices or have other marks. */
  readonly cast?: CastPlan | undefined;
  /** With "by output", sound that is heard live begins with a short segment. */
  readonly pace: 'whole' | 'sentence' | 'by output';
  readonly cutsParagraphs: boolean;
  /** At pace "sentence", longer segments whose sound is in the cache are not divided. */
  readonly usesKept?: boolean;
  /** The numbers of the chapters that are spoken; otherwise all. */
  readonly chapters?: readonly ChapterRange[] | undefined;
}

export interface TextSource {
  readonly source: Source;
  readonly reader: Reader;
}

/** The text of a run, opened and checked. Each use reads it again, unless it comes from a pipe. */
export class RunText {
  readonly #plan: TextPlan;
  readonly #readings: readonly Reading[];
  readonly #watched: readonly Watched[];
  readonly #remarks = new Set<string>();
  readonly #answers: Answers | undefined;

  private constructor(plan: TextPlan, { readings, watched, answers }: Opened) {
    this.#plan = plan;
    this.#readings = readings;
    this.#watched = watched;
    this.#answers = answers;
  }

  /**
   * Checks whole files. It waits for no byte of a pipe, except with a format that is read as a whole, such as EPUB.
   * @throws TtsError (usage) for a text that cannot be read, a missing chapter, an invalid mark and an unknown voice
   */
  static async open(plan: TextPlan, signal: AbortSignal): Promise<RunText> {
    const readings: Reading[] = [];
    const watched: Watched[] = [];
    let answers: Answers | undefined;
    for (const { source, reader } of plan.sources()) {
      const one = new Watched(source);
      watched.push(one);
      const talk = answersOf(one.source, plan);
      answers ??= talk;
      const reading = await reader(talk?.source ?? one.source, signal);
      if (plan.cast?.obeysMarks && source.again) await checkMarks(reading, plan.cast, signal);
      readings.push(reading);
    }
    const text = new RunText(plan, { readings, watched, answers });
    // Reports a missing chapter before anything is paid for.
    if (plan.chapters && text.canBeReadAgain) for await (const _ of text.pieces(signal));
    return text;
  }

  get #role(): Role {
    const { role } = this.#plan;
    if (!role) throw new RangeError('no voice is set for this text');
    return role;
  }

  /** True if the writer of a conversation took back what was said before. */
  get wasStopped(): boolean {
    return this.#answers?.wasStopped === true;
  }

  blank(): TtsError {
    return nothingToSay(this.#watched, this.remarks);
  }

  /** Title, author and other facts of the first document that states any. */
  get about(): About | undefined {
    return this.#readings.find(({ about }) => about)?.about;
  }

  /** The name of the first file, without folder and extension; empty for words and pipes. */
  get name(): string {
    const name = this.#readings[0]?.source.name ?? '';
    return name === '-' ? '' : parse(name).name;
  }

  /** The book that the text is, if it is one. @throws TtsError (usage) for a book among other texts */
  get book(): BookFile | undefined {
    const book = this.#readings.find((reading) => reading.book)?.book;
    if (book && this.#readings.length > 1)
      throw usageError(
        `a read-along book is made of one book, and ${book.name} is not alone`,
        'make one book at a time',
      );
    return book;
  }

  get canBeReadAgain(): boolean {
    return this.#readings.every(({ source }) => source.again);
  }

  /** Bytes of words and files; pipes count as 0. */
  get knownSize(): number {
    return this.#readings.reduce((sum, { source }) => sum + (source.size ?? 0), 0);
  }

  /** Remarks of the readers about their texts, complete once the pieces have been read. */
  get remarks(): readonly string[] {
    return [...this.#remarks];
  }

  pieces(signal: AbortSignal): AsyncIterable<Piece> {
    return through(this.#items(signal, { from: 0, isHeardLive: false }), this.#reader());
  }

  /** @param isHeardLive true to yield each segment as soon as possible, without what only the whole text can tell */
  segments(
    isHeardLive: boolean,
    signal: AbortSignal,
    { drops, places }: SegmentOptions = {},
  ): AsyncIterable<Segment | Silence> {
    let from = 0;
    const segmentsOf = (until: AbortSignal) => {
      const segments = this.#segments({ from, isHeardLive, places }, { signal, until });
      from = this.#readings.findIndex(({ source }) => source.name === '-');
      return places ? places.placing(segments) : segments;
    };
    const answers = this.#answers;
    const { isConversation, pace } = this.#plan;
    if (!answers || !(drops || isConversation) || pace === 'whole') return segmentsOf(signal);
    answers.divide(drops);
    return segmentsByAnswer(segmentsOf, { drops, answers, signal });
  }

  /** @param until aborts when the current answer is dropped */
  #segments(
    { from, isHeardLive, places }: ReadPass,
    { signal, until }: { readonly signal: AbortSignal; readonly until: AbortSignal },
  ): AsyncIterable<Segment | Silence> {
    const { pace, cast } = this.#plan;
    const voice = this.#role;
    const mayWait = pace !== 'whole' && !this.canBeReadAgain;
    const segmenter = this.#segmenter(isHeardLive, mayWait);
    const items = this.#items(signal, { from, isHeardLive: isHeardLive && mayWait, places });
    const reader = this.#reader();
    const passed = <In, Out>(all: AsyncIterable<In>, stage: Stage<In, Out>) =>
      mayWait ? whileArriving(all, stage, until, isHeardLive) : through(all, stage);
    if (mayWait && !cast) return passed(items, inTurn(reader, inTurn(spokenBy(voice), segmenter)));
    const read = passed(items, reader);
    return passed(voiced(pace === 'whole' ? inOneRequest(read) : read, voice, cast), segmenter);
  }

  #segmenter(isHeardLive: boolean, mayWait: boolean): Stage<Piece<Role>, Segment | Silence> {
    const { pace, cutsParagraphs, usesKept = false } = this.#plan;
    const voice = this.#role;
    const follows = usesKept && !(mayWait && isHeardLive);
    return new Cutter({
      voice,
      pace: paceOf(follows ? 'by output' : pace, isHeardLive),
      cutsParagraphs,
      dividesNew: follows,
    });
  }

  async *#items(signal: AbortSignal, pass: ReadPass): AsyncGenerator<Item> {
    for (const [at, reading] of this.#readings.entries()) {
      if (at < pass.from) continue;
      if (at > 0) yield { kind: 'paragraph' };
      yield* this.#read(reading, pass, signal);
      if (reading.source.name === '-' && this.#answers?.goesOn) return;
    }
  }

  async *#read(
    reading: Reading,
    { isHeardLive, places }: ReadPass,
    signal: AbortSignal,
  ): AsyncGenerator<Item> {
    const { cast: { obeysMarks = false, dialogue, languages } = {}, stages, filter, role } = this.#plan;
    const { name, again } = reading.source;
    const isLive = isHeardLive && !again;
    // For languages, the reader marks the passages whose language the document states.
    const marks = obeysMarks || languages ? new Marks({ source: name, areObeyed: obeysMarks }) : undefined;
    const onRemark = (remark: string) => this.#remarks.add(remark);
    const passed = name === '-' ? this.#answers?.passed : undefined;
    const place = places?.of(this.#readings.length === 1 ? '' : name, passed);
    const options: PieceOptions = {
      onRemark,
      languageMark: languages && marks && ((...said) => marks.languageMark(...said)),
      filter: allInTurn([filter?.({ filler: places?.filler, isLive }), place, marks?.lift()]),
    };
    const byLanguage = languages?.(role?.speaker.voice.language);
    const after = allInTurn([marks?.place(), dialogue?.(), byLanguage, ...stages.map((make) => make())]);
    const live = isLive ? reading.live?.(signal, options) : undefined;
    if (live) {
      const stage = after ? inTurn(live.stage, after) : live.stage;
      for await (const text of live.characters) yield { kind: 'characters', text, stage };
      return yield { kind: 'end' };
    }
    const pieces = reading.pieces(signal, options);
    yield* after ? through(pieces, after) : pieces;
  }

  #reader(): Stage<Item, Piece> {
    const { chapters } = this.#plan;
    const inStep = new ItemStage(this.#readings.length === 1);
    return chapters ? inTurn(inStep, new PickedChapters(chapters)) : inStep;
  }
}

/** What the readings of a run yield: pieces, or characters that are still to be read in step with their writer. */
type Item =
  | Piece
  | { readonly kind: 'characters'; readonly text: string; readonly stage: Stage<string, Piece> }
  | { readonly kind: 'end' };

/** Reads characters, and omits the source's name from the places if there is only one source. */
class ItemStage implements Stage<Item, Piece> {
  readonly #isOnly: boolean;
  #stage: Stage<string, Piece> | undefined;

  constructor(isOnly: boolean) {
    this.#isOnly = isOnly;
  }

  get isHolding(): boolean {
    return this.#stage?.isHolding ?? false;
  }

  *push(item: Item): Generator<Piece> {
    if (item.kind === 'characters') {
      this.#stage = item.stage;
      yield* this.#placed(item.stage.push(item.text));
    } else if (item.kind === 'end') {
      yield* this.#placed(this.#stage?.end() ?? []);
      this.#stage = undefined;
    } else yield* this.#placed([item]);
  }

  *flush(idle: number): Generator<Piece> {
    yield* this.#placed(this.#stage?.flush?.(idle) ?? []);
  }

  end(): readonly Piece[] {
    return [];
  }

  *#placed(pieces: Iterable<Piece>): Generator<Piece> {
    for (const piece of pieces)
      yield this.#isOnly && piece.kind === 'text'
        ? { ...piece, place: { ...piece.place, source: '' } }
        : piece;
  }
}

/** @returns `undefined` for a source that is always one text */
function answersOf(source: Source, { isConversation, filter }: TextPlan): Answers | undefined {
  if (source.name !== '-') return undefined;
  if (isConversation) return new Answers(source);
  return filter && !source.again ? new Answers(source, new Thought(filter)) : undefined;
}

/** One pass over the text. */
interface ReadPass {
  /** The index of the first reading of this pass. */
  readonly from: number;
  readonly isHeardLive: boolean;
  readonly places?: Places | undefined;
}

interface Opened {
  readonly readings: readonly Reading[];
  readonly watched: readonly Watched[];
  readonly answers: Answers | undefined;
}

function paceOf(pace: TextPlan['pace'], isHeardLive: boolean): Pace {
  if (pace === 'by output') return isHeardLive ? 'ramp' : 'full';
  return pace === 'sentence' && isHeardLive ? 'heard' : pace;
}

/** UTF-16 units of the longest text in one request: 75 hours of speech. */
const LONGEST_WHOLE = 4 * 1024 * 1024;

/**
 * Turns all borders into paragraphs, so that the text stays one request.
 * @throws TtsError (usage) for a text that is too long
 */
async function* inOneRequest(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let length = 0;
  for await (const piece of pieces) {
    if (piece.kind === 'text') length += piece.text.length;
    if (length > LONGEST_WHOLE) throw tooLong();
    yield isBorder(piece) ? { kind: 'paragraph' } : piece;
  }
}

function isBorder({ kind }: Piece): boolean {
  return kind === 'heading' || kind === 'scene' || kind === 'chapter';
}

function tooLong(): TtsError {
  return usageError(
    `the text is longer than ${LONGEST_WHOLE} characters, but --callback-url needs it in one request`,
    'speak it in parts, or without --callback-url: then it is cut into many requests',
  );
}
