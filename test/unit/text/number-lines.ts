/** Sentences with numbers, and how a reader says them. */
export const NUMBER_LINES = `
# en
Open 9:00-17:00, 10:30–11:00 and 9am–5pm, not at 6.30pm. | Open nine o'clock to seventeen o'clock, ten thirty to eleven o'clock and nine am to five pm, not at six thirty pm.
I have 3 apples. | I have three apples.
There are 12,345 reasons. | There are twelve thousand three hundred forty-five reasons.
It has 1,000,000 users. | It has one million users.
Only 1 left. | Only one left.
It costs $5.50. | It costs five dollars and fifty cents.
It costs $1. | It costs one dollar.
It costs $1,234.05. | It costs one thousand two hundred thirty-four dollars and five cents.
It costs £3.20. | It costs three pounds and twenty pence.
Only €0.99 today. | Only ninety-nine cents today.
She earned $1.5 million. | She earned one point five million dollars.
The fund holds $3bn. | The fund holds three billion dollars.
It lost -$20. | It lost minus twenty dollars.
CHF 20 and 20 PLN. | twenty Swiss francs and twenty Polish zlotys.
USD 7 or 7 EUR. | seven dollars or seven euros.
¥500 | five hundred yen
On 2024-03-05 we met. | On March fifth, twenty twenty-four we met.
Sent 2024-03-05T14:30. | Sent March fifth, twenty twenty-four fourteen thirty.
On March 5, 2024, it rained. | On March fifth, twenty twenty-four, it rained.
On May 1st we rest. | On May first we rest.
On the 22nd of June, 1999. | On the twenty-second of June, nineteen ninety-nine.
On 5 March 2024 it snowed. | On the fifth of March twenty twenty-four it snowed.
Due 3/25/2024. | Due March twenty-fifth, twenty twenty-four.
Due 3/4/2024. | Due three slash four slash twenty twenty-four.
At 9:05 sharp. | At nine oh five sharp.
At 14:30 sharp. | At fourteen thirty sharp.
A run of 2h05. | A run of two oh five.
At 8:00 sharp. | At eight o'clock sharp.
At 2:30 pm or 4:00 am. | At two thirty pm or four am.
Born in 1984. | Born in nineteen eighty-four.
In 1900, 1905 and 2005. | In nineteen hundred, nineteen oh five and two thousand five.
In 2010 and 2024. | In twenty ten and twenty twenty-four.
There were 1500 people and 1905 votes. | There were one thousand five hundred people and one thousand nine hundred five votes.
The 1990s and the '80s. | The nineteen nineties and the eighties.
The 1800s. | The eighteen hundreds.
It is -5 °C, or 98.6 °F. | It is minus five degrees Celsius, or ninety-eight point six degrees Fahrenheit.
He ran 5 km at 12 km/h. | He ran five kilometers at twelve kilometers per hour.
Wait 25 min and 1 s. | Wait twenty-five minutes and one second.
It weighs 1 kg or 2.5 kg. | It weighs one kilogram or two point five kilograms.
The 5-km run, and the 5-m one. | The five kilometer run, and the five-m one.
A room of 50 m² and 20 m3. | A room of fifty square meters and twenty m three.
It needs 2.5 GHz, 60 W and 3.5 kWh. | It needs two point five gigahertz, sixty watts and three point five kilowatt hours.
Take 500 mg of it. | Take five hundred milligrams of it.
It has 16 GB. | It has sixteen gigabytes.
About 50% or 3.14 or 0.05. | About fifty percent or three point one four or zero point zero five.
Pages 10–20 and 1914–1918. | Pages ten to twenty and nineteen fourteen to nineteen eighteen.
For 5-10 people. | For five to ten people.
For 2,000-3,000 people, or 5.5-6%. | For two thousand to three thousand people, or five point five to six percent.
Call +49 170 1234567. | Call plus four nine, one seven zero, one two three four five six seven.
Call 555-123-4567. | Call five five five, one two three, four five six seven.
Version 1.2.3 at 192.168.0.1 | Version one point two point three at one hundred ninety-two point one hundred sixty-eight point zero point one
The 1st, 2nd, 3rd, 21st and 100th. | The first, second, third, twenty-first and one hundredth.
Louis XIV met Henry VIII. | Louis the Fourteenth met Henry the Eighth.
Chapter IV of World War II. | Chapter four of World War two.
Elizabeth I was queen. | Elizabeth the First was queen.
Elizabeth I think you know. | Elizabeth I think you know.
Use A4 paper, an MP3 and 5G. | Use A four paper, an MP three and five G.
½ cup, 2½ cups, 3/4 cup. | a half cup, two and a half cups, three quarters cup.
It is 2.5x faster, -1.5M and 1,000x, in v2.0 and 1.2.3rc1, at 1080p. | It is two point five x faster, minus one point five M and one thousand x, in v two point zero and one point two point three rc one, at one thousand eighty p.
Agent 007 and code 1234567890. | Agent zero zero seven and code one two three four five six seven eight nine zero.
A 3D film, COVID-19, H2O. | A three D film, COVID-nineteen, H two O.

# de
Von 9:00–17:00 Uhr oder 9-12 Uhr. | Von neun Uhr bis siebzehn Uhr oder neun bis zwölf Uhr.
Da liegt 1 Zeitung für 1 Person. | Da liegt eine Zeitung für eine Person.
Es ist 2,5x schneller, und 1.000x so oft. | Es ist zwei Komma fünf x schneller, und eintausend x so oft.
Ich habe 3 Äpfel. | Ich habe drei Äpfel.
Es gibt 12.345 Gründe. | Es gibt zwölftausenddreihundertfünfundvierzig Gründe.
Es sind 1.000.000 Menschen. | Es sind eine Million Menschen.
Es sind 1 000 000 Menschen. | Es sind eine Million Menschen.
Es sind 10 000 Menschen. | Es sind zehntausend Menschen.
Sie hat 1 Haus und 1 Katze. | Sie hat ein Haus und eine Katze.
Das kostet 5,50 €. | Das kostet fünf Euro fünfzig.
Das kostet 1 €. | Das kostet ein Euro.
Das kostet 1.234,05 €. | Das kostet eintausendzweihundertvierunddreißig Euro fünf.
Nur 0,99 € heute. | Nur neunundneunzig Cent heute.
Das sind $20 oder £3. | Das sind zwanzig Dollar oder drei Pfund.
Es kostet 1,5 Mio. €. | Es kostet eins Komma fünf Millionen Euro.
Rund 3 Mrd. Euro und 1 Mio. Leute. | Rund drei Milliarden Euro und eine Million Leute.
20 CHF | zwanzig Schweizer Franken
Am 05.03.2024 war Regen. | Am fünften März zweitausendvierundzwanzig war Regen.
Der 05.03.24 war schön. | Der fünfte März vierundzwanzig war schön.
Am 3. Mai 2024 kam er. | Am dritten Mai zweitausendvierundzwanzig kam er.
Der 1. Mai ist frei. | Der erste Mai ist frei.
Berlin, 3. Oktober 1990 | Berlin, dritter Oktober neunzehnhundertneunzig
Vom 3. bis 5. Juni. | Vom dritten bis fünften Juni.
Bis zum 5.3. bezahlen. | Bis zum fünften dritten bezahlen.
2024-03-05 | fünfter März zweitausendvierundzwanzig
Um 14:30 Uhr geht es los. | Um vierzehn Uhr dreißig geht es los.
Um 9:05 Uhr. | Um neun Uhr fünf.
Um 14.30 Uhr. | Um vierzehn Uhr dreißig.
Der Abend endete 43:10. | Der Abend endete dreiundvierzig:zehn.
Um 14 Uhr. | Um vierzehn Uhr.
Um 1 Uhr. | Um ein Uhr.
Im Jahr 1984. | Im Jahr neunzehnhundertvierundachtzig.
Seit 2005 und 2024. | Seit zweitausendfünf und zweitausendvierundzwanzig.
Die 1990er Jahre und die 80er. | Die neunzehnhundertneunziger Jahre und die achtziger.
Im 20. Jahrhundert. | Im zwanzigsten Jahrhundert.
Der 3. Versuch gelang in der 2. Stunde. | Der dritte Versuch gelang in der zweiten Stunde.
Es waren 3. Danach kamen 5. | Es waren drei. Danach kamen fünf.
Es sind -5 °C. | Es sind minus fünf Grad Celsius.
Er lief 5 km mit 12 km/h. | Er lief fünf Kilometer mit zwölf Kilometer pro Stunde.
Der 5-km-Lauf war lang. | Der fünf Kilometer-Lauf war lang.
In 1 h oder 2 h oder 30 min. | In eine Stunde oder zwei Stunden oder dreißig Minuten.
Es wiegt 1 kg oder 2,5 kg oder 1 t. | Es wiegt ein Kilogramm oder zwei Komma fünf Kilogramm oder eine Tonne.
50 m² und 20 m³ | fünfzig Quadratmeter und zwanzig Kubikmeter
2,5 GHz, 60 W, 3,5 kWh | zwei Komma fünf Gigahertz, sechzig Watt, drei Komma fünf Kilowattstunden
500 mg und 1013 hPa | fünfhundert Milligramm und eintausenddreizehn Hektopascal
50 % oder 3,14 oder 0,05 | fünfzig Prozent oder drei Komma eins vier oder null Komma null fünf
Version 3.5 oder 1.2.3 | Version drei Punkt fünf oder eins Punkt zwei Punkt drei
Seite 10–20 und 1914–1918 | Seite zehn bis zwanzig und neunzehnhundertvierzehn bis neunzehnhundertachtzehn
Für 5-10 Personen. | Für fünf bis zehn Personen.
Ruf +49 170 1234567 an. | Ruf plus vier neun, eins sieben null, eins zwei drei vier fünf sechs sieben an.
Ludwig XIV. war König. | Ludwig der Vierzehnte war König.
Papst Johannes Paul II. kam. | Papst Johannes Paul der Zweite kam.
Kapitel IV beginnt. | Kapitel vier beginnt.
2½ Stunden, ½ Liter | zweieinhalb Stunden, ein halb Liter
DIN A4, MP3 und 10-jährig | DIN A vier, MP drei und zehn-jährig
Johannes 3:16 | Johannes drei sechzehn
PLZ 01067 | PLZ null eins null sechs sieben

# fr
Ouvert 14h30-16h00. | Ouvert quatorze heures trente à seize heures.
Il reste 1 nuit et 21 chansons. | Il reste une nuit et vingt-et-une chansons.
J'ai 3 pommes. | J'ai trois pommes.
Il y a 12 345 raisons. | Il y a douze mille trois cent quarante-cinq raisons.
Il y a 1 000 000 de gens. | Il y a un million de gens.
Cela coûte 5,50 €. | Cela coûte cinq euros cinquante.
Cela coûte 1 €. | Cela coûte un euro.
Cela coûte 1 234,05 €. | Cela coûte mille deux cent trente-quatre euros cinq.
Seulement 0,99 €. | Seulement quatre-vingt-dix-neuf centimes.
Il vaut 3 millions €. | Il vaut trois millions d'euros.
Il vaut 5 millions $. | Il vaut cinq millions de dollars.
Il vaut 3 M€. | Il vaut trois millions d'euros.
21 livres et 21 £ | vingt-et-un livres et vingt-et-une livres
20 CHF | vingt francs suisses
Le 05/03/2024. | Le cinq mars deux mille vingt-quatre.
Le 1er mai 2024. | Le premier mai deux mille vingt-quatre.
Le 1 mai. | Le premier mai.
Le 14 juillet 1789. | Le quatorze juillet mille sept cent quatre-vingt-neuf.
2024-03-05 | cinq mars deux mille vingt-quatre
À 14h30. | À quatorze heures trente.
À 14:30. | À quatorze heures trente.
À 1h. | À une heure.
À 21 h. | À vingt-et-une heures.
À 9h05. | À neuf heures cinq.
En 1984 et 2005. | En mille neuf cent quatre-vingt-quatre et deux mille cinq.
Le XXe siècle. | Le vingtième siècle.
Louis XIV et François Ier. | Louis quatorze et François premier.
Le chapitre IV. | Le chapitre quatre.
Le 2e étage. | Le deuxième étage.
La 1re fois. | La première fois.
Le 3ème jour. | Le troisième jour.
Le 21e rang. | Le vingt-et-unième rang.
21 heures. | vingt-et-une heures.
71 et 80 et 81 et 91 | soixante-et-onze et quatre-vingts et quatre-vingt-un et quatre-vingt-onze
21 km et 80 km | vingt-et-un kilomètres et quatre-vingts kilomètres
200 km/h | deux cents kilomètres par heure
1 000 000 km | un million de kilomètres
81 pages. | quatre-vingt-une pages.
50 % ou 3,14 ou 0,05 | cinquante pour cent ou trois virgule quatorze ou zéro virgule zéro cinq
Il fait -5 °C. | Il fait moins cinq degrés Celsius.
50 m² et 20 m³ | cinquante mètres carrés et vingt mètres cubes
60 W et 3,5 kWh | soixante watts et trois virgule cinq kilowattheures
500 mg | cinq cents milligrammes
16 Go et 16 GB | seize Go et seize gigaoctets
Pages 10–20. | Pages dix à vingt.
De 5-10 personnes. | De cinq à dix personnes.
Appelez le 01 23 45 67 89. | Appelez le zéro un vingt-trois quarante-cinq soixante-sept quatre-vingt-neuf.
Appelez +33 1 23 45 67 89. | Appelez plus trois trois, un, deux trois, quatre cinq, six sept, huit neuf.
Version 1.2.3 | Version un point deux point trois
2½ heures. | deux et demi heures.
Du A4 et du MP3. | Du A quatre et du MP trois.
L'an 2000. | L'an deux mille.

# es
Y vino 1 vez, con 200 mujeres. | Y vino una vez, con doscientas mujeres.
Tengo 3 manzanas. | Tengo tres manzanas.
Hay 12.345 razones. | Hay doce mil trescientos cuarenta y cinco razones.
Hay 1.000.000 de personas. | Hay un millón de personas.
21 personas y 21 años. | veintiuna personas y veintiún años.
1 casa y 1 libro. | una casa y un libro.
200 casas y 200 libros. | doscientas casas y doscientos libros.
Hay 31. | Hay treinta y uno.
16 y 22 y 26 | dieciséis y veintidós y veintiséis
Cuesta 5,50 €. | Cuesta cinco euros con cincuenta céntimos.
Cuesta 1 €. | Cuesta un euro.
Cuesta 1.234,05 €. | Cuesta mil doscientos treinta y cuatro euros con cinco céntimos.
Entre 1.234.567 300 son nuevos. | Entre un millón doscientos treinta y cuatro mil quinientos sesenta y siete trescientos son nuevos.
Solo 0,99 €. | Solo noventa y nueve céntimos.
Vale 3 millones €. | Vale tres millones de euros.
Vale $20. | Vale veinte dólares.
500 £ | quinientas libras
20 CHF | veinte francos suizos
El 05/03/2024. | El cinco de marzo de dos mil veinticuatro.
El 1 de mayo de 2024. | El uno de mayo de dos mil veinticuatro.
El 14 de julio de 1789. | El catorce de julio de mil setecientos ochenta y nueve.
2024-03-05 | cinco de marzo de dos mil veinticuatro
A las 14:30. | A las catorce treinta.
A la 1:05. | A la una cero cinco.
A las 21:15. | A las veintiuna quince.
En 1984 y 2005. | En mil novecientos ochenta y cuatro y dos mil cinco.
El siglo XX. | El siglo veinte.
El siglo XXI. | El siglo veintiuno.
Luis XIV y Felipe II. | Luis catorce y Felipe segundo.
El capítulo IV. | El capítulo cuatro.
El 2º piso. | El segundo piso.
La 1ª vez. | La primera vez.
El 3er día. | El tercer día.
La 2.ª parte. | La segunda parte.
21 km | veintiún kilómetros
1 h y 21 h | una hora y veintiuna horas
200 km/h | doscientos kilómetros por hora
200 t | doscientas toneladas
1.000.000 km | un millón de kilómetros
50 % o 3,14 o 0,05 | cincuenta por ciento o tres coma catorce o cero coma cero cinco
Hace -5 °C. | Hace menos cinco grados Celsius.
50 m² y 20 m³ | cincuenta metros cuadrados y veinte metros cúbicos
60 W y 3,5 kWh | sesenta vatios y tres coma cinco kilovatios hora
500 mg | quinientos miligramos
Páginas 10–20. | Páginas diez a veinte.
Para 5-10 personas. | Para cinco a diez personas.
Llame al +34 612 345 678. | Llame al más tres cuatro, seis uno dos, tres cuatro cinco, seis siete ocho.
Versión 1.2.3 | Versión uno punto dos punto tres
2½ horas. | dos y medio horas.
Un A4 y un MP3. | Un A cuatro y un MP tres.
El agente 007. | El agente cero cero siete.
Son 21.000 y 100. | Son veintiún mil y cien.

# it
In 1 ora e 1 notte. | In una ora e una notte.
Ho 3 mele. | Ho tre mele.
Ci sono 12.345 ragioni. | Ci sono dodicimilatrecentoquarantacinque ragioni.
Ci sono 1.000.000 di persone. | Ci sono un milione di persone.
21 persone e 28 giorni. | ventuno persone e ventotto giorni.
1 casa e 1 libro. | una casa e un libro.
Ne ho 1. | Ne ho uno.
23 e 33 e 103 | ventitré e trentatré e centotré
Costa 5,50 €. | Costa cinque euro e cinquanta centesimi.
Costa 1 €. | Costa un euro.
Costa 1.234,05 €. | Costa milleduecentotrentaquattro euro e cinque centesimi.
Solo 0,99 €. | Solo novantanove centesimi.
Vale 3 mln €. | Vale tre milioni di euro.
Vale $20. | Vale venti dollari.
500 £ | cinquecento sterline
20 CHF | venti franchi svizzeri
Il 05/03/2024. | Il cinque marzo duemilaventiquattro.
Il 1 maggio 2024. | Il primo maggio duemilaventiquattro.
Il 1º maggio. | Il primo maggio.
Il 14 luglio 1789. | Il quattordici luglio millesettecentottantanove.
2024-03-05 | cinque marzo duemilaventiquattro
Alle 14:30. | Alle quattordici e trenta.
All'1:05. | All'una e cinque.
Alle 8:00. | Alle otto.
Nel 1984 e nel 2005. | Nel millenovecentottantaquattro e nel duemilacinque.
Il XX secolo. | Il ventesimo secolo.
Luigi XIV e Vittorio Emanuele II. | Luigi quattordicesimo e Vittorio Emanuele secondo.
Papa Leone X. | Papa Leone decimo.
Il capitolo IV. | Il capitolo quattro.
Il 2º piano. | Il secondo piano.
La 1ª volta. | La prima volta.
Il 21º posto. | Il ventunesimo posto.
21 km | ventuno chilometri
1 h e 21 h | un'ora e ventuno ore
1 km e 1 m | un chilometro e un metro
200 km/h | duecento chilometri orari
1.000.000 km | un milione di chilometri
3,14 o 0,05 | tre virgola quattordici o zero virgola zero cinque
Fa -5 °C. | Fa meno cinque gradi Celsius.
50 m² e 20 m³ | cinquanta metri quadrati e venti metri cubi
60 W e 3,5 kWh | sessanta watt e tre virgola cinque kilowattora
500 mg | cinquecento milligrammi
2 t | due tonnellate
Pagine 10–20. | Pagine dieci a venti.
Per 5-10 persone. | Per cinque a dieci persone.
Chiama il +39 06 1234567. | Chiama il più tre nove, zero sei, uno due tre quattro cinque sei sette.
Versione 1.2.3 | Versione uno punto due punto tre
2½ ore. | due e mezzo ore.
Un A4 e un MP3. | Un A quattro e un MP tre.
L'agente 007. | L'agente zero zero sette.
Sono 21.000 e 100. | Sono ventunmila e cento.

# pt
Foram 2 vezes em 200 cidades. | Foram duas vezes em duzentas cidades.
Tenho 3 maçãs. | Tenho três maçãs.
Há 12.345 razões. | Há doze mil trezentos e quarenta e cinco razões.
Há 1.000.000 de pessoas. | Há um milhão de pessoas.
21 pessoas e 21 anos. | vinte e uma pessoas e vinte e um anos.
2 casas e 2 livros. | duas casas e dois livros.
1 casa e 1 livro. | uma casa e um livro.
200 casas. | duzentas casas.
16 e 17 e 19 | dezesseis e dezessete e dezenove
Custa 5,50 €. | Custa cinco euros e cinquenta cêntimos.
Custa 1 €. | Custa um euro.
Custa R$ 1.234,05. | Custa mil duzentos e trinta e quatro reais e cinco centavos.
Só R$ 0,99. | Só noventa e nove centavos.
Vale R$ 3 mi. | Vale três milhões de reais.
Vale R$ 2 bilhões. | Vale dois bilhões de reais.
Vale $20. | Vale vinte dólares.
200 £ | duzentas libras
20 BRL | vinte Reais brasileiros
Em 05/03/2024. | Em cinco de março de dois mil e vinte e quatro.
1 de maio de 2024. | primeiro de maio de dois mil e vinte e quatro.
14 de julho de 1789. | catorze de julho de mil setecentos e oitenta e nove.
2024-03-05 | cinco de março de dois mil e vinte e quatro
Às 14:30. | Às catorze e trinta.
Às 14h30. | Às catorze e trinta.
Às 2h. | Às duas horas.
Às 8:00. | Às oito horas.
Em 1984 e 2005. | Em mil novecentos e oitenta e quatro e dois mil e cinco.
O século XX. | O século vinte.
Luís XIV e João VI. | Luís catorze e João sexto.
O capítulo IV. | O capítulo quatro.
O 2º andar. | O segundo andar.
A 1ª vez. | A primeira vez.
O 21º lugar. | O vigésimo primeiro lugar.
21 km | vinte e um quilômetros
1 h e 21 h | uma hora e vinte e uma horas
200 km/h | duzentos quilômetros por hora
2 t | duas toneladas
1.000.000 km | um milhão de quilômetros
50% ou 3,14 ou 0,05 | cinquenta por cento ou três vírgula catorze ou zero vírgula zero cinco
Faz -5 °C. | Faz menos cinco graus Celsius.
50 m² e 20 m³ | cinquenta metros quadrados e vinte metros cúbicos
60 W e 3,5 kWh | sessenta watts e três vírgula cinco quilowatts-hora
500 mg | quinhentos miligramas
Páginas 10–20. | Páginas dez a vinte.
Para 5-10 pessoas. | Para cinco a dez pessoas.
Ligue +55 11 91234 5678. | Ligue mais cinco cinco, um um, nove um dois três quatro, cinco seis sete oito.
Versão 1.2.3 | Versão um ponto dois ponto três
2½ horas. | dois e meio horas.
Um A4 e um MP3. | Um A quatro e um MP três.
O agente 007. | O agente zero zero sete.
São 21.000 e 100. | São vinte e um mil e cem.

# en-GB
Due 3/4/2024. | Due April third, twenty twenty-four.

# es-MX
Cuesta $1,234.50. | Cuesta mil doscientos treinta y cuatro dólares con cincuenta centavos.
Son 3.5 km. | Son tres punto cinco kilómetros.

# fr-CH
Il a 71 ans et 80 amis. | Il a septante-et-un ans et huitante amis.

# fr-BE
Il a 71 ans et 80 amis. | Il a septante-et-un ans et quatre-vingts amis.

# pt-PT
São 16 km e 1 000 000. | São dezasseis quilómetros e um milhão.
`;
