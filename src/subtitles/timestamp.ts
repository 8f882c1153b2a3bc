/**
 * A place in the sound as `01:02:03,456`, rounded to milliseconds from whole frames: no error adds up. Hours go past 99.
 * @param point stands before the milliseconds
 */
export function timestamp(frames: number, sampleRate: number, point: string): string {
  const milliseconds = Math.round((frames * 1000) / sampleRate);
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}${point}${String(milliseconds % 1000).padStart(3, '0')}`;
}
