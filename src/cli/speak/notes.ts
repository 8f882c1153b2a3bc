import type { SpeechJob } from '../../speech/job.ts';
import type { Notices } from '../terminal/notices.ts';

/** What a user names for a text. */
export type Named = Pick<SpeechJob, 'cast' | 'lexicon'>;

const MOST_ENTRIES = 20;

/** What the texts that were read do not have is likely to be mistyped. */
export function tellAbsent({ cast, lexicon }: Named, notices: Notices): void {
  for (const name of cast?.absent ?? []) notices.warn(`--voices: no line begins with "${name}: "`);
  const unused = lexicon.filter(({ isUsed }) => !isUsed);
  if (unused.length === 0) return;
  const shown = unused.slice(0, MOST_ENTRIES).map(({ written, place }) => `"${written}" (${place})`);
  const more = unused.length > shown.length ? `, and ${unused.length - shown.length} more` : '';
  notices.detail(() => `lexicon lines that were never used: ${shown.join(', ')}${more}`);
}
