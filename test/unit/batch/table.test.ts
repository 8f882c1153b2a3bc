import { describe, expect, it } from 'vitest';
import { parseColumns, readTable, type TableKind, tableKindOf } from '../../../src/batch/table.ts';

async function* inPieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

interface How {
  readonly size?: number;
  readonly delimiter?: string;
  readonly columns?: string;
}

async function read(
  text: string,
  kind: TableKind = 'csv',
  { size = 3, delimiter, columns: named }: How = {},
) {
  const rows = [];
  const columns = named === undefined ? new Map() : parseColumns(named);
  const table = readTable(inPieces(text, size), kind, `t.${kind}`, { columns, delimiter });
  for await (const { line, cells, fault } of table)
    rows.push(fault ? { line, fault } : { line, ...Object.fromEntries(cells) });
  return rows;
}

describe('a table', () => {
  it('is told by the ending of its name', () => {
    expect(['a.csv', 'a.TSV', 'a.jsonl', 'x/a.psv', 'a.txt', '-'].map(tableKindOf)).toEqual([
      'csv',
      'tsv',
      'jsonl',
      'psv',
      undefined,
      undefined,
    ]);
  });

  it('in CSV has quotes, doubled quotes, line breaks in cells, and the line on which each row begins', async () => {
    const text = 'id,text\na,"Hello, ""Anna""."\n\nb,"two\nlines"\nc,last';
    expect(await read(text)).toEqual([
      { line: 2, id: 'a', text: 'Hello, "Anna".' },
      { line: 4, id: 'b', text: 'two\nlines' },
      { line: 6, id: 'c', text: 'last' },
    ]);
  });

  it('in TSV keeps commas', async () => {
    expect(await read('id\ttext\na\tone, two\n', 'tsv')).toEqual([{ line: 2, id: 'a', text: 'one, two' }]);
  });

  it.each([
    [
      'a quote that is never closed',
      'id,text\na,"one\nb,two\n',
      't.csv: a quote that opens in line 2 is never closed',
    ],
    [
      'a quote after a quoted cell',
      'id,text\na,"one"x\n',
      't.csv, line 2: there is a quote in the middle of a cell',
    ],
    [
      'a quote in a bare cell',
      'id,text\na,one"x\n',
      't.csv, line 2: there is a quote in the middle of a cell',
    ],
    ['two columns of one name', 'id,text,id\n', 't.csv, line 1: two columns are called "id"'],
    ['nothing', '', 't.csv is empty'],
  ])('refuses %s', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it('tells of a row with too many or too few cells, and goes on', async () => {
    expect(await read('id,text\na,one,two\nb\nc,three\n')).toEqual([
      {
        line: 2,
        fault: expect.stringContaining(
          '3 cells, separated by commas, and the header has 2 columns: a cell with a comma',
        ),
      },
      { line: 3, fault: expect.stringContaining('1 cell,') },
      { line: 4, id: 'c', text: 'three' },
    ]);
  });

  it('takes a cell of a megabyte', async () => {
    const long = 'word '.repeat(200_000);
    const [row] = await read(`id,text\na,"${long}"\n`, 'csv', { size: 65_536 });
    expect(row).toMatchObject({ id: 'a', text: long });
  });

  it('does not read a quote that is never closed to the end of a huge table', async () => {
    await expect(read(`id,text\na,"${'x'.repeat(40_000_000)}`, 'csv', { size: 1_000_000 })).rejects.toThrow(
      'longer than 33554432 characters',
    );
  });

  it('in JSONL has texts and numbers, and tells of every line that is no object', async () => {
    const text = '{"id":"a","text":"one","n":3,"x":null}\n\nnot json\n[1]\n{"id":{"no":1}}\n{"id":"b"}';
    expect(await read(text, 'jsonl')).toEqual([
      { line: 1, id: 'a', text: 'one', n: '3' },
      { line: 3, fault: expect.stringContaining('not JSON') },
      { line: 4, fault: expect.stringContaining('not a JSON object') },
      { line: 5, fault: expect.stringContaining('"id" holds a list or an object') },
      { line: 6, id: 'b' },
    ]);
  });

  it('in JSONL keeps all digits of a number', async () => {
    const long = '1234567890123456789';
    const text = `{"id":${long},"text":"${long}, \\"${long}\\"","n":-${long},"x":0.${long},"y":${long}e-3}`;
    expect(await read(text, 'jsonl')).toEqual([
      {
        line: 1,
        id: long,
        text: `${long}, "${long}"`,
        n: `-${long}`,
        x: '0.12345678901234568',
        y: '1234567890123456.8',
      },
    ]);
  });

  it('in PSV has no header and no quotes', async () => {
    expect(await read('a|He said "no"|he said no\nb\n', 'psv')).toEqual([
      { line: 1, id: 'a', text: 'He said "no"', 3: 'he said no' },
      { line: 2, fault: expect.stringContaining('there is no "|"') },
    ]);
  });

  it('may have columns with the names of what every object has', async () => {
    expect(await read('id,__proto__,constructor\na,b,c\n')).toHaveLength(1);
  });

  it('has any header with nothing in it', async () => {
    await expect(read(',,\n"",,\n\n')).rejects.toThrow('t.csv is empty');
  });
});

describe('a table of a spreadsheet', () => {
  const both = [
    { id: 'a', text: 'One, and; more' },
    { id: 'b', text: 'Two' },
  ];
  const texts = (rows: Awaited<ReturnType<typeof read>>) => rows.map(({ line: _, ...row }) => row);

  it.each<[string, string, How?, TableKind?]>([
    ['Excel, comma', 'id,text\na,"One, and; more"\nb,Two\n'],
    ['Excel, semicolon', 'id;text\na;"One, and; more"\nb;Two\n'],
    ['Excel, Persian', 'id\u061btext\na\u061bOne, and; more\nb\u061bTwo\n'],
    ['Excel for Mac, with bare returns', 'id;text\ra;"One, and; more"\rb;Two\r'],
    ['Excel, "Unicode text"', 'id\ttext\na\t"One, and; more"\nb\tTwo\n'],
    ['a TSV with commas', 'id,text\na,"One, and; more"\nb,Two\n', {}, 'tsv'],
    ['LibreOffice, quotes around all text', '"id";"text"\n"a";"One, and; more"\n"b";"Two"\n'],
    ['LibreOffice, bars', 'id|text\na|One, and; more\nb|Two\n'],
    ['LibreOffice, colons', 'id:text\na:"One, and; more"\nb:Two\n', { delimiter: ':' }],
    ['sep=', 'sep=;\nid;text\na;"One, and; more"\nb;Two\n'],
    ['sep= in capitals', 'SEP=;\nid;text\na;"One, and; more"\nb;Two\n'],
    ['sep= in quotes', '"sep=,"\nid,text\na,"One, and; more"\nb,Two\n'],
    ['sep= with empty cells', 'sep=;;;\nid;text;;\na;"One, and; more";;\nb;Two;;\n'],
    ['sep= and a tab', 'sep=\t\nid\ttext\na\tOne, and; more\nb\tTwo\n'],
    ['sep= and any sign', 'sep=^\nid^text\na^One, and; more\nb^Two\n'],
    ['sep= without a sign', 'sep=\nid;text\na;"One, and; more"\nb;Two\n'],
    ['sep= that an option overrules', 'sep=,\nid;text\na;"One, and; more"\nb;Two\n', { delimiter: ';' }],
    ['rows of empty cells', 'id;text\n;\na;"One, and; more"\n"";""\n ; \nb;Two\n;\n;\n'],
    ['empty rows above the header', ';\n\n;\nid;text\na;"One, and; more"\nb;Two\n'],
    ['columns without a name', ';id;text;;\n;a;"One, and; more";;\n;b;Two;note;\n'],
    ['empty cells behind the last column', 'id;text\na;"One, and; more";;\nb;Two;\n'],
    ['Numbers, with the name of the table', 'Table 1\nid;text\na;"One, and; more"\nb;Two\n'],
    ['Numbers, with its delimiters', 'Tabelle 1;\nid;text\na;"One, and; more"\nb;Two\n'],
    [
      'titles above the table',
      'Texts;;\r\n;;\r\nMay 2024;;\r\nid;text;\r\na;"One, and; more";\r\nb;Two;\r\n',
    ],
  ])('is read, from %s', async (_, text, how = {}, kind = 'csv') => {
    expect(texts(await read(text, kind, how))).toEqual(both);
    expect(texts(await read(text, kind, { ...how, size: 65_536 }))).toEqual(both);
  });

  it.each<[string, string, string, string?]>([
    ['id;text;Name, Vorname\n', 'a;One;x\n', 'id,text,Name, Vorname'],
    ['id;text;a, b, c, d\n', 'a;One;x\n', 'id,text,a, b, c, d'],
    ['id,text,a;b;c;d\n', 'a,One,x\n', 'id,text,a;b;c;d'],
    ['"id";text;"x;y"\n', 'a;One;x\n', 'id,text,x;y'],
    ['Key;Text;A, b, c, d\n', 'a;One;x\n', 'Key,Text,A, b, c, d', 'id=Key,text=Text'],
  ])('is divided where the columns of a batch come of it: %j', async (header, row, columns, named) => {
    const [first] = texts(await read(header + row, 'csv', named ? { columns: named } : {}));
    expect(Object.keys(first ?? {}).join(',')).toBe(columns);
  });

  it('counts the lines in front of its header', async () => {
    const [row] = await read('sep=;\n;\nid;text\na;One\n');
    expect(row).toEqual({ line: 4, id: 'a', text: 'One' });
    await expect(read('sep=;\nid;text\na;"two\nlines"\na;b"c\n')).rejects.toThrow(
      't.csv, line 5: there is a quote in the middle of a cell (cells are separated by semicolons)',
    );
    await expect(read('Table 1\nid;text\na;"b\n')).rejects.toThrow('a quote that opens in line 3');
  });

  it('lacks empty cells at the end of 16 rows, as Excel leaves them out, and otherwise says so', async () => {
    const row = (at: number, more = ';') => `r${at};Hello.${more}\n`;
    const rows = Array.from({ length: 40 }, (_, at) => row(at + 1, at < 15 ? ';' : ''));
    const read40 = await read(`id;text;note\n${rows.join('')}`, 'csv', { size: 65_536 });
    expect(read40.map((each) => Object.values(each).slice(2))).toEqual(Array(40).fill(['Hello.', '']));
    const broken = ['id;text;note\n', row(1), 'r2;Hello\n', 'there;you;\n'];
    expect(await read(broken.join(''))).toMatchObject([
      { id: 'r1' },
      { line: 3, fault: expect.stringContaining('2 cells') },
      {},
    ]);
  });
});
