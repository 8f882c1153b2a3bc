import { closest, distance } from 'fastest-levenshtein';

/** The candidate that a mistyped name most likely meant, or `undefined` when none is near. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
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
