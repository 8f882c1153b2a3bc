import { describe, expect, it } from 'vitest';
import { readTable, type TableKind, tableKindOf } from '../../../src/batch/table.ts';

async function* inPieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function read(text: string, kind: TableKind = 'csv', size = 3) {
  const rows = [];
  for await (const { line, cells, fault } of readTable(inPieces(text, size), kind, `t.${kind}`))
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
      { line: 2, fault: expect.stringContaining('3 cells, and the header has 2 columns') },
      { line: 3, fault: expect.stringContaining('1 cells') },
      { line: 4, id: 'c', text: 'three' },
    ]);
  });

  it('takes a cell of a megabyte', async () => {
    const long = 'word '.repeat(200_000);
    const [row] = await read(`id,text\na,"${long}"\n`, 'csv', 65_536);
    expect(row).toMatchObject({ id: 'a', text: long });
  });

  it('does not read a quote that is never closed to the end of a huge table', async () => {
    await expect(read(`id,text\na,"${'x'.repeat(40_000_000)}`, 'csv', 1_000_000)).rejects.toThrow(
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

  it('in PSV has no header and no quotes', async () => {
    expect(await read('a|He said "no"|he said no\nb\n', 'psv')).toEqual([
      { line: 1, id: 'a', text: 'He said "no"', 3: 'he said no' },
      { line: 2, fault: expect.stringContaining('there is no "|"') },
    ]);
  });

  it('may have columns with the names of what every object has', async () => {
    expect(await read('id,__proto__,constructor\na,b,c\n')).toHaveLength(1);
  });
});
