import type { About } from '../../reading/reading.ts';
import type { Voice } from '../../voices/voice.ts';

/** Codes of no language in particular. */
const NONE = new Set(['mis', 'mul', 'und', 'zxx']);
/** They are forms of one language. */
const NORWEGIAN = new Set(['nb', 'nn', 'no']);

/**
 * A book in one language and a voice of another are a mistake nearly always, but a book may name a wrong one.
 * @returns what there is to say of them; `undefined` where they agree, or one of them is not known
 */
export function languageHint(
  about: About | undefined,
  { language: spoken }: Pick<Voice, 'language'>,
): string | undefined {
  const [book, voice] = [languageOf(about?.language), languageOf(spoken)];
  if (book === undefined || voice === undefined || book === voice) return undefined;
  return `the book is in ${nameOf(book)}, and the voice speaks ${nameOf(voice)}: -s ${book} takes a voice that fits`;
}

/** @param tag of BCP 47, or what stands in its place: `en_US`, `deu` */
function languageOf(tag = ''): string | undefined {
  const [code = ''] = tag.trim().toLowerCase().split(/[-_]/u);
  if (!/^[a-z]{2,3}$/u.test(code) || NONE.has(code)) return undefined;
  const language = Intl.getCanonicalLocales(code)[0];
  return language !== undefined && NORWEGIAN.has(language) ? 'no' : language;
}

function nameOf(language: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language;
}
