/** `--split chapters`: a file for each chapter. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { makeRow } from '../batch/make.ts';
import { batchFile, type FolderPlan, Journal, prepareRowFiles, RowStates } from '../batch/manifest.ts';
import { BatchPlan, type BatchRow } from '../batch/plan.ts';
import { openRowFolder, syncFolders } from '../batch/row-files.ts';
import { type RowKey, type Shape, speakerShape } from '../batch/row-key.ts';
import {
  type BookChapter,
  byChapter,
  chapterKey,
  chapterRows,
  chaptersOf,
  chapterTemplate,
} from '../batch/split.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { countOf, visible } from '../kit/words.ts';
import type { SpeechJob } from '../run/job.ts';
import { type Mix, USUAL_PAUSES } from '../run/mix.ts';
import type { SplitPlan } from '../run/outputs.ts';
import type { DeliverOptions, Listener } from '../run/run.ts';
import type { RunText } from '../run/text.ts';
import { OPENING, type Tags } from '../sound/pcm.ts';
import { rateOf } from '../sound/voice.ts';
import type { Segment } from '../text/segment.ts';
import { assertNoFaults, reportFaults, updateFolder } from './batch-folder.ts';
import type { Context } from './commands.ts';
import { type Progress, showProgress } from './progress.ts';

interface Split extends Pick<DeliverOptions, 'speakerOf' | 'lead' | 'mix' | 'maySkip' | 'listeners'> {
  readonly text: RunText;
  /** Tags of the whole book. */
  readonly tags: Tags;
  /** Opens the voices. */
  begin(progress: Progress | undefined): Promise<{ readonly reporting: Listener; readonly window: number }>;
}

/**
 * Writes a file for each chapter. Files of an earlier run that would sound the same are kept.
 * @throws TtsError (usage) for a text that can be read only once, and for an impossible name
 */
export async function speakSplit(
  job: SpeechJob,
  { tags, checks, prunes, yes, ...rest }: Split & SplitPlan,
  context: Context,
): Promise<number> {
  // Without a common album, players show each chapter as a book of its own.
  const split = { ...rest, tags: { ...tags, title: tags.title ?? rest.text.name } };
  const planned = await planOf(job, split, context);
  if (checks) return await check(job, planned, context);
  const made = new Set<BatchRow>();
  const write = (states: RowStates) => make(job, { states, planned, split, made }, context);
  const { states } = await updateFolder(planned, { prune: prunes, yes }, write, context);
  printSummary(job, states, made, context);
  return ExitCode.ok;
}

interface Planned extends FolderPlan {
  readonly texts: { keyOf(row: Pick<BatchRow, 'id'>): RowKey };
  readonly chapters: readonly BookChapter[];
}

async function planOf(
  job: SpeechJob,
  { text, tags, speakerOf }: Split,
  { host, signal }: Context,
): Promise<Planned> {
  if (!text.canBeReadAgain)
    throw usageError(
      '--split reads its text more than once, which a pipe cannot give',
      'name a file with -f',
    );
  const template = chapterTemplate(job.output.name ?? '');
  const folder = openRowFolder(template.fixedFolder, host);
  const chapters = await chaptersOf(text.segments(false, signal), (segment) => [
    segment.pause,
    speakerShape(speakerOf(segment)),
    ...ownSilence(segment, job.mix),
  ]);
  if (chapters.length === 0) throw text.blank();
  const named = chapters.map((chapter) => {
    const { title = chapter.number === 0 ? OPENING : '' } = chapter;
    return { ...chapter, title };
  });
  const plan = await BatchPlan.read(
    [{ name: 'the chapters', hasHeader: true, rows: chapterRows(named, tags.title ?? '', template) }],
    {
      columns: new Map(),
      template,
      shard: undefined,
      encode: job.output.encode,
      speakerOf: async () => job.speaker,
      textFileOf: () => '',
    },
  );
  const [shape, tagged, last] = [shapeOf(job), taggedShape(tags), named.at(-1)?.number];
  const keys = new Map(
    named.map((chapter) => {
      const { number, title } = chapter;
      return [String(number), chapterKey(chapter, shape, [tagged, title, number, last])];
    }),
  );
  const texts = { keyOf: ({ id }: Pick<BatchRow, 'id'>) => keys.get(id) as RowKey };
  return { folder, shard: undefined, plan, texts, chapters };
}

/** Returns a non-default pause of a heading or scene, to be hashed with the text. Other pauses are in the shape of the file. */
function ownSilence({ pause }: Segment, { pauses }: Mix): readonly number[] {
  if (pause !== 'heading' && pause !== 'scene') return [];
  return pauses[pause] === USUAL_PAUSES[pause] ? [] : [pauses[pause]];
}

function shapeOf({ speaker, mix, output }: SpeechJob): Shape {
  const { maxChars, voice } = speaker;
  const { name } = output.encoding;
  const encoded = name === 'wav' ? undefined : [name, output.bitrate ?? null];
  return {
    owner: voice.identity,
    voice: speakerShape(speaker),
    mix,
    maxChars,
    cutsParagraphs: true,
    encoded,
  };
}

/** Returns the tags for the key of a chapter, with the hash of the cover instead of its bytes. */
function taggedShape({ cover, ...tags }: Tags): unknown {
  return [tags, cover && hash('sha256', cover.bytes)];
}

interface SplitWork {
  readonly states: RowStates;
  readonly planned: Planned;
  readonly split: Split;
  /** Gets the chapters that have a new file. */
  readonly made: Set<BatchRow>;
}

/**
 * Makes the missing chapters in one pass over the text. A chapter of which all segments are left out has no file.
 * @throws the error of the first such chapter if no chapter has a file
 */
async function make(
  job: SpeechJob,
  { states, planned: { texts, chapters }, split, made }: SplitWork,
  context: Context,
): Promise<void> {
  const { host, signal } = context;
  const { folder, plan } = states;
  if (states.toDoCount === 0) return;
  await job.output.encoding.assertReady(rateOf(job.speaker));
  const folders = prepareRowFiles(states, host);
  const { text, tags, begin, ...speaking } = split;
  const toDo = new Set<BatchRow | undefined>(states.toDo());
  const count = Number(plan.rows.at(-1)?.id);
  using journal = new Journal(join(folder.path, batchFile('journal')), host.uid);
  const target = { folder, journal, writer: host, encoding: job.output.encoding };
  const total = sizeOf(chapters.filter((_, number) => toDo.has(plan.rows[number])));
  using progress = showProgress(async () => total, context);
  const { reporting, window } = await begin(progress);
  const refusals = new Set<unknown>();
  const refused: Listener = {
    on: (event) => void (event.type === 'skipped' && refusals.add(event.error)),
  };
  const listeners = [...split.listeners, progress?.count, reporting, refused];
  const sound = { ...speaking, listeners, window, signal };
  let number = 0;
  let lost: unknown;
  try {
    for await (const { heading, parts } of byChapter(text.segments(false, signal))) {
      const row = plan.rows[number];
      if (row && toDo.has(row)) {
        const { title = `Chapter ${row.id}` } = heading ?? { title: OPENING };
        const track = { number: Number(row.id), count };
        const own: Tags = { ...tags, title, album: tags.title, track };
        const entry = await makeRow(
          row,
          { ...target, keyOf: () => texts.keyOf(row) },
          { ...sound, segments: () => parts, tags: own },
        ).catch((error) => {
          if (!refusals.has(error)) throw error;
          lost ??= error;
        });
        if (entry) {
          states.setMade(row, entry);
          made.add(row);
        }
      }
      number += 1;
    }
  } catch (error) {
    throw withKept(error, number);
  }
  await syncFolders(folders);
  if (lost && made.size + states.counts.unchanged === 0) throw lost;
}

/** Adds to the error of an interrupted run which chapters are complete. */
function withKept(error: unknown, complete: number): unknown {
  if (!(error instanceof TtsError) || error.exitCode !== ExitCode.interrupted) return error;
  const kept = complete === 1 ? 'the first chapter is' : `the first ${complete} chapters are`;
  const hint = `the same command goes on: ${complete === 0 ? 'no chapter is complete yet' : `${kept} complete`}`;
  return error.reworded(error.message, { hint });
}

function sizeOf(chapters: readonly BookChapter[]) {
  const sum = (name: 'segments' | 'characters') => chapters.reduce((all, chapter) => all + chapter[name], 0);
  return { segments: sum('segments'), characters: sum('characters'), chapters: chapters.length };
}

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
async function check(job: SpeechJob, planned: Planned, context: Context): Promise<number> {
  const states = await RowStates.take(planned, context);
  const faults = await reportFaults(states, { host: context.host, allowEmpty: true }, (state, file) => {
    const out = join(planned.folder.path, file);
    context.notices.result(job.json ? { state, out } : `${state}: ${visible(out)}`);
  });
  assertNoFaults(faults, states);
  return ExitCode.ok;
}

function printSummary(
  { json }: SpeechJob,
  states: RowStates,
  made: ReadonlySet<BatchRow>,
  { notices }: Context,
): void {
  const { plan, folder } = states;
  const { unchanged, empty } = states.counts;
  if (!json) {
    const failed = states.toDoCount - made.size;
    const counts = `${made.size} made, ${unchanged} unchanged${failed > 0 ? `, ${failed} failed` : ''}`;
    notices.note(`${countOf(plan.rows.length - empty, 'chapter')}: ${counts}`);
    return;
  }
  const chapters = plan.mine.map((row) => {
    const { id, file } = row;
    const state = states.stateOf(row);
    const rest = state === 'unchanged' ? 'unchanged' : state === 'empty' ? 'skipped' : 'failed';
    const done = made.has(row) ? 'made' : rest;
    return { id, state: done, out: join(folder.path, file) };
  });
  notices.result({ chapters, made: made.size, unchanged });
}
