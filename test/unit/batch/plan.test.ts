import { describe, expect, it, vi } from 'vitest';
import { BatchPlan, NameTemplate, type PlanOptions } from '../../../src/batch/plan.ts';
import { addColumns, parseColumns, readTable, type TableKind } from '../../../src/batch/table.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import type { Speaker } from '../../../src/sound/voice.ts';
import { silent } from '../../support/speaker.ts';

async function* words(text: string) {
  yield text;
}

function numbered(no: number): Speaker {
  return { ...silent, voice: { ...silent.voice, no } };
}

function read(text: string, options: Partial<PlanOptions> = {}, kind: TableKind = 'csv') {
  const name = `p.${kind}`;
  const rows = readTable(words(text), kind, name);
  return BatchPlan.read([{ name, hasHeader: kind === 'csv', rows }], {
    columns: new Map(),
    template: new NameTemplate('out/{id}.wav'),
    shard: undefined,
    speakerOf: async ({ speaker }) => numbered(Number(speaker ?? 1)),
    textFileOf: (name) => name,
    ...options,
  });
}

async function messageOf(text: string, options: Partial<PlanOptions> = {}): Promise<string> {
  return read(text, options).then(
    () => 'no error',
    (error) => error.message,
  );
}

describe('the plan of a batch', () => {
  it('holds the rows of a table in its order', async () => {
    const plan = await read('id,text,speaker\nb,two,4\na,one,\n');
    expect(plan.mine).toEqual([
      {
        id: 'b',
        table: 'p.csv',
        line: 2,
        text: 'two',
        speaker: numbered(4),
        namesSpeaker: true,
        file: 'b.wav',
      },
      {
        id: 'a',
        table: 'p.csv',
        line: 3,
        text: 'one',
        speaker: numbered(1),
        file: 'a.wav',
      },
    ]);
  });

  it('takes columns by other names', async () => {
    const plan = await read('Filename,Text\na,one\n', { columns: parseColumns('id=Filename,text=Text') });
    expect(plan.rows.at(0)).toMatchObject({ id: 'a', text: 'one' });
  });

  it('says which columns there are, and what --columns could be', async () => {
    await expect(read('String ID,Source text\na,one\n')).rejects.toMatchObject({
      message: 'p.csv has no column "id"; its columns are "String ID", "Source text", separated by commas',
      hint: "say which columns to use: --columns 'id=String ID,text=Source text'",
    });
  });

  it.each<[TableKind, string]>([
    ['jsonl', '{"id":"a","text":"Hi"}\n{"id":"b","text":"Ho","3":2}'],
    ['jsonl', '{"id":"b","text":"Ho","3":2}\n{"id":"a","text":"Hi"}'],
    ['psv', 'a|Hi\nb|Ho|2'],
  ])('finds a column of a %s without a header in any row: %s', async (kind, text) => {
    const plan = await read(text, { columns: parseColumns('speaker=3') }, kind);
    const speakers = plan.mine.map(({ speaker }) => speaker.voice.no);
    expect(speakers.toSorted()).toEqual([1, 2]);
  });

  it('refuses a column in the wrong case in any row of a JSONL', async () => {
    const text = '{"id":"a","text":"Hi"}\n{"id":"b","text":"Ho","Speaker":2}';
    await expect(read(text, {}, 'jsonl')).rejects.toThrow('p.jsonl: the column "Speaker" would not be used');
    await expect(read('{"id":"a"}\n{"id":"b","Text":"Ho"}', {}, 'jsonl')).rejects.toThrow(
      'p.jsonl has no column "text" or "file"; its columns are "id", "Text"',
    );
  });

  it('keeps no new column of a later row that nobody looks for', () => {
    const seen = new Set<string>();
    for (const row of [['id', 'x'], ['id', 'y'], ['SPEAKER'], ['Wer']])
      addColumns(seen, row, parseColumns('text=Wer'));
    expect([...seen]).toEqual(['id', 'x', 'SPEAKER', 'Wer']);
  });

  it.each([
    ['id:text\na:one\n', '"id:text", separated by commas', '--delimiter'],
    ['Id;Text\na;one\n', '"Id", "Text", separated by semicolons', "--columns 'id=Id,text=Text'"],
  ])('says what separates columns, for %j', async (text, columns, hint) => {
    await expect(read(text)).rejects.toMatchObject({
      message: `p.csv has no column "id"; its columns are ${columns}`,
      hint: expect.stringContaining(hint),
    });
  });

  it('takes a speed with a comma, and leaves other cells as they are', async () => {
    const cells: unknown[] = [];
    const text = 'id;text;speed;sampleRate\na;1,5;1,25;22,050\nb;x; 0,9 ;\n';
    await read(text, {
      speakerOf: async (said) => {
        cells.push(said);
        return numbered(1);
      },
    });
    expect(cells).toEqual([{ speed: '1.25', sampleRate: '22,050' }, { speed: ' 0.9 ' }]);
  });

  it.each([
    ['id,text\na,one\na,two\n', 'p.csv, line 3, column id: the id "a" is taken by p.csv, line 2'],
    ['id,text\na,one\nA,two\n', 'p.csv, line 3, column id: the id "A" is taken by p.csv, line 2'],
    ['id,text\n\u00e9,one\ne\u0301,two\n', 'is taken by p.csv, line 2'],
    ['id,text\n,one\n', 'p.csv, line 2, column id: the row has no id'],
    ['id,text\n../a,one\n', 'p.csv, line 2, column id: "../a" leads to another folder'],
    ['id,text,file\na,one,two.txt\n', 'p.csv, line 2, column file: the row has a text and a file'],
    ['id,text\na,one,two\n', 'p.csv, line 2: the row has 3 cells'],
    ['id,text\n', 'p.csv: there is no row'],
  ])('refuses %j', async (text, message) => {
    expect(await messageOf(text)).toContain(message);
  });

  it('refuses two rows with one file, naming both lines', async () => {
    const template = new NameTemplate('out/{lang}.wav');
    await expect(read('id,text,lang\na,one,de\nb,two,DE\n', { template })).rejects.toMatchObject({
      message: 'p.csv, line 3: the file DE.wav is also that of p.csv, line 2',
      hint: expect.stringMatching(/^-o needs a column that differs from row to row/),
    });
  });

  it('shows ten errors and says how many more there are', async () => {
    const rows = Array.from({ length: 25 }, (_, at) => `../${at},x`).join('\n');
    const error = await read(`id,text\n${rows}\n`).catch((reason) => reason);
    expect(error.message).toBe('p.csv: 25 rows are wrong');
    expect(error.details).toHaveLength(11);
    expect(error.details[9]).toBe('p.csv, line 11, column id: "../9" leads to another folder');
    expect(error.details[10]).toBe('and 15 more');
  });

  it('fails as a whole where no row is wrong, and asks no more then', async () => {
    const error = new TtsError('the engine cannot be reached', { exitCode: ExitCode.connection });
    const speakerOf = vi.fn().mockRejectedValue(error);
    await expect(read('id,text\na,one\nb,two\n', { speakerOf })).rejects.toBe(error);
    expect(speakerOf).toHaveBeenCalledOnce();
  });

  it('knows the files of all its rows', async () => {
    const plan = await read('id,text\na,one\n');
    expect([plan.hasFile('a.wav'), plan.hasFile('A.WAV'), plan.hasFile('b.wav')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
