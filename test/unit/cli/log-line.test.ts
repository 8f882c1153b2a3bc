import { expect, it } from 'vitest';
import { Secrets } from '../../../src/cli/notices.ts';
import { logLine } from '../../../src/cli/serve.ts';

type Log = Parameters<typeof logLine>[0];

const lineOf = (record: Log, form: 'text' | 'json') =>
  logLine(record, form, { time: new Date(0), notices: new Secrets() });
const request = {
  event: 'request',
  id: 'r',
  method: 'POST',
  path: '/tts',
  status: 200,
  cut: false,
  milliseconds: 5,
} as const;
const callback = { event: 'callback', id: 'r', origin: 'http://a.b', tries: 5 } as const;

/** It colours a terminal, and sets its title. */
const FOREIGN = '/\u009b31m\u001b]0;x\u0007ü\u202e';
const SHOWN = '/\\u009b31m\\u001b]0;x\\u0007ü\\u202e';

it.each<[string, Log, string]>([
  ['a path of a stranger', { ...request, path: FOREIGN }, `r POST ${SHOWN} 200 5 ms`],
  [
    'what was refused',
    { ...request, status: 422, speaker: 3, characters: 9, refusal: 'invalid_field' },
    'r POST /tts 422 5 ms, speaker 3, 9 characters, invalid_field',
  ],
  ['what was cut off', { ...request, status: undefined, cut: true }, 'r POST /tts - 5 ms, cut off'],
  [
    'a callback that arrived',
    { ...callback, delivered: true },
    'r callback to http://a.b delivered (tries: 5)',
  ],
  [
    'one that did not',
    { ...callback, delivered: false, reason: 'status 500' },
    'r callback to http://a.b given up: status 500 (tries: 5)',
  ],
  [
    'the words of an engine',
    { event: 'engine', id: 'r', reason: `no${FOREIGN}\nroom` },
    `r engine failed: no${SHOWN}\\u000aroom`,
  ],
])('A line tells %s, without what a terminal would obey.', (_, record, line) => {
  expect(lineOf(record, 'text')).toBe(`1970-01-01T00:00:00.000Z ${line}`);
});

it('A line of JSON is data that rules no terminal either.', () => {
  const line = lineOf({ ...request, path: FOREIGN }, 'json');
  expect(line).toMatch(/^[^\p{Cc}\p{Cf}]+$/u);
  expect(JSON.parse(line)).toEqual({ time: '1970-01-01T00:00:00.000Z', ...request, path: FOREIGN });
});

it('The stack of a defect is told in lines, and as data.', () => {
  const defect = { event: 'defect', id: 'r', error: new Error(`red ${FOREIGN} ink`) } as const;
  const [first, second] = lineOf(defect, 'text').split('\n');
  expect(first).toBe(`1970-01-01T00:00:00.000Z r defect: Error: red ${SHOWN} ink`);
  expect(second).toMatch(/^ +at /);
  expect(JSON.parse(lineOf(defect, 'json')).error).toMatch(/^Error: red .*ink\n +at /);
});
