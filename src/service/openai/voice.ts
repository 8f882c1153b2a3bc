import type { EngineSet, Speaker } from '../../engine/contract.ts';
import { shortName } from '../../engine/source.ts';
import { voiceForLanguage } from '../../voices/language.ts';
import { wellFormedStart } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import { numberedSpeaker } from '../tts/utterance.ts';

/** Clients that were made for OpenAI send these names without being asked. */
const OPENAI_VOICES: ReadonlySet<string> = new Set(
  'alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '),
);

/**
 * Finds a voice by its name, also as `engine:name`, by its number, by the name of its engine (an installed voice may have
 * several speakers), or by its language. One of OpenAI's names stands for the default voice where no voice of the service
 * has it: the first one that an engine brings, else the first of all.
 * @throws Refusal 400 for an unknown voice
 */
export function voiceOf(asked: string, engine: EngineSet): Speaker {
  const name = asked.trim();
  const all = engine.speakers;
  const isBrought = ({ engine }: Speaker) => engine !== undefined;
  const groups = [all.filter(isBrought), all.filter((speaker) => !isBrought(speaker))];
  const speakers = groups.flat();
  const found = named(name, speakers, engine) ?? voiceForLanguage(name, groups);
  if (found) return found;
  const [first] = speakers;
  if (first && (name === '' || OPENAI_VOICES.has(name.toLowerCase()))) return first;
  const shown = wellFormedStart(name);
  throw new Refusal(
    400,
    'unknown_voice',
    `There is no voice ${shown}; GET /v1/audio/voices lists the voices of this service`,
    { field: 'voice' },
  );
}

function named(name: string, speakers: readonly Speaker[], engine: EngineSet): Speaker | undefined {
  const lower = name.toLowerCase();
  const namesOf = ({ name, engine }: Speaker) =>
    engine === undefined ? [name] : [name, `${engine}:${name}`];
  return (
    speakers.find((speaker) => namesOf(speaker).includes(name)) ??
    speakers.find((speaker) => namesOf(speaker).some((each) => each.toLowerCase() === lower)) ??
    (/^-?\d+$/.test(name) ? numberedSpeaker(Number(name), engine) : undefined) ??
    speakers.find(({ engine }) => engine?.toLowerCase() === lower) ??
    speakers.find((speaker) => speaker.engine !== undefined && shortName(speaker.name) === lower)
  );
}
