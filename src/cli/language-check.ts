import { ExitCode, TtsError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import type { SpeechJob } from '../run/job.ts';
import type { RunText } from '../run/text.ts';
import { count, LanguageGuess, LETTERS } from '../text/language-guess.ts';
import { baseLanguage, isUnreadByEspeak, languageName, languageOf } from '../voices/language.ts';

/** Share of unread letters that counts as nearly all: the rest is the name of a person, a number or a licence. */
const NEARLY_ALL = 0.9;

/** Letters that are enough to tell the language of a text. */
const ENOUGH = 2000;

/** Letters that are enough to tell whether half of a text is in another language. */
const ENOUGH_PASSAGES = 20_000;

/** Least share of the letters in a second language that leads to a warning. */
const HALF = 0.5;

/** UTF-16 units that are examined in one step. */
const STEP = 1000;

/** How much of a text the built-in voice can read. */
export class BuiltInReading {
  readonly written = new LanguageGuess();
  #read = 0;
  readonly #normalise: (text: string) => string;

  /** @param normalise returns the words that the voice reads for a text */
  constructor(normalise: (text: string) => string) {
    this.#normalise = normalise;
  }

  add(text: string): void {
    this.written.add(text);
    this.#read += Math.min(count(text, LETTERS()), count(this.#normalise(text), LETTERS()));
  }

  get leavesOutNearlyAll(): boolean {
    const { letters } = this.written;
    return letters > 0 && letters - this.#read >= NEARLY_ALL * letters;
  }
}

/** Letters by language, for passages whose words show their language. */
class Passages {
  letters = 0;
  readonly #byLanguage = new Map<string, number>();

  add(text: string): void {
    for (const passage of text.split(/\n[^\S\n]*\n/u)) {
      const written = new LanguageGuess();
      written.add(passage);
      this.letters += written.letters;
      const { language } = written;
      if (language !== undefined)
        this.#byLanguage.set(language, (this.#byLanguage.get(language) ?? 0) + written.letters);
    }
  }

  /** @returns a language that at least half of the text is in, if other parts are in `spoken` */
  halfBeside(spoken: string): string | undefined {
    if (!this.#byLanguage.has(spoken)) return undefined;
    return [...this.#byLanguage].find(
      ([language, letters]) => language !== spoken && letters >= HALF * this.letters,
    )?.[0];
  }
}

type Checked = Pick<SpeechJob, 'speaker' | 'cast'>;

/**
 * Compares the language of a text with that of its voice, before anything is paid for.
 * @returns a warning if they differ; `undefined` if they agree, or one of them is not known
 * @throws TtsError (service) if the built-in voice would leave out nearly all of the text
 */
export async function checkLanguage(
  { speaker: { voice }, cast }: Checked,
  text: RunText,
  context: RunContext,
): Promise<string | undefined> {
  const spoken = languageOf(voice.language ?? '');
  if (cast || spoken === undefined) return undefined;
  const isBuiltIn = voice.source.kind === 'built-in';
  const { normalise } = isBuiltIn ? await import('../engines/normalise.ts') : { normalise: String };
  const reading = new BuiltInReading(normalise);
  const passages = new Passages();
  if (text.canBeReadAgain) await look(text, { reading, passages }, context.signal);
  const stated = text.about?.language;
  const language = reading.written.language ?? (stated && baseLanguage(stated));
  if (isBuiltIn && reading.leavesOutNearlyAll) throw await nothingRead(language, context);
  const what = text.about ? 'book' : 'text';
  const other = passages.halfBeside(spoken);
  if (other !== undefined)
    return `about half of the ${what} is in ${languageName(other) ?? other}, and the voice speaks ${languageName(spoken)}: --languages ${other} gives it a voice of its own`;
  const isEspeak = voice.source.kind === 'espeak';
  return language ? await unlike(language, { spoken, what, isEspeak }, context) : undefined;
}

/** @returns a warning if the languages differ, or if espeak-ng cannot read the characters of the text */
async function unlike(
  language: string,
  { spoken, what, isEspeak }: { readonly spoken: string; readonly what: string; readonly isEspeak: boolean },
  context: RunContext,
): Promise<string | undefined> {
  const isUnread = isEspeak && isUnreadByEspeak(language) && isUnreadByEspeak(spoken);
  if (language === spoken && !isUnread) return undefined;
  const name = languageName(language) ?? language;
  const remedy = await advice(language, context);
  if (isUnread) return `espeak-ng does not read the characters of ${name}: ${remedy}`;
  return `the ${what} is in ${name}, and the voice speaks ${languageName(spoken)}: ${remedy}`;
}

/** Reads the beginning of the text, or all of it if the voice can read next to nothing. */
async function look(
  text: RunText,
  { reading, passages }: { readonly reading: BuiltInReading; readonly passages: Passages },
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of text.pieces(signal)) {
    if (piece.kind !== 'text') continue;
    passages.add(piece.text);
    const isRead = reading.written.letters >= ENOUGH && !reading.leavesOutNearlyAll;
    for (let at = 0; at < piece.text.length && !isRead; at += STEP)
      reading.add(piece.text.slice(at, at + STEP));
    if (isRead && passages.letters >= ENOUGH_PASSAGES) return;
  }
}

/** Returns the error for a text that the built-in voice would leave out nearly completely. */
export async function nothingRead(language: string | undefined, context: RunContext): Promise<TtsError> {
  const name = language === undefined ? undefined : languageName(language);
  const known = name === undefined || name === 'English' ? '' : `, which is in ${name}`;
  return new TtsError(
    `the built-in voice speaks English only, and can read next to nothing of this text${known}`,
    {
      exitCode: ExitCode.service,
      hint:
        known === ''
          ? 'choose another voice: tts voices lists those of other languages'
          : await advice(language ?? '', context),
    },
  );
}

/** Returns a hint: how to get a voice for the language. */
export async function advice(language: string, context: RunContext): Promise<string> {
  const [{ findEspeak }, { adviceFor }] = await Promise.all([
    import('../engines/espeak.ts'),
    import('../voices/unknown.ts'),
  ]);
  return adviceFor(language, { espeak: (await findEspeak(context)).espeak, context });
}
