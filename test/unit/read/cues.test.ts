import { describe, expect, it } from 'vitest';
import { openCues } from '../../../src/read/cues.ts';
import type { Piece } from '../../../src/text/piece.ts';
import { fileOf, signal } from './spoken.ts';

async function read(film: string | Uint8Array, { isTimed = true, speaksSounds = false } = {}) {
  const remarks: string[] = [];
  const reading = await openCues(fileOf(film, 'film'), { isTimed, speaksSounds }, signal);
  const pieces: Piece[] = [];
  for await (const piece of reading.pieces(signal, { onRemark: (remark) => remarks.push(remark) }))
    pieces.push(piece);
  return { pieces, remarks };
}

/** @returns `start Name: text` of all that is spoken */
async function cuesOf(film: string | Uint8Array, speaksSounds = false): Promise<string[]> {
  const { pieces } = await read(film, { speaksSounds });
  const cues: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'cue')
      cues.push(`${piece.time?.start} ${piece.name === undefined ? '' : `<${piece.name}> `}`);
    if (piece.kind === 'text') cues[cues.length - 1] += piece.text;
  }
  return cues;
}

const srt = (...texts: string[]) =>
  texts
    .map(
      (text, at) =>
        `${at + 1}\n00:00:${String(2 * at + 1).padStart(2, '0')},000 --> 00:00:${String(2 * at + 2).padStart(2, '0')},500\n${text}\n`,
    )
    .join('\n');

const ASS = (
  events: string,
  format = 'Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
) =>
  `[Script Info]\nTitle: x\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n[Events]\nFormat: ${format}\n${events}\n`;

describe('A film is read:', () => {
  it.each<[string, string, string[]]>([
    ['SubRip', srt('Hello.', 'Bye.'), ['1 Hello.', '3 Bye.']],
    ['with CRLF', srt('Hello.', 'Bye.').replaceAll('\n', '\r\n'), ['1 Hello.', '3 Bye.']],
    ['with CR alone', srt('Hello.', 'Bye.').replaceAll('\n', '\r'), ['1 Hello.', '3 Bye.']],
    ['with a byte order mark', `\ufeff${srt('Hello.')}`, ['1 Hello.']],
    ['with blank lines in front', `\n\n${srt('Hello.')}`, ['1 Hello.']],
    [
      'without numbers',
      '00:00:01,000 --> 00:00:02,000\nHello.\n\n00:00:03,000 --> 00:00:04,000\nBye.\n',
      ['1 Hello.', '3 Bye.'],
    ],
    [
      'without blank lines between cues',
      '1\n00:00:01,000 --> 00:00:02,000\nHello.\n2\n00:00:03,000 --> 00:00:04,000\nBye.',
      ['1 Hello.', '3 Bye.'],
    ],
    [
      'with a blank line inside a cue',
      '1\n00:00:01,000 --> 00:00:02,000\nOne.\n\nTwo.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.',
      ['1 One. Two.', '3 Bye.'],
    ],
    ['with points for commas', '1\n00:00:01.250 --> 00:00:02.000\nHello.\n', ['1.25 Hello.']],
    ['with one digit of an hour', '1\n0:00:01,5 --> 0:00:02,000\nHello.\n', ['1.5 Hello.']],
    ['with a short arrow and spaces', '1\n 00:00:01,000  -> 00:00:02,000 \nHello.\n', ['1 Hello.']],
    ['without milliseconds', '1\n00:00:01 --> 00:00:02\nHello.\n', ['1 Hello.']],
    ['with coordinates', '1\n00:00:01,000 --> 00:00:02,000 X1:100 X2:200 Y1:1 Y2:2\nHello.\n', ['1 Hello.']],
    [
      'with a number as its text',
      '1\n00:00:01,000 --> 00:00:02,000\n3\n\n2\n00:00:03,000 --> 00:00:04,000\n2\n',
      ['1 3', '3 2'],
    ],
    ['with two lines in a cue', srt('The rain has\nstopped.'), ['1 The rain has stopped.']],
    [
      'with two speakers in a cue',
      srt('- Who is it?\n- Me.', '-Come in.\n-5 degrees!'),
      ['1 Who is it?\nMe.', '3 Come in. -5 degrees!'],
    ],
    ['with dashes of Japan', srt('なぜ？\n―早く！'), ['1 なぜ？\n早く！']],
    ['with marks of a new speaker', srt('>> Good evening.\n>> Hello.'), ['1 Good evening.\nHello.']],
    [
      'with tags',
      srt('<i>Hello</i>, <font color="#fff">you</font>.', '{\\an8}{\\i1}Up.{\\i0}', '{y:i}Old.'),
      ['1 Hello, you.', '3 Up.', '5 Old.'],
    ],
    [
      'with breaks and spaces of ASS',
      srt('Hello,\\Nall\\hof\\h\\hyou.', 'It is in C:\\New\\home.'),
      ['1 Hello, all of you.', '3 It is in C:\\New\\home.'],
    ],
    ['with signs that are no tags', srt('If x < 3 and y > 2, <stop>.'), ['1 If x < 3 and y > 2, <stop>.']],
    ['with entities', srt('Tom &amp; Anna&#39;s &lt;b&gt;&nbsp;x.'), ["1 Tom & Anna's <b> x."]],
    [
      'with entities by their names',
      srt('A caf&eacute; &mdash; &Eacute;mile&rsquo;s &hellip; R&D; &none; &constructor;'),
      ['1 A café — Émile’s … R&D; &none; &constructor;'],
    ],
    ['with names', srt('ANNA: Hello.\nBOB: Bye.'), ['1 ANNA: Hello.\nBOB: Bye.']],
    ['with names in brackets', srt('[Anna]: Hello.'), ['1 Anna: Hello.']],
    [
      'with sounds',
      srt(
        '[door slams] Hello.',
        '(MUSIC PLAYING)',
        '♪ La la la ♪',
        '♪',
        '(laughs)',
        'What (or who) is it?',
        '(He never came.)',
        '# Sing with me #',
      ),
      ['1 Hello.', '11 What (or who) is it?', '13 (He never came.)'],
    ],
    [
      'with a sentence over two cues',
      srt('When the rain stopped,', 'they all went out.', 'Good.'),
      ['1 When the rain stopped, they all went out.', '5 Good.'],
    ],
    [
      'with a sentence of dots over two cues',
      srt('I thought that…', '…you knew.', 'I...', 'No!'),
      ['1 I thought that… …you knew.', '5 I...', '7 No!'],
    ],
    [
      'without a full stop',
      srt('he comes', 'she goes', 'they wait', 'we see'),
      ['1 he comes', '3 she goes', '5 they wait', '7 we see'],
    ],
    [
      'with cues in disorder',
      '2\n00:00:03,000 --> 00:00:04,000\nBye.\n\n1\n00:00:01,000 --> 00:00:02,000\nHello.\n',
      ['1 Hello.', '3 Bye.'],
    ],
    [
      'with cues that overlap',
      '1\n00:00:01,000 --> 00:00:05,000\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n',
      ['1 Hello.', '3 Bye.'],
    ],
    ['with an end before the start', '1\n00:00:03,000 --> 00:00:01,000\nHello.\n', ['3 Hello.']],
    [
      'WebVTT',
      'WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\nwith 00:01\n\nintro\n00:01.000 --> 00:02.000 align:start position:0%\nHello.\n\n1:00:03.000 --> 1:00:04.000\n<v.loud Anna>Bye.</v>\n',
      ['1 Hello.', '3603 <Anna> Bye.'],
    ],
    [
      'WebVTT with classes and ruby',
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<c.yellow>Go</c> <lang en>on</lang>, <ruby>漢<rt>kan</rt></ruby> <00:00:01.500>now &amp; then.\n',
      ['1 Go on, 漢 now & then.'],
    ],
    [
      'WebVTT with two voices in a cue',
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hello.</v>\n<v Bob>Hi.</v>\n',
      ['1 Anna: Hello.\nBob: Hi.'],
    ],
    [
      'captions that roll',
      'WEBVTT\nKind: captions\n\n00:00:01.000 --> 00:00:02.990 align:start\n \nso<00:00:01.200><c> we</c>\n\n00:00:02.990 --> 00:00:03.000\nso we\n \n\n00:00:03.000 --> 00:00:05.000\nso we\ngo<00:00:03.500><c> on</c>\n',
      ['1 so we', '3 go on'],
    ],
    [
      'ASS',
      ASS(
        'Dialogue: 0,0:00:01.50,0:00:02.00,Default,Anna,0,0,0,,{\\pos(1,2)}Hello, {\\i1}you{\\i0}\\Nthere.\nComment: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,A note.\nDialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,Bye\\hnow.',
      ),
      ['1.5 <Anna> Hello, you there.', '3 Bye now.'],
    ],
    [
      'ASS with drawings, effects and layers',
      ASS(
        'Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1{\\p0}\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,fx,He\nDialogue: 1,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello.\nDialogue: 2,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\blur3}Hello.',
      ),
      ['1 Hello.'],
    ],
    [
      'ASS with long tags, as of a shape that hides',
      ASS(
        `Dialogue: 0,0:00:01.00,0:00:02.00,Sign,,0,0,0,,{\\clip(m${' 0 0'.repeat(9000)})}Hello.\nDialogue: 0,0:00:03.00,0:00:04.00,Sign,,0,0,0,,{\\clip(m${' 0 0'.repeat(9000)})\\p1}m 0 0 l 1 1`,
      ),
      ['1 Hello.'],
    ],
    [
      'ASS with a text that moves',
      ASS(
        'Dialogue: 0,0:00:01.00,0:00:01.04,Sign,,0,0,0,,{\\pos(1,2)}Hello.\nDialogue: 0,0:00:01.04,0:00:01.08,Sign,,0,0,0,,{\\pos(1,3)}Hello.\nDialogue: 0,0:00:01.08,0:00:03.00,Sign,,0,0,0,,Hello.\nDialogue: 0,0:00:03.00,0:00:04.00,Sign,,0,0,0,,Hello.',
      ),
      ['1 Hello.', '3 Hello.'],
    ],
    [
      'SSA',
      ASS(
        'Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,Bob,0000,0000,0000,,Hello.',
        'Marked, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
      ),
      ['1 <Bob> Hello.'],
    ],
    [
      'ASS without its first lines',
      '[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,Hello, all.\n',
      ['1 Hello, all.'],
    ],
  ])('%s', async (_, film, expected) => {
    expect(await cuesOf(film)).toEqual(expected);
  });

  it.each([
    ['UTF-16 with a mark', 'Привет.', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 without a mark', 'Hello you.', (text: string) => Buffer.from(text, 'utf16le')],
    [
      'UTF-16 with the high byte first',
      'Grüße.',
      (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    ],
    ['Windows-1252', 'Où est la clé? Là-bas, où l’été était.', bytesIn('windows-1252')],
    ['Windows-1250', 'Zażółć gęślą jaźń, proszę się nie śmiać.', bytesIn('windows-1250')],
    ['Windows-1252, German', 'Über größere Straßen fährt er müde nach Köln.', bytesIn('windows-1252')],
    ['Windows-1252, Spanish', '¿Dónde está el niño? ¡Mañana vendrá, señor!', bytesIn('windows-1252')],
    [
      'Windows-1252, Portuguese',
      'Não sei se você também vai à estação amanhã, põe aí.',
      bytesIn('windows-1252'),
    ],
    [
      'Windows-1252, Danish',
      'På øen så vi små æbler, og så gik vi hjem for at spise brød.',
      bytesIn('windows-1252'),
    ],
    ['Windows-1252, French', 'Sa sœur a eu le cœur brisé, bien sûr, dès la fête.', bytesIn('windows-1252')],
    [
      'Windows-1250, Czech',
      'Otevřel dveře a vyšel ven, protože už bylo pozdě a pršelo.',
      bytesIn('windows-1250'),
    ],
    [
      'Windows-1250, Hungarian',
      'Kinyitotta az ajtót, és kiment az utcára, ahol esőben állt egy nő.',
      bytesIn('windows-1250'),
    ],
    [
      'Windows-1250, Croatian',
      'Otvorio je vrata i izašao, već je kasno, a kiša pada još.',
      bytesIn('windows-1250'),
    ],
    ['Windows-1251', 'Он открыл дверь и вышел на улицу.', bytesIn('windows-1251')],
    ['KOI8-R', 'Он открыл дверь и вышел на улицу.', bytesIn('koi8-r')],
    ['Windows-1253', 'Άνοιξε την πόρτα και βγήκε στον δρόμο.', bytesIn('windows-1253')],
    ['Windows-1254', 'Kapıyı açtı ve dışarı çıktı, yağmur yağıyordu.', bytesIn('windows-1254')],
    ['Windows-1255', 'הוא פתח את הדלת ויצא אל הרחוב.', bytesIn('windows-1255')],
    ['Windows-1256', 'فتح الباب وخرج إلى الشارع في الليل.', bytesIn('windows-1256')],
    ['Shift JIS', '彼はドアを開けて、外に出た。', bytesIn('shift_jis')],
    ['EUC-KR', '그는 문을 열고 밖으로 나갔다.', bytesIn('euc-kr')],
    ['GBK', '我不知道你在说什么，他们都来了。', bytesIn('gb18030')],
    ['Big5', '我不知道你在說什麼，他們都來了。', bytesIn('big5')],
  ])('in %s', async (_, text, encode) => {
    expect(await cuesOf(encode(srt(text, text)))).toEqual([`1 ${text}`, `3 ${text}`]);
  });
});

/** All characters that TextDecoder reads from one byte or two, as an encoder. */
function bytesIn(label: string) {
  return (text: string): Buffer => {
    const decoder = new TextDecoder(label, { fatal: true });
    const codes = new Map<string, number[]>();
    const add = (...bytes: number[]) => {
      try {
        const character = decoder.decode(Uint8Array.from(bytes));
        if (Array.from(character).length === 1 && !codes.has(character)) codes.set(character, bytes);
      } catch {}
    };
    for (let one = 0; one < 256; one += 1) add(one);
    for (let one = 0x81; one < 256; one += 1) for (let two = 0x40; two < 256; two += 1) add(one, two);
    // Node 20 takes it for ISO 8859-1.
    if (label === 'windows-1252') codes.set('’', [0x92]).set('œ', [0x9c]);
    return Buffer.from(Array.from(text).flatMap((character) => codes.get(character) ?? []));
  };
}

it('What is left out and how a file was read is said.', async () => {
  expect((await read(srt('[door slams]', 'Hello.', '♪ La ♪'))).remarks).toEqual([
    '2 sounds, such as "[door slams]", are left out, because only speech is read; --sounds read speaks them',
  ]);
  expect((await read(bytesIn('windows-1251')(srt('Он открыл дверь и вышел.')))).remarks).toEqual([
    'film is not UTF-8, and was read as windows-1251',
  ]);
  expect(await cuesOf(srt('[door slams] Hello.'), true)).toEqual(['1 [door slams] Hello.']);
});

it.each([
  ['(computer playing\nelectronic melody)', []],
  ['[door slams,\nfar away]\nHello.', ['1 Hello.']],
  ['Ann (my friend\nfrom school) called.', ['1 Ann (my friend from school) called.']],
  ['- Wait (\n- No)', ['1 Wait (\nNo)']],
])('A sound over two lines is one: %j', async (text, cues) => {
  expect(await cuesOf(srt(text))).toEqual(cues);
});

it('Without times, sentences and scenes stay apart, and a name is told once.', async () => {
  const film =
    'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Yes,\n\n00:02.000 --> 00:03.000\n<v Anna>I do.\n\n00:03.500 --> 00:04.000\nGood.\n\n00:20.000 --> 00:21.000\nBye.\n';
  const { pieces } = await read(film, { isTimed: false });
  expect(pieces.map((piece) => (piece.kind === 'text' ? piece.text : piece.kind))).toEqual([
    'cue',
    'Yes, I do.',
    '\n',
    'cue',
    'Good.',
    'paragraph',
    'Bye.',
  ]);
});

it('A cue behind a day is refused where it is to be heard at its time.', async () => {
  const film = (hours: string) =>
    `1\n00:00:01,000 --> 00:00:02,000\nHi.\n\n2\n${hours}:00:00,000 --> ${hours}:00:01,000\nBye.\n`;
  for (const hours of ['24', '99', '999'])
    await expect(read(film(hours))).rejects.toThrow('film: the cue on line 6 ends after 24 hours');
  expect((await read(film('23'))).pieces).toHaveLength(4);
  expect((await read(film('99'), { isTimed: false })).pieces.length).toBeGreaterThan(1);
});

it('A cue of more than 30000 characters is refused.', async () => {
  const long = srt('Hi.', `${'x'.repeat(20_000)}\n${'y'.repeat(10_001)}`);
  await expect(read(long)).rejects.toThrow('film: the cue on line 6 has more than 30000 characters');
});

it('A file without times is refused.', async () => {
  await expect(read('Hello.\n\nBye.\n')).rejects.toThrow('film has no cues: no line has times');
});
