/** Roman numerals. */

const VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** @param numeral of the letters I, V, X, L and C */
export function romanValue(numeral: string): number {
  const values = [...numeral].map((letter) => VALUES[letter] ?? 0);
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0);
}

/** Names of rulers and popes in the six languages that `NUMBER_LANGUAGES` supports. */
export const RULERS =
  'Alexander|Alexandre|Alfonso|Afonso|Alphonse|Benedict|Benedikt|Benedetto|Benedicto|Bento|Benoît|Charles|Carlos|Carlo|Karl|Catherine|Katharina|Caterina|Catalina|Catarina|Christian|Clement|Clément|Edward|Eduard|Édouard|Eduardo|Elizabeth|Elisabeth|Élisabeth|Isabel|Elisabetta|Felipe|Philip|Philipp|Philippe|Filippo|Filipe|Fernando|Ferdinand|Francis|François|Franz|Francisco|Francesco|Frederick|Friedrich|Frédéric|Federico|Frederico|George|Georg|Giorgio|Jorge|Gregory|Gregor|Gregorio|Gustav|Harald|Heinrich|Henry|Henri|Enrique|Enrico|Henrique|Innocent|Innocenzo|Inocencio|James|Jakob|Jacques|Jaime|Giacomo|João|John|Johann|Johannes|Jean|Juan|Giovanni|John Paul|Johannes Paul|Jean-Paul|Juan Pablo|Giovanni Paolo|João Paulo|Joseph|Josef|José|Giuseppe|Leo|Léon|León|Leone|Leão|Leopold|Louis|Ludwig|Luis|Luigi|Luís|Manuel|Maximilian|Napoleon|Napoléon|Napoleón|Napoleone|Napoleão|Nicholas|Nikolaus|Nicolas|Nicolás|Nicola|Nicolau|Otto|Othon|Paul|Paolo|Paulo|Pablo|Peter|Pierre|Pedro|Pietro|Pius|Pie|Pío|Pio|Ramses|Ramsès|Ramsés|Richard|Ricardo|Riccardo|Rudolf|Sixtus|Umberto|Urban|Urbain|Victor|Vittorio Emanuele|Wilhelm|William|Guillaume|Guillermo|Guglielmo|Guilherme|Abdullah|Albert|Baldwin|Boniface|Carl|Constantine|Haakon|Ivan|Julius|Mehmed|Olaf|Ptolemy|Robert|Stephen|Theodosius|Thutmose';
