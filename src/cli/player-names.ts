/** Programs that play a WAV, the first that is there being used. */
const PLAYERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['ffplay', 'mpv', 'play', 'afplay'],
  win32: ['ffplay.exe', 'mpv.exe', 'powershell.exe'],
};
const ELSEWHERE = ['pw-play', 'paplay', 'aplay', 'ffplay', 'mpv', 'play'];

export function playerNames(platform: NodeJS.Platform): readonly string[] {
  return PLAYERS[platform] ?? ELSEWHERE;
}
