import { closest, distance } from 'fastest-levenshtein';

const LEAST_TELLING = 3;

/** Finds the shortest candidate that begins with the name or has it as a word, else the one spelled most alike. */
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
  const slip = candidates.find((candidate) => isOneLetterOff(typed, candidate.toLowerCase()));
  if (slip !== undefined) return slip;
  const nearest = closest(
    typed,
    candidates.map((candidate) => candidate.toLowerCase()),
  );
  // All codes of two or three letters are near to each other.
  const most = name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length / 3));
  const near = distance(typed, nearest) <= most;
  return near ? candidates.find((candidate) => candidate.toLowerCase() === nearest) : undefined;
}

/** True if one letter is wrong, missing or too many, or two are swapped. */
export function isOneLetterOff(word: string, known: string): boolean {
  const letters = (text: string) => text.split('').sort().join('');
  const edits = distance(word, known);
  return edits === 1 || (edits === 2 && letters(word) === letters(known));
}

export function keyHint(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest ? `did you mean ${JSON.stringify(nearest)}?` : `there are: ${known.join(', ')}`;
}
