import { closest, distance } from 'fastest-levenshtein';

/** So much of a name says which one is meant. */
const LEAST_TELLING = 3;

/**
 * The candidate that a mistyped name most likely meant, or `undefined` when none is near: the shortest of which it is the
 * beginning or a word, else one that is written nearly so.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  return shortened(name, candidates) ?? nearlyWritten(name, candidates);
}

function shortened(name: string, candidates: readonly string[]): string | undefined {
  const typed = withoutDashes(name);
  if (typed.length < LEAST_TELLING) return undefined;
  const isMeant = (candidate: string) => {
    const whole = withoutDashes(candidate);
    return whole.startsWith(typed) || whole.split('-').includes(typed);
  };
  return candidates.filter(isMeant).sort((a, b) => a.length - b.length)[0];
}

function withoutDashes(name: string): string {
  return name.toLowerCase().replace(/^-+/, '');
}

function nearlyWritten(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const typed = name.toLowerCase();
  const nearest = closest(
    typed,
    candidates.map((candidate) => candidate.toLowerCase()),
  );
  const near = distance(typed, nearest) <= Math.max(2, Math.floor(name.length / 3));
  return near ? candidates.find((candidate) => candidate.toLowerCase() === nearest) : undefined;
}

/** What to do about a key that is none of those there are. */
export function keyHint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest ? `did you mean ${JSON.stringify(nearest)}?` : `there are: ${known.join(', ')}`;
}
