/** Reads subtitles: turns their cues into speech, with or without their times. */
import { type TtsError, usageError } from '../kit/error.ts';
import { type CueTime, labelOf, type Piece } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';
import { excerpt, hasWord } from '../text/unicode.ts';
import { decodeLegacy } from './code-pages.ts';
import { type FilmCue, readCues } from './cue-files.ts';
import { Controls } from './decode.ts';
import type { CueOptions, Reading, Source } from './reading.ts';
import { repeatable } from './source.ts';

/** Bytes; three hours of film take a fiftieth of this. All cues are held, since they are sorted. */
const MOST_BYTES = 16 * 2 ** 20;

/** Hours. A time code that counts from midnight stays below; a later one is a mistake that would mean hours of silence. */
const LONGEST_FILM = 24;

/** UTF-16 units: half an hour of speech. */
const LONGEST_CUE = 30_000;

/** @throws TtsError (usage) for a file without cues */
export async function openCues(source: Source, options: CueOptions, signal: AbortSignal): Promise<Reading> {
  const label = labelOf(source.name);
  const { isTimed } = options;
  if (source.again) await readFilm(source.again(signal), label, isTimed);
  const bytes = repeatable(source);
  return {
    source,
    async *pieces(until, { filter, onRemark = () => {} } = {}) {
      const { text, remark } = await readFilm(bytes(until), label, isTimed);
      if (remark !== undefined) onRemark(remark);
      const film = readCues(filter ? filtered(text, filter) : text);
      const sounds: string[] = [];
      const spoken = film.flatMap((cue) => speechOf(cue, options.speaksSounds ? undefined : sounds));
      const end = film.reduce((latest, cue) => Math.max(latest, cue.end), 0);
      const passages = passagesOf(spoken);
      yield* isTimed ? timedPieces(passages, end, source.name) : textPieces(passages, source.name);
      if (sounds.length > 0) onRemark(omittedRemark(sounds));
    },
  };
}

async function readFilm(bytes: AsyncIterable<Uint8Array>, label: string, isTimed: boolean) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > MOST_BYTES)
      throw usageError(`${label} is too long for subtitles`, 'divide it into files of less than 16 MiB');
    chunks.push(Buffer.from(chunk));
  }
  const decoded = decodeLegacy(Buffer.concat(chunks), label);
  const text = filtered(decoded.text.replace(/\r\n?/gu, '\n'), new Controls());
  const cues = readCues(text);
  if (text.trim() !== '' && cues.length === 0) throw noCues(label);
  const long = cues.find(({ lines }) => lines.reduce((sum, line) => sum + line.length, 0) > LONGEST_CUE);
  if (long)
    throw usageError(
      `${label}: the cue on line ${long.line} has more than ${LONGEST_CUE} characters`,
      'divide it: the sound of a cue is held until it is complete',
    );
  const late = isTimed && cues.find(({ end }) => end > LONGEST_FILM * 3600);
  if (late)
    throw usageError(
      `${label}: the cue on line ${late.line} ends after ${LONGEST_FILM} hours`,
      'correct its times; without --fit, its words are read as they come',
    );
  return { text, remark: decoded.remark };
}

function filtered(text: string, stage: Stage<string, string>): string {
  return [...stage.push(text), ...stage.end()].join('');
}

function noCues(label: string): TtsError {
  return usageError(
    `${label} has no cues: no line has times, as in 00:00:01,000 --> 00:00:04,000`,
    'SRT, WebVTT and ASS are read as subtitles; --format text speaks another file as it stands',
  );
}

interface SpokenCue extends Omit<FilmCue, 'lines'> {
  readonly text: string;
}

/** What is spoken as one segment: a cue, or the cues that one sentence spans. */
type Passage = readonly [first: SpokenCue, ...more: SpokenCue[]];

/** Signs before the words of another speaker. A minus before a number is none. */
const SPEAKER_SIGN = /^(?:>{2,3}|[-‐–—‒―](?!\d))\s{0,5}/u;
/** A speaker's label: `Name:` or `[Name]:`. */
const LABEL = /^(?:\[([^[\]\n]{1,40})\]|([\p{Lu}\p{Lo}][\p{L}\p{N} .'’-]{0,40}))\s?[:：]/u;

const NOTE = '[♪♫♬♩]';
/** Lyrics, or a lone music sign. */
const SUNG = new RegExp(`^${NOTE}.*$|^#\\s.*#$`, 'u');
/** Sounds in brackets. Parentheses count only around a whole line or around capitals. */
const SOUND = /\[[^[\]]{1,200}\]|［[^［］]{1,200}］|【[^【】]{1,200}】|\([\p{Lu}\d\s,.'’&-]{2,200}\)/gu;
/** UTF-16 units, brackets included. */
const LONGEST_SOUND = 202;
const SOUND_LINE = /^[(（][^()（）]{1,200}(?<![.!?…。！？])[)）]$/u;

/** @param sounds collects what is not speech; if `undefined`, everything is spoken */
function speechOf(cue: FilmCue, sounds: string[] | undefined): SpokenCue[] {
  const { lines, ...rest } = cue;
  let text = '';
  for (const line of withWholeBrackets(lines)) {
    const isOther = SPEAKER_SIGN.test(line);
    const labelled = line.replace(SPEAKER_SIGN, '').replace(/^\[([^[\]\n]{1,40})\]\s?([:：])/u, '$1$2');
    const said = sounds ? withoutSounds(labelled, sounds) : labelled;
    if (!hasWord(said) && text === '') continue;
    text += `${text === '' ? '' : isOther || LABEL.test(said) ? '\n' : ' '}${said}`;
  }
  return hasWord(text) ? [{ ...rest, text: text.trim() }] : [];
}

const OPEN_BRACKET = /[[(（［【][^[\](（)）［］【】]{0,200}$/u;
const CLOSING_BRACKET = /^[^[\](（)）［］【】]{0,200}[\])）］】]/u;

/** Joins lines with the next one where a bracket spans both. */
function withWholeBrackets(lines: readonly string[]): readonly string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const before = whole.at(-1) ?? '';
    const continues = CLOSING_BRACKET.test(line) && !SPEAKER_SIGN.test(line);
    if (continues && OPEN_BRACKET.test(before.slice(-LONGEST_SOUND)))
      whole[whole.length - 1] = `${before} ${line}`;
    else whole.push(line);
  }
  return whole;
}

function withoutSounds(line: string, sounds: string[]): string {
  const leave = (sound: string) => {
    sounds.push(sound);
    return ' ';
  };
  // Lyrics over several lines have a sign at the very beginning and at the very end.
  if (SUNG.test(line) || SOUND_LINE.test(line)) return leave(line).trim();
  return line.replace(SOUND, leave).replace(new RegExp(NOTE, 'gu'), leave).replace(/\s+/gu, ' ').trim();
}

function omittedRemark(sounds: readonly string[]): string {
  const [first = ''] = sounds;
  const what =
    sounds.length === 1
      ? `"${excerpt(first)}" is`
      : `${sounds.length} sounds, such as "${excerpt(first)}", are`;
  return `${what} left out, because only speech is read; --sounds read speaks them`;
}

const SENTENCE_END = /[.!?:;。！？：；।؟]["'”’»)\]」』]{0,4}$/u;
const OPEN_END = /(?:…|\.\.)["'”’»]{0,3}$/u;

/** Seconds: the longest gap between the cues of a sentence, and the longest time that they span. */
const [LONGEST_GAP, LONGEST_PASSAGE] = [1, 20] as const;
const MOST_CUES = 12;
/** The least share of cues with a sentence end from which on the subtitles have punctuation. */
const LEAST_ENDS = 0.2;

function passagesOf(spoken: readonly SpokenCue[]): Passage[] {
  const ends = spoken.filter(({ text }) => SENTENCE_END.test(text)).length;
  const hasSentences = ends >= LEAST_ENDS * spoken.length;
  const passages: Passage[] = [];
  for (const cue of spoken) {
    const before = passages.at(-1);
    if (hasSentences && before && continues(before, cue)) passages[passages.length - 1] = [...before, cue];
    else passages.push([cue]);
  }
  return passages;
}

function continues(before: Passage, { text, name, start, end }: SpokenCue): boolean {
  const last = before.at(-1) as SpokenCue;
  const gap = start - last.end;
  if (
    before.length >= MOST_CUES ||
    gap < -0.1 ||
    gap > LONGEST_GAP ||
    end - before[0].start > LONGEST_PASSAGE
  )
    return false;
  if (name !== last.name || LABEL.test(text)) return false;
  if (OPEN_END.test(last.text)) return /^(?:…|\.{2,}|\p{Ll})/u.test(text);
  return !SENTENCE_END.test(last.text);
}

function textOf(passage: Passage): string {
  return passage.map(({ text }) => text).join(' ');
}

function* timedPieces(passages: readonly Passage[], filmEnd: number, source: string): Generator<Piece> {
  for (const [at, passage] of passages.entries()) {
    const [first] = passage;
    const { number, start, name, line } = first;
    const time: CueTime = { number, start, next: passages[at + 1]?.[0].start, filmEnd };
    const place = { source, line };
    yield { kind: 'cue', name, time, place };
    yield { kind: 'text', text: textOf(passage), place };
  }
}

/** Seconds of silence that separate two scenes. */
const PARAGRAPH_SECONDS = 4;

function* textPieces(passages: readonly Passage[], source: string): Generator<Piece> {
  let before: SpokenCue | undefined;
  for (const passage of passages) {
    const [first] = passage;
    const place = { source, line: first.line };
    const isOther = first.name !== before?.name;
    if (before && first.start - before.end > PARAGRAPH_SECONDS) yield { kind: 'paragraph' };
    else if (before) {
      const endsLine =
        isOther || SENTENCE_END.test(before.text) || LABEL.test(first.text) || first.text.includes('\n');
      yield { kind: 'text', text: endsLine ? '\n' : ' ', place };
    }
    if (isOther) yield { kind: 'cue', name: first.name, time: undefined, place };
    yield { kind: 'text', text: textOf(passage), place };
    before = passage.at(-1);
  }
}
