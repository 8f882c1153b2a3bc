/**
 * What every voice of English reads, and what every other voice does: espeak-ng spells the letters that it does not know.
 * Numbers it does not read in each language.
 */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** What may begin a sequence for terminals, with which letters go that nobody reads. */
const SEQUENCES = ['\u001b', '\u009b'];

/**
 * Whether a voice will find something to speak in a text, as far as that can be known before it tries. Where this says
 * no, only the engine knows.
 *
 * @param language the voice's
 */
export function surelySpeakable(text: string, language: string): boolean {
  if (SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}
