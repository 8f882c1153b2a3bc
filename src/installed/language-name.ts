/** @returns the name of a language in English, in small letters; `undefined` for an unknown one */
export function languageName(language: string): string | undefined {
  if (!/^[a-z]{2,3}$/.test(language) || language === 'und') return undefined;
  return new Intl.DisplayNames('en', { type: 'language' }).of(language)?.toLowerCase();
}
