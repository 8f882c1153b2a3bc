import { isLoopback } from '../../address.ts';
import type { EngineSet } from '../../engine/contract.ts';
import { visible } from '../../printable.ts';
import type { LogRecord } from '../../service/http/exchange.ts';
import type { Notices } from '../terminal/notices.ts';
import type { ServeOptions } from './options.ts';

interface Setup {
  readonly engine: EngineSet;
  readonly apiKey: string | null;
  readonly options: ServeOptions;
}

/** Prints for people on stderr, and for programs on stdout. */
export function announce(url: string, { engine, apiKey, options }: Setup, notices: Notices): void {
  const made = options.apiKey === undefined ? apiKey : undefined;
  const faults = (options.faults ?? []).map(({ spec }) => spec);
  notices.note(`listening on ${url}`);
  notices.note(`for clients of OpenAI's speech interface: ${url}/v1`);
  // A browser sends nobody what follows the sign, and the page takes it out of the address.
  notices.note(`in a browser: ${url}/${made ? `#key=${made}` : ''}`);
  if (made) notices.note(`the API key of this run is ${made} (TTS_API_KEY sets one that stays)`);
  if (!isLoopback(options.host))
    notices.warn('the network can connect, and read along: http is not encrypted');
  for (const spec of faults) notices.note(`fails on purpose: --fault ${spec}`);
  // The line shows only a key that this run made.
  if (options.apiKey) notices.note('the line below needs your key: export TTS_API_KEY=... where you try it');
  const [speaker] = engine.speakers;
  if (!speaker)
    notices.note('the service lists no speakers: put the number of one of its own into the line below');
  const key = apiKey === null ? null : (made ?? '$TTS_API_KEY');
  notices.note(`try: ${curlLine(url, key, speaker?.no ?? 1)}`);
  if (!options.json) return;
  const shown = { url, ...(made && { apiKey: made }), ...(faults.length > 0 && { faults }) };
  notices.result(shown);
}

function curlLine(url: string, key: string | null, speaker: number): string {
  const keyHeader = key === null ? '' : ` -H "X-API-KEY: ${key}"`;
  const body = `-H "Content-Type: application/json" -d '{"text":"Hello","speaker_no":${speaker}}'`;
  return `curl -fsS${keyHeader} ${body} -o hello.wav ${url}/tts`;
}

export function logLine(
  record: LogRecord,
  form: 'text' | 'json',
  { time, notices }: { readonly time: Date; readonly notices: Pick<Notices, 'inJson' | 'redact'> },
): string {
  if (form === 'json') return notices.inJson({ time, ...record, ...errorOf(record) });
  return notices.redact(`${time.toISOString()} ${textOf(record)}`);
}

function errorOf(record: LogRecord): { error?: string } {
  return record.event === 'defect' ? { error: stackOf(record.error) } : {};
}

function textOf(record: LogRecord): string {
  switch (record.event) {
    case 'request':
      return requestText(record);
    case 'callback': {
      const { id, origin, delivered, tries, reason } = record;
      const end = delivered ? 'delivered' : `given up: ${reason}`;
      return inAscii(`${id} callback to ${origin} ${end} (tries: ${tries})`);
    }
    case 'engine':
      return `${record.id} engine failed: ${visible(record.reason)}`;
    case 'defect':
      return `${record.id} defect: ${stackOf(record.error).split('\n').map(visible).join('\n')}`;
  }
}

function requestText(record: Extract<LogRecord, { event: 'request' }>): string {
  const { id, method, path, status, cut, milliseconds, speaker, characters, refusal } = record;
  return inAscii(
    [
      `${id} ${method ?? '-'} ${path ?? '-'} ${status ?? '-'} ${milliseconds} ms`,
      speaker === undefined ? '' : `speaker ${speaker}`,
      characters === undefined ? '' : `${characters} characters`,
      refusal ?? '',
      cut ? 'cut off' : '',
    ]
      .filter(Boolean)
      .join(', '),
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A terminal obeys escape sequences in a stranger's path. */
function inAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
