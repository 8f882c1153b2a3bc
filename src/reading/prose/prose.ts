import { inTurn, type Stage } from '../../text/live.ts';
import type { TextFacts } from './facts.ts';
import { Licence } from './licence.ts';
import { Pages } from './pages.ts';
import { Wording } from './wording.ts';

export interface ProseOptions {
  /** True if the header and the licence of Project Gutenberg are read, too. */
  readonly all: boolean;
  /** True if form feeds begin chapters. */
  readonly hasPageChapters: boolean;
  readonly tell: (note: string) => void;
}

const LICENCE_NOTE = 'the header and the licence of Project Gutenberg are left out; --all reads them';

/** Plain text as books have it. No line break is lost. */
export function prose(facts: TextFacts, { all, hasPageChapters, tell }: ProseOptions): Stage<string, string> {
  const wording = inTurn(new Pages(facts, hasPageChapters), new Wording(facts));
  return all ? wording : inTurn(new Licence(() => tell(LICENCE_NOTE)), wording);
}
