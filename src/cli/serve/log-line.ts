import { visible } from '../../printable.ts';
import type { LogRecord } from '../../service/http/log.ts';

/** One record as one line: for people, or for programs. */
export function logLine(record: LogRecord, form: 'text' | 'json', time: Date): string {
  if (form === 'json') return visible(JSON.stringify({ time, ...record, ...errorOf(record) }));
  return `${time.toISOString()} ${textOf(record)}`;
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

/** Paths come from strangers, and terminals obey what is printed on them. */
function inAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
