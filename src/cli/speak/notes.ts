import type { RunContext } from '../../host.ts';
import type { Cast } from '../../speech/cast/cast.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { RunText } from '../../speech/text.ts';
import type { Notices } from '../terminal/notices.ts';

/** What a user names for a text. */
export type Named = Pick<SpeechJob, 'cast' | 'lexicon'>;

const MOST_ENTRIES = 20;

/** A warning shows no more names of a text. */
const MOST_NAMES = 10;

/** Reads the text once for its names, if it can be read again, and tells what is wrong with them before anything is paid for. */
export async function tellNamesBefore(
  { cast }: Pick<Named, 'cast'>,
  text: RunText,
  { notices, signal }: Pick<RunContext, 'signal'> & { readonly notices: Notices },
): Promise<void> {
  if (!cast?.hasDialogue || !text.canBeReadAgain) return;
  cast.recount();
  for await (const _ of text.pieces(signal));
  tellNames(cast, notices, (name, lines) => `${name} (${lines})`);
}

/** A name that no line has, and one that no voice has, are likely to be mistyped. They are told once. */
function tellNames(cast: Cast, notices: Notices, shown: (name: string, lines: number) => string): void {
  if (cast.areNamesTold) return;
  cast.areNamesTold = true;
  const { absent, unlisted } = cast;
  const names = unlisted.slice(0, MOST_NAMES).map(([name, lines]) => shown(name, lines));
  const more = unlisted.length > names.length ? `, and ${unlisted.length - names.length} more` : '';
  const others = names.length === 0 ? '' : `lines of names that are not listed: ${names.join(', ')}${more}`;
  for (const [at, name] of absent.entries()) {
    const found = at === 0 && others !== '' ? `; ${others}` : '';
    notices.warn(`--voices: no line begins with "${name}: "${found}`);
  }
  if (absent.length === 0 && others !== '')
    notices.warn(`--voices: ${others}; they are read out by the voice before them, names included`);
}

/** What the texts that were read do not have is likely to be mistyped. */
export function tellAbsent({ cast, lexicon }: Named, notices: Notices): void {
  // The texts of a batch may have been read several times, so their lines are not counted.
  if (cast) tellNames(cast, notices, (name) => name);
  const unused = lexicon.filter(({ isUsed }) => !isUsed);
  if (unused.length === 0) return;
  const shown = unused.slice(0, MOST_ENTRIES).map(({ written, place }) => `"${written}" (${place})`);
  const more = unused.length > shown.length ? `, and ${unused.length - shown.length} more` : '';
  notices.detail(() => `lexicon lines that were never used: ${shown.join(', ')}${more}`);
}
