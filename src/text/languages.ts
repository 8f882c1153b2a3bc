import { eld } from 'eld/extrasmall';
import { completeLength } from './complete.ts';
import { count, LETTERS } from './language-guess.ts';
import { LOOKAROUND } from './marks.ts';
import { type Piece, type Place, placeAfter } from './piece.ts';
import { sentences } from './sentences.ts';
import { type Stage, WAITS } from './stage.ts';
import { hasWord } from './unicode.ts';

/** A language with a voice of its own. */
interface NamedLanguage {
  /** The language as the user writes it, e.g. `de-AT`; voice pieces carry this key. */
  readonly key: string;
  /** The language code without its region: `de` for `de-AT`. */
  readonly code: string;
}

export interface LanguagesOptions {
  readonly named: readonly NamedLanguage[];
  /** The language code of the run's voice, if known. */
  readonly usual: string | undefined;
  /** @returns the language key for a tag in a document; "" for a language without a voice, `undefined` for an invalid tag */
  meantBy(tag: string): string | undefined;
}

/** The run's default voice, used in place of a language key. */
const RUN_VOICE = '';

/** Letters. A single sentence shorter than this is too short to detect its language. */
const ENOUGH_LETTERS = 60;
const ENOUGH_SENTENCES = 2;
/** Letters. In shorter text, a detected language without a voice is more likely a wrong guess. */
const ENOUGH_FOR_OTHERS = 30;
/** Han characters. Fewer than this may be Japanese without kana. */
const ENOUGH_HAN = 8;

/** UTF-16 units. A sentence longer than this is passed on before its end has arrived. */
const LONGEST_SENTENCE = 2048;
/** Fewest UTF-16 units to read before the held text is examined again; long text is examined less often. */
const BETWEEN_LOOKS = 64;
/** Most passages, and most UTF-16 units of them, that wait for the language of a later passage. */
const MOST_WAITING = 50;
const MOST_WAITING_TEXT = 400;

const EMPTY_LINES = /\n[^\S\n]*\n\s*/u;

/** A piece of text with one place and one language mark, or a pause. */
interface Fragment {
  readonly text: string;
  readonly place: Place;
  /** The language that the document marks: a key, or `RUN_VOICE`; `undefined` without a mark. */
  readonly marked: string | undefined;
  /** Set instead of text: a pause inside the paragraph. */
  readonly piece?: Piece;
}

/** Sentences of one paragraph that share a language, or a piece that is not text. */
interface Passage {
  readonly parts: readonly Fragment[];
  readonly isHeading: boolean;
  /** The number of the paragraph that contains it. */
  readonly paragraph: number;
  /** The language key, once known. */
  readonly language: string | undefined;
}

/**
 * Switches to the voice of each passage's language. A mark in the document decides first, then the script, then statistics
 * over at least two sentences or sixty letters. A shorter passage takes the language of its neighbours. Text after a
 * `[voice:NAME]` mark stays with that voice.
 */
export class Languages implements Stage<Piece, Piece> {
  readonly #detector: Detector;
  readonly #meantBy: (tag: string) => string | undefined;
  /** The part of the current paragraph that was not emitted yet. */
  #held: Fragment[] = [];
  #heldText = '';
  #sinceLook = 0;
  /** The language of the part of the paragraph that was already emitted. */
  #emittedLanguage: string | undefined;
  #paragraph = 0;
  /** Passages of unknown language, which the next passage of known language decides. */
  #waiting: Passage[] = [];
  /** The language of the last passage whose language was known. */
  #last: string | undefined;
  /** The language that the document declares for its whole text. */
  #whole: string | undefined;
  #marked: string | undefined;
  #isHeading = false;
  /** True after a `[voice:NAME]` mark: that voice speaks, whatever the language. */
  #isNamed = false;
  #spoken = RUN_VOICE;

  constructor({ named, usual, meantBy }: LanguagesOptions) {
    this.#detector = new Detector(named, usual);
    this.#meantBy = meantBy;
  }

  get isHolding(): boolean {
    return this.#waiting.length > 0 || /\S/u.test(this.#heldText);
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'language') return this.#mark(piece);
    if (piece.kind === 'text' && !this.#isNamed) return yield* this.#read(piece.text, piece.place);
    if (piece.kind === 'pause' && this.#held.length > 0) return this.#hold({ piece });
    if (piece.kind === 'text' || piece.kind === 'pause') return yield* this.#pass(piece);
    yield* this.#settle(true);
    this.#endParagraph();
    if (piece.kind === 'heading') this.#isHeading = !this.#isHeading;
    if (piece.kind !== 'voice') return yield* this.#pass(piece);
    yield* this.#release(undefined);
    this.#isNamed = piece.voice !== undefined;
    this.#spoken = RUN_VOICE;
    yield piece;
  }

  *flush(idleMs: number): Generator<Piece> {
    if (idleMs < WAITS.sentence) return;
    const length = completeLength(this.#heldText, idleMs);
    const text = this.#unmarked(length);
    if (length > 0) yield* this.#take(length, this.#detector.of(text, sentences(text).length));
    if (length > 0 || this.#heldText.trim() === '') yield* this.#release(undefined);
  }

  *end(): Generator<Piece> {
    yield* this.#settle(true);
    yield* this.#release(undefined);
  }

  #mark({ language, isWhole }: Extract<Piece, { kind: 'language' }>): void {
    const meant = language === undefined ? undefined : this.#meantBy(language);
    this.#marked = isWhole ? undefined : meant;
    if (isWhole) this.#whole = meant;
  }

  *#read(text: string, place: Place): Generator<Piece> {
    this.#hold({ text, place });
    this.#sinceLook += text.length;
    if (this.#sinceLook < Math.max(BETWEEN_LOOKS, this.#heldText.length / 4)) return;
    this.#sinceLook = 0;
    yield* this.#settle(false);
  }

  #hold({ text = '', place = { source: '' }, piece }: Partial<Fragment>): void {
    this.#held.push({ text, place, marked: this.#marked, ...(piece && { piece }) });
    this.#heldText += text;
  }

  /** Emits the complete sentences and paragraphs of the held text; with `isWhole`, all of it. */
  *#settle(isWhole: boolean): Generator<Piece> {
    for (;;) {
      const { index, 0: empty = '' } = EMPTY_LINES.exec(this.#heldText) ?? {};
      // More white space may still arrive.
      const isBorder = index !== undefined && (isWhole || index + empty.length < this.#heldText.length);
      yield* this.#sentences(
        isBorder ? this.#heldText.slice(0, index + empty.length) : this.#heldText,
        isWhole || isBorder,
      );
      if (!isBorder) break;
      this.#endParagraph();
    }
    if (isWhole && this.#held.length > 0) yield* this.#take(this.#heldText.length, undefined);
  }

  #endParagraph(): void {
    this.#emittedLanguage = undefined;
    this.#paragraph += 1;
  }

  /** Takes passages from the held text: each is two sentences, or enough letters to detect a language. */
  *#sentences(paragraph: string, isWhole: boolean): Generator<Piece> {
    let length = 0;
    let before = 0;
    let number = 0;
    let after = paragraph.length;
    for (const sentence of sentences(paragraph)) {
      after -= sentence.length;
      if (!isWhole && after < LOOKAROUND) break;
      before = length;
      length += sentence.length;
      if (hasWord(sentence)) number += 1;
      const text = this.#unmarked(length);
      const isEnough = number >= ENOUGH_SENTENCES || count(text, LETTERS()) >= ENOUGH_LETTERS;
      if (!isEnough && !this.#detector.isCertain(text)) continue;
      yield* this.#takeSentences(before, length, number);
      length = 0;
      number = 0;
    }
    const rest = isWhole || length + after > LONGEST_SENTENCE ? length + after : 0;
    // The sentence that was emitted before counts, too.
    if (this.#emittedLanguage !== undefined) number += 1;
    if (rest > 0) yield* this.#take(rest, this.#detector.of(this.#unmarked(rest), number));
  }

  /** Takes two sentences as one passage, or as two if their languages differ. */
  *#takeSentences(before: number, length: number, number: number): Generator<Piece> {
    const first = this.#unmarked(before);
    const second = this.#unmarked(length).slice(first.length);
    const isApart = this.#detector.areApart(first, second);
    if (isApart) yield* this.#take(before, this.#detector.of(first, number));
    const left = isApart ? length - before : length;
    yield* this.#take(left, this.#detector.of(this.#unmarked(left), number));
  }

  /** @returns the first `length` UTF-16 units of the held text, without the text whose language is marked */
  #unmarked(length: number): string {
    let text = '';
    let at = 0;
    for (const part of this.#held) {
      if (at >= length) break;
      if (part.marked === undefined) text += part.text.slice(0, length - at);
      else text += ' ';
      at += part.text.length;
    }
    return text;
  }

  *#take(length: number, found: string | undefined): Generator<Piece> {
    const parts: Fragment[] = [];
    let left = length;
    for (let part = this.#held.shift(); part; part = this.#held.shift()) {
      const text = part.text.slice(0, left);
      left -= text.length;
      parts.push({ ...part, text });
      const rest = part.text.slice(text.length);
      if (rest === '' && (left > 0 || this.#held[0]?.text === '')) continue;
      if (rest !== '') this.#held.unshift({ ...part, text: rest, place: placeAfter(part.place, text) });
      break;
    }
    this.#heldText = this.#heldText.slice(length);
    const words = parts.filter(({ text }) => hasWord(text));
    const isMarked = words.length > 0 && words.every(({ marked }) => marked !== undefined);
    const language = (isMarked ? words[0]?.marked : found) ?? this.#emittedLanguage;
    const passage = { parts, isHeading: this.#isHeading, paragraph: this.#paragraph, language };
    // A marked passage must not decide the language of unmarked neighbours.
    if (isMarked) return yield* this.#inTurn(passage);
    this.#emittedLanguage = language;
    yield* this.#put(passage);
  }

  /** Passes on a piece whose language is not detected. */
  *#pass(piece: Piece): Generator<Piece> {
    const parts = [{ text: '', place: { source: '' }, marked: RUN_VOICE, piece }];
    yield* this.#inTurn({ parts, isHeading: false, paragraph: this.#paragraph, language: RUN_VOICE });
  }

  /** Keeps the order: a passage that need not wait still queues after those that do. */
  *#inTurn(passage: Passage): Generator<Piece> {
    if (this.#waiting.length === 0) yield* this.#say(passage, passage.language ?? this.#spoken);
    else yield* this.#wait(passage);
  }

  *#put(passage: Passage): Generator<Piece> {
    const { language } = passage;
    if (language !== undefined) {
      yield* this.#release(language);
      this.#last = language;
      return yield* this.#say(passage, language);
    }
    if (passage.parts.some(({ text }) => hasWord(text))) yield* this.#wait(passage);
    else yield* this.#inTurn(passage);
  }

  *#wait(passage: Passage): Generator<Piece> {
    this.#waiting.push(passage);
    const units = this.#waiting.reduce(
      (sum, { parts }) => parts.reduce((all, { text }) => all + text.length, sum),
      0,
    );
    if (this.#waiting.length > MOST_WAITING || units > MOST_WAITING_TEXT) yield* this.#release(undefined);
  }

  /** @param next the language of the passage that follows; `undefined` if unknown */
  *#release(next: string | undefined): Generator<Piece> {
    const waiting = this.#waiting.splice(0);
    const nearest = waiting.findLastIndex(({ language }) => language === undefined);
    for (const [at, passage] of waiting.entries()) {
      const leadsOn = passage.paragraph === this.#paragraph || (passage.isHeading && at === nearest);
      const before = passage.isHeading ? undefined : this.#last;
      const around = leadsOn && next !== undefined ? next : this.#between(before, next);
      yield* this.#say(passage, passage.language ?? around ?? this.#whole ?? RUN_VOICE);
    }
  }

  /** @returns the language for text between two known languages; `undefined` if they do not decide it */
  #between(before: string | undefined, next: string | undefined): string | undefined {
    if (before === next) return before;
    if (this.#whole !== undefined || (before !== undefined && next !== undefined)) return undefined;
    return next ?? before;
  }

  *#say({ parts }: Passage, language: string): Generator<Piece> {
    for (const { piece, text, place, marked } of parts) {
      if (piece) yield piece;
      let at = place;
      for (const run of this.#detector.runs(text, marked ?? language)) {
        yield* this.#sayIn(run.language, run.text, at);
        at = placeAfter(at, run.text);
      }
    }
  }

  *#sayIn(language: string, text: string, place: Place): Generator<Piece> {
    if (text === '') return;
    if (language !== this.#spoken && hasWord(text)) {
      this.#spoken = language;
      yield { kind: 'voice', voice: undefined, language: language || undefined, place };
    }
    yield { kind: 'text', text, place };
  }
}

/** Script codes of ISO 15924 that cover several Unicode scripts. */
const WRITTEN_IN: Readonly<Record<string, readonly string[]>> = {
  Jpan: ['Hira', 'Kana', 'Hani'],
  Kore: ['Hang'],
  Hans: ['Hira', 'Kana', 'Hani'],
  Hant: ['Hira', 'Kana', 'Hani'],
};

const KANA = /[\p{sc=Hira}\p{sc=Kana}]/gu;
const HAN = /\p{sc=Hani}/gu;
const EAST_ASIAN = /[\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}\p{sc=Hang}]/gu;
const LATIN = /\p{sc=Latn}/gu;
const OTHER_SCRIPTS = /[^\P{L}\p{sc=Latn}]+/gu;
/** Share of Latin letters. Below it, they are names and brands in a text of another script. */
const LEAST_LATIN = 0.4;
/** Characters that may stand between two letters of one script. */
const NEUTRAL = '[\\P{L}\\p{sc=Zyyy}]';
const OPENING = /[\p{Ps}\p{Pi}"'¿¡]{0,9}$/u;
const CLOSING = /^[^\p{L}\p{N}\p{Ps}\p{Pi}\s]{0,9}/u;

/** Languages that share a non-Latin script. */
interface Family {
  readonly codes: readonly string[];
  readonly letters: RegExp;
  /** Runs of those letters, with neutral characters between them. */
  readonly runs: RegExp;
}

/** Detects which of the run's languages a text is in. */
class Detector {
  /** Language keys by code; a language with its own voice takes precedence over the run's voice. */
  readonly #keys = new Map<string, string>();
  readonly #codes = new Map<string, string>();
  readonly #families: readonly Family[];
  readonly #hasLatin: boolean;

  constructor(named: readonly NamedLanguage[], usual: string | undefined) {
    for (const { key, code } of named) {
      if (!this.#keys.has(code)) this.#keys.set(code, key);
      this.#codes.set(key, code);
    }
    this.#hasLatin = [...this.#keys.keys()].some((code) => scriptOf(code) === 'Latn');
    if (usual !== undefined) {
      if (!this.#keys.has(usual)) this.#keys.set(usual, RUN_VOICE);
      this.#codes.set(RUN_VOICE, usual);
    }
    this.#families = familiesOf([...this.#keys.keys()]);
  }

  /** True if the text, however short, is enough to know its language: its script decides. */
  isCertain(text: string): boolean {
    return (!this.#hasLatin || !isLatin(text)) && this.of(text, 0) !== undefined;
  }

  /** @returns the language key; `undefined` if the text does not decide it */
  of(text: string, sentences: number): string | undefined {
    if (!hasWord(text) || count(text, LETTERS()) === 0) return undefined;
    if (!isLatin(text)) return this.#ofScript(text);
    if (!this.#hasLatin) return RUN_VOICE;
    const latin = text.replace(OTHER_SCRIPTS, ' ');
    const letters = count(latin, LETTERS());
    if (letters < ENOUGH_LETTERS && sentences < ENOUGH_SENTENCES) return undefined;
    const found = this.#counted(latin);
    if (found === undefined) return undefined;
    return this.#keys.get(found) ?? (letters >= ENOUGH_FOR_OTHERS ? RUN_VOICE : undefined);
  }

  /** True if two sentences are surely in different languages. */
  areApart(first: string, second: string): boolean {
    if (!isLatin(first) || !isLatin(second)) return false;
    const [one, other] = [first, second].map((text) => this.#keys.get(this.#counted(text) ?? ''));
    return one !== undefined && other !== undefined && one !== other;
  }

  /** Splits a text of one language around passages in a script that this language does not use. */
  *runs(text: string, language: string): Generator<{ readonly text: string; readonly language: string }> {
    const own = this.#codes.get(language) ?? '';
    const found = this.#families
      .filter(({ codes }) => !codes.includes(own))
      .flatMap((family) =>
        [...text.matchAll(family.runs)].map(({ 0: run, index }) => ({ run, index, family })),
      )
      .toSorted((a, b) => a.index - b.index);
    let at = 0;
    for (const { run, index, family } of found) {
      const key = isSymbol(run) ? undefined : this.#within(run, family);
      if (key === undefined || key === language) continue;
      const [opening = ''] = OPENING.exec(text.slice(Math.max(at, index - LOOKAROUND), index)) ?? [];
      const end = index + run.length;
      const [closing = ''] = CLOSING.exec(text.slice(end, end + LOOKAROUND)) ?? [];
      const start = index - opening.length;
      yield { text: text.slice(at, start), language };
      at = end + closing.length;
      yield { text: text.slice(start, at), language: key };
    }
    yield { text: text.slice(at), language };
  }

  #ofScript(text: string): string | undefined {
    const letters = count(text, LETTERS()) - count(text, LATIN);
    for (const family of this.#families)
      if (count(text, family.letters) * 2 > letters) return this.#within(text, family);
    return RUN_VOICE;
  }

  #within(text: string, { codes }: Family): string | undefined {
    const [first = '', second] = codes;
    if (codes.some((code) => scriptsOf(code).includes('Hani'))) return this.#eastAsian(text, codes);
    if (second === undefined) return this.#keys.get(first);
    const found = this.#counted(text);
    return found !== undefined && codes.includes(found) ? this.#keys.get(found) : undefined;
  }

  /** Tells Japanese, which mixes Han characters with kana, from Chinese. */
  #eastAsian(text: string, codes: readonly string[]): string | undefined {
    const kana = count(text, KANA);
    const han = count(text, HAN);
    const chinese = codes.find((code) => code !== 'ja');
    const hasJapanese = codes.includes('ja');
    if (kana * 10 > han) return hasJapanese ? this.#keys.get('ja') : RUN_VOICE;
    if (hasJapanese && chinese !== undefined && han < ENOUGH_HAN) return undefined;
    return this.#keys.get(chinese ?? 'ja');
  }

  #counted(text: string): string | undefined {
    const found = eld.detect(text);
    return found.isReliable() ? found.language : undefined;
  }
}

/** True if Latin letters prevail. An East Asian character counts as two letters. */
function isLatin(text: string): boolean {
  return count(text, LATIN) >= LEAST_LATIN * (count(text, LETTERS()) + count(text, EAST_ASIAN));
}

/** True for a single letter, such as Greek ones in mathematics; a single Chinese or Japanese character is a word. */
function isSymbol(run: string): boolean {
  return count(run, LETTERS()) < 2 && count(run, HAN) + count(run, KANA) === 0;
}

function familiesOf(codes: readonly string[]): Family[] {
  const families = new Map<string, string[]>();
  for (const code of codes) {
    const scripts = scriptsOf(code).join(' ');
    if (scripts !== 'Latn') families.set(scripts, [...(families.get(scripts) ?? []), code]);
  }
  return [...families].map(([scripts, codes]) => {
    const letter = `[${scripts
      .split(' ')
      .map((script) => `\\p{sc=${script}}`)
      .join('')}]`;
    return {
      codes,
      letters: new RegExp(letter, 'gu'),
      runs: new RegExp(`${letter}+(?:${NEUTRAL}*${letter}+)*`, 'gu'),
    };
  });
}

function scriptsOf(code: string): readonly string[] {
  const script = scriptOf(code);
  return WRITTEN_IN[script] ?? [script];
}

/** The ISO 15924 code of the script that a language is most often written in. */
function scriptOf(code: string): string {
  return new Intl.Locale(code).maximize().script ?? 'Latn';
}
