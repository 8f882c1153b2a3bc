import type { Output } from '../../host.ts';
import { isLoopback } from '../../settings/nearby.ts';
import type { Notices } from '../notices.ts';
import { tell } from '../tell.ts';
import type { ServeOptions } from './options.ts';

interface Setup {
  readonly apiKey: string | null;
  readonly options: ServeOptions;
}

/** Tells people on stderr, and programs on stdout, where the service is. */
export function announce(url: string, { apiKey, options }: Setup, stdout: Output, notices: Notices): void {
  const made = options.apiKey === undefined ? apiKey : undefined;
  const faults = options.faults.map(({ spec }) => spec);
  notices.note(`listening on ${url}`);
  if (made) notices.note(`the API key of this run is ${made} (TTS_API_KEY sets one that stays)`);
  if (!isLoopback(options.host))
    notices.warn('the network can connect, and read along: http is not encrypted');
  for (const spec of faults) notices.note(`fails on purpose: --fault ${spec}`);
  // A key that was given outlives this run, and is for its owner to show: nobody would know the one that was made.
  if (options.apiKey) notices.note('the line below needs your key: export TTS_API_KEY=... where you try it');
  notices.note(`try: ${curlLine(url, apiKey === null ? null : (made ?? '$TTS_API_KEY'))}`);
  if (!options.json) return;
  const told = { url, ...(made && { apiKey: made }), ...(faults.length > 0 && { faults }) };
  tell(stdout, notices.inJson(told));
}

function curlLine(url: string, key: string | null): string {
  const keyHeader = key === null ? '' : ` -H "X-API-KEY: ${key}"`;
  const body = `-H "Content-Type: application/json" -d '{"text":"Hello","speaker_no":1}'`;
  return `curl${keyHeader} ${body} -o hello.wav ${url}/tts`;
}
