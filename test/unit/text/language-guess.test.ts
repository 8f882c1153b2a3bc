import { expect, it } from 'vitest';
import { LanguageGuess } from '../../../src/text/language-guess.ts';

const SAMPLES: readonly (readonly [language: string | undefined, text: string])[] = [
  [
    'en',
    'It was the best of times, it was the worst of times, it was the age of wisdom, and we had everything before us.',
  ],
  [
    'de',
    'Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett zu einem ungeheueren Ungeziefer verwandelt. Er lag auf dem Rücken und war nicht mehr der alte.',
  ],
  [
    'fr',
    "Longtemps, je me suis couché de bonne heure. Parfois, à peine ma bougie éteinte, mes yeux se fermaient si vite que je n'avais pas le temps de me dire: je m'endors. Et la nuit était dans la maison.",
  ],
  [
    'es',
    'En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo de los de lanza en astillero.',
  ],
  [
    'it',
    'Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, che la diritta via era smarrita. E non era la sola.',
  ],
  [
    'nl',
    'Het was een koude dag in april en de klokken sloegen dertien. Hij was niet van plan om er met haar over te spreken, maar zij wel.',
  ],
  ['ja', '吾輩は猫である。名前はまだ無い。'],
  ['zh', '道可道，非常道。名可名，非常名。'],
  ['ru', 'Все счастливые семьи похожи друг на друга.'],
  ['ru', 'Все счастливые семьи, as Tolstoy said'],
  ['ko', '안녕하세요 세계'],
  [undefined, 'ይህ የአማርኛ ጽሑፍ ነው α'],
  [undefined, 'Grüß Gott'],
  [undefined, '1 2 3, 4.50'],
  [
    undefined,
    'Alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa',
  ],
  [undefined, ''],
];

it.each(SAMPLES)('%s is the language of %j', (language, text) => {
  const written = new LanguageGuess();
  for (const piece of text.split(/(?<=\. )/)) written.add(piece);
  expect(written.language).toBe(language);
});
