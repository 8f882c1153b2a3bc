import type { Espeak } from '../engine/espeak/voices.ts';
import { FLITE_SPEAKERS } from '../engine/flite/voices.ts';
import type { RunContext } from '../host.ts';
import { isFree, loadCatalogue } from '../installed/catalogue.ts';
import { installLine } from '../installed/not-installed.ts';
import { manifestsOf } from './installed.ts';
import { baseLanguage, languageName, matchesLanguage, voiceForLanguage } from './language.ts';

const UNREAD_BY_ESPEAK = ['ja', 'zh'];

interface Machine {
  readonly espeak: Espeak | undefined;
  readonly context: Pick<RunContext, 'host'>;
}

/** True where espeak-ng names the characters in English instead of reading them. */
export function isUnreadByEspeak(language: string): boolean {
  return UNREAD_BY_ESPEAK.some((unread) => matchesLanguage(unread, language));
}

/** Says how to get a voice for a language: one that is there, one that can be installed, or that there is none. */
export function adviceFor(asked: string, { espeak, context }: Machine): string {
  const base = baseLanguage(asked) ?? asked;
  const language = languageName(base) ?? asked;
  const isOf = (tag: string) => matchesLanguage(tag, base);
  const there =
    manifestsOf(context).find(({ speakers }) => speakers.some((speaker) => isOf(speaker.language))) ??
    FLITE_SPEAKERS.find((speaker) => isOf(speaker.language));
  if (there) return `-s ${there.name} speaks ${language}`;
  const isReadable = !isUnreadByEspeak(base);
  const robot = isReadable && espeak && voiceForLanguage(base, [espeak.voices.map(({ speaker }) => speaker)]);
  const ofLanguage = loadCatalogue(context.host).voices.filter((voice) => isOf(voice.language));
  const offered = ofLanguage.find(isFree) ?? ofLanguage[0];
  if (offered) return `${installLine(offered)}${robot ? `; until then, -s ${base} takes espeak-ng` : ''}`;
  if (robot) return `-s ${base} takes the voice of espeak-ng`;
  if (isReadable && !espeak) return `espeak-ng may speak ${language}: install it, then -s ${base}`;
  return `no voice that tts can install reads ${language}; a service or an engine of yours may: --base-url, --engine`;
}
