import { epubOf } from './epub.ts';

/** The length of the novel in code points. */
export const NOVEL_CHARACTERS = 150_000;

const OPENINGS = [
  'Dr. Smith met Mrs. Jones at 3.14 p.m. near the U.S. embassy',
  'J. R. R. Tolkien would have liked the tower, e.g. for its stairs',
  'Nobody had counted the lamps on No. 5, Quay Street',
  'The letter said nothing… nothing at all about the money',
  'At ¼ past nine the ferry (the old one, “Marie”) left without her',
  'Straße und Fluß lagen still, z. B. am Morgen',
];
const ENDS = [
  ', and the clock struck twelve',
  '; it was late',
  ' — or so the captain thought',
  '',
  ', naïve as ever 🙂',
];
const SPEECH = [
  '“What do you mean?” she asked. “You never told me.”',
  '"Go away!" he cried. "The flood is coming."',
  '— Стой! — крикнул он. Никто не ответил.',
  '「もう遅い。」と彼は言った。「帰ろう。」',
  '“A family of four 👩‍👩‍👧‍👦 and a flag 🇩🇪?” (He laughed.) “Well…”',
];
const SCRIPTS = [
  'Ветер стих, и море стало гладким. Лодка шла медленно.',
  '夜はとても静かだった。誰も来なかった。窓が開いている！',
  'रात बहुत शांत थी। कोई नहीं आया। दरवाज़ा खुला था।',
  'هل جاء أحد؟ لم يأت أحد. كان البحر هادئا.',
  'Η νύχτα ήταν ήσυχη. Κανείς δεν ήρθε· μόνο ο άνεμος.',
];

/** The novel as an EPUB with a document per ten paragraphs. */
export function novelBook(text: string): Buffer {
  const escaped = text.trimEnd().replaceAll('&', '&amp;').replaceAll('<', '&lt;').split('\n\n');
  const documents: Record<string, string> = {};
  for (let at = 0; at < escaped.length; at += 10)
    documents[`${at}.xhtml`] = escaped
      .slice(at, at + 10)
      .map((paragraph) => `<p>${paragraph}</p>`)
      .join('\n');
  const nav = Object.keys(documents).map((path) => `<li><a href="${path}">${path}</a></li>`);
  return epubOf({ documents, nav: nav.join('') });
}

/** A fixed sequence of pseudorandom integers, from the minimal standard generator of Park and Miller. */
function* numbers(): Generator<number, never> {
  for (let state = 42; ; ) {
    state = (state * 48_271) % 0x7fff_ffff;
    yield state;
  }
}

/**
 * Generates the same text each time: chapters, dialogue, abbreviations, lists, hard-wrapped lines, six scripts, emoji. Each
 * sentence of the narration has a number, so that no two are equal.
 * @param characters the minimum number of code points; the text ends with the paragraph that reaches it
 */
export function novel(characters = NOVEL_CHARACTERS): string {
  const source = numbers();
  const pick = <T>(from: readonly T[]) => from[source.next().value % from.length] as T;
  const paragraphs: string[] = [];
  let length = 0;
  for (let number = 0; length < characters; number++) {
    const paragraph = paragraphOf(number, pick);
    paragraphs.push(paragraph);
    length += Array.from(paragraph).length + 2;
  }
  return `${paragraphs.join('\n\n')}\n`;
}

type Pick = <T>(from: readonly T[]) => T;

function paragraphOf(number: number, pick: Pick): string {
  if (number % 40 === 0) return `Chapter ${number / 40 + 1}\n==========`;
  if (number % 40 === 17) return `- bread no. ${number}\n- a lamp\n- two letters`;
  if (number % 8 === 3) return `${pick(SPEECH)} ${narration(number, 1, pick)}`;
  if (number % 8 === 6) return `${pick(SCRIPTS)} ${pick(SCRIPTS)}`;
  return narration(number, 3 + (number % 5), pick);
}

function narration(paragraph: number, sentences: number, pick: Pick): string {
  const texts = Array.from(
    { length: sentences },
    (_, i) => `${pick(OPENINGS)}${pick(ENDS)} in year ${paragraph}-${i}.`,
  );
  return wrap(texts.join(' '));
}

/** Wraps lines hard at 60 to 72 characters. */
function wrap(text: string): string {
  return text.replace(/(.{60,72}) /gu, '$1\n');
}
