import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { OPENING, type Tags } from '../../audio/pcm.ts';
import { byChapter, chapterKey, chaptersOf } from '../../batch/chapters/chapters.ts';
import { chapterRows, chapterTemplate } from '../../batch/chapters/names.ts';
import { leftOver, manifestLines, manifestPath, type Outcome, removeMerged } from '../../batch/closing.ts';
import { lockFolder } from '../../batch/lock.ts';
import { Journal, journalName } from '../../batch/manifest.ts';
import { BatchPlan } from '../../batch/plan.ts';
import { prepareRowFiles, syncFolders } from '../../batch/row-file.ts';
import { openRowFolder } from '../../batch/row-folder.ts';
import type { RowKey } from '../../batch/row-state.ts';
import { KnownFiles, Survey } from '../../batch/survey.ts';
import { writeText } from '../../batch/write-lines.ts';
import { ExitCode, TtsError, usageError } from '../../error.ts';
import { makeOutputFolder } from '../../files/folders.ts';
import { visible } from '../../printable.ts';
import { USUAL_PAUSES } from '../../speech/cutting.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { Mix } from '../../speech/mix.ts';
import type { RunText } from '../../speech/text.ts';
import type { Segment } from '../../text/segment.ts';
import type { Voice } from '../../voices/voice.ts';
import type { Context } from '../context.ts';
import { mayPrune, pruneFiles } from '../pruning.ts';
import { countOf } from '../terminal/style.ts';
import { ChapterMaker, type Making } from './make.ts';

export interface Split extends Omit<Making, 'folder' | 'journal' | 'window'> {
  readonly text: RunText;
  readonly tags: Tags;
  voiceOf(segment: Segment): Voice;
  /**
   * Begins to listen to the voices, and opens what they speak with.
   * @returns the segments that are asked for ahead of their turn
   */
  begin(): Promise<number>;
}

/**
 * Writes a file for each chapter. What a run before has written, and what would sound the same, stays.
 * @throws TtsError (usage) for a text that can be read only once, and for a name that cannot be
 */
export async function speakSplit(job: SpeechJob, split: Split, context: Context): Promise<number> {
  const { output } = job;
  const { folder, plan, keys } = await planOf(job, split, context);
  using _plan = plan;
  if (job.split?.checks) return await check(job, { folder, plan, keys }, context);
  makeOutputFolder(folder.path);
  using _lock = lockFolder(folder.path, undefined, context.host, hostname());
  const { signal, host } = context;
  using known = new KnownFiles(folder.path, host.uid);
  const survey = await surveyOf({ folder, plan, keys }, known, signal);
  const outcome: Outcome = { folder, shard: undefined, plan, known, survey };
  const pruning = { ...outcome, folderName: folder.path };
  const isPruned = await mayPrune(
    pruning,
    { prune: job.split?.prunes ?? false, yes: job.split?.yes ?? false },
    context,
  );
  if (survey.toDoCount > 0) {
    await output.encoding.assertReady();
    const paths = [...survey.toDo()].map((number) => folder.pathOf(plan.rows.at(number).file));
    const folders = prepareRowFiles(paths, (path) => paths.includes(path), host);
    using journal = new Journal(join(folder.path, journalName()), host.uid);
    const window = await split.begin();
    const maker = new ChapterMaker(job, { ...split, folder, journal, window }, context);
    await make(maker, { outcome, keys, split }, context);
    await syncFolders(folders);
  }
  if (isPruned) await pruneFiles(pruning, context);
  const path = manifestPath(outcome);
  await writeText({ path, name: path, writer: host }, manifestLines(outcome), signal);
  removeMerged(outcome);
  tell(job, outcome, context);
  return ExitCode.ok;
}

interface Planned extends Pick<Outcome, 'folder' | 'plan'> {
  readonly keys: readonly RowKey[];
}

async function planOf(
  job: SpeechJob,
  { text, tags, voiceOf }: Split,
  { host, signal }: Context,
): Promise<Planned> {
  if (!text.canBeReadAgain)
    throw usageError(
      '--split reads its text more than once, which a pipe cannot give',
      'name a file with -f',
    );
  const template = chapterTemplate(job.output.name ?? '');
  const folder = openRowFolder(template.fixedFolder, host.cwd);
  const chapters = await chaptersOf(text.segments(false, signal), (segment) => [
    segment.pause,
    voiceOf(segment).shape,
    ...ownSilence(segment, job.mix),
  ]);
  if (chapters.length === 0) throw text.blank();
  const numbers = chapters.map(({ number }) => number);
  const titles = chapters.map(({ title, number }) => title ?? (number === 0 ? OPENING : ''));
  const rows = chapterRows(titles, tags.title ?? '', template, numbers);
  const plan = await BatchPlan.read([{ name: 'the chapters', rows }], {
    columns: new Map(),
    template,
    shard: undefined,
    encode: job.output.encode,
    voiceOf: async () => job.voice.shape,
    textFileOf: () => '',
  });
  const told = toldOf(tags);
  const keys = chapters.map((chapter, at) =>
    chapterKey(chapter, shapeOf(job), [told, titles[at], chapter.number, numbers.at(-1)]),
  );
  return { folder, plan, keys };
}

/** The silence of a heading or a scene that is not the usual one. Those of sentences and paragraphs are the same for a whole chapter. */
function ownSilence({ pause }: Segment, { pauses }: Mix): readonly number[] {
  if (pause !== 'heading' && pause !== 'scene') return [];
  return pauses[pause] === USUAL_PAUSES[pause] ? [] : [pauses[pause]];
}

function shapeOf({ voice, mix, output }: SpeechJob) {
  const { identity, ...shape } = voice.shape;
  const { maxChars } = voice;
  const { name } = output.encoding;
  const encoded = name === 'wav' ? undefined : [name, output.bitrate ?? null];
  return { owner: identity, voice: shape, mix, maxChars, cutsParagraphs: true, encoded };
}

/** The picture counts by its hash. */
function toldOf({ cover, ...tags }: Tags): unknown {
  return [tags, cover && createHash('sha256').update(cover.bytes).digest('hex')];
}

function surveyOf({ folder, plan, keys }: Planned, known: KnownFiles, signal: AbortSignal): Promise<Survey> {
  const byId = new Map([...plan.mine()].map((number) => [plan.rows.at(number).id, keys[number]]));
  const keyOf = ({ id }: { readonly id: string }) => byId.get(id) as RowKey;
  return Survey.take(plan, known, { folder, keyOf, signal });
}

interface Work {
  readonly outcome: Outcome;
  readonly keys: readonly RowKey[];
  readonly split: Split;
}

/** One pass over the text serves all chapters. */
async function make(maker: ChapterMaker, { outcome, keys, split }: Work, { signal }: Context): Promise<void> {
  const { plan, survey, known } = outcome;
  const toDo = new Set(survey.toDo());
  let number = 0;
  for await (const { heading, parts } of byChapter(split.text.segments(false, signal))) {
    if (toDo.has(number)) {
      const entry = await maker.make(plan.rows.at(number), {
        parts,
        key: keys[number] as RowKey,
        title: heading ? heading.title : OPENING,
        count: Number(plan.rows.at(plan.rows.count - 1).id),
      });
      survey.setMade(number, known.entries.add(entry));
    }
    number += 1;
  }
}

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
async function check(job: SpeechJob, planned: Planned, context: Context): Promise<number> {
  const { folder, plan } = planned;
  using known = new KnownFiles(folder.path, context.host.uid);
  const survey = await surveyOf(planned, known, context.signal);
  const faults: (readonly [state: string, file: string])[] = [];
  for (let number = 0; number < plan.rows.count; number += 1) {
    const state = survey.stateOf(number);
    if (state && state !== 'unchanged' && state !== 'empty') faults.push([state, plan.rows.at(number).file]);
  }
  for (const { file } of leftOver({ folder, plan, known })) faults.push(['left over', file]);
  for (const [state, file] of faults) {
    const out = join(folder.path, file);
    context.notices.result(job.json ? { state, out } : `${state}: ${visible(out)}`);
  }
  if (faults.length === 0) return ExitCode.ok;
  const count = countOf(faults.length, 'file is', 'files are');
  throw new TtsError(`${count} missing, stale, damaged or left over`, {
    exitCode: ExitCode.partial,
    hint: 'the same command without --check makes what is missing; --prune deletes what is left over',
  });
}

function tell({ json }: SpeechJob, { plan, survey, folder }: Outcome, { notices }: Context): void {
  const { unchanged, empty } = survey.counts;
  const made = survey.toDoCount;
  if (!json) {
    notices.note(`${countOf(plan.rows.count - empty, 'chapter')}: ${made} made, ${unchanged} unchanged`);
    return;
  }
  const chapters = [...plan.mine()].map((number) => {
    const { id, file } = plan.rows.at(number);
    const state = survey.stateOf(number);
    const done = state === 'unchanged' ? 'unchanged' : state === 'empty' ? 'skipped' : 'made';
    return { id, state: done, out: join(folder.path, file) };
  });
  notices.result({ chapters, made, unchanged });
}
