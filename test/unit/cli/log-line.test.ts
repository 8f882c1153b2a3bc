import { expect, it } from 'vitest';
import { Secrets } from '../../../src/cli/notices.ts';
import { logLine } from '../../../src/cli/serve.ts';

const time = new Date(0);
const notices = new Secrets();
const request = {
  event: 'request',
  id: 'r',
  method: 'POST',
  status: 200,
  cut: false,
  milliseconds: 5,
} as const;

it('shows a path from a stranger without what a terminal would obey', () => {
  const line = logLine({ ...request, path: '/\u009b31m\u001b]0;x\u0007ü' }, 'text', { time, notices });
  expect(line).toBe('1970-01-01T00:00:00.000Z r POST /\\u009b31m\\u001b]0;x\\u0007ü 200 5 ms');
});

it('is data that rules no terminal either', () => {
  const path = '/\u009b31m\u001b]0;x\u0007ü\u202e';
  const line = logLine({ ...request, path }, 'json', { time, notices });
  expect(line).toMatch(/^[^\p{Cc}\p{Cf}]+$/u);
  expect(JSON.parse(line).path).toBe(path);
});

it('says what was refused, and what was cut off', () => {
  const refused = {
    ...request,
    path: '/tts',
    status: 422,
    speaker: 3,
    characters: 9,
    refusal: 'invalid_field',
  };
  expect(logLine(refused, 'text', { time, notices })).toMatch(
    /POST \/tts 422 5 ms, speaker 3, 9 characters, invalid_field$/,
  );
  const left = { ...request, path: '/tts', status: undefined, cut: true };
  expect(logLine(left, 'text', { time, notices })).toMatch(/POST \/tts - 5 ms, cut off$/);
});

it('says how a callback ended', () => {
  const callback = { event: 'callback', id: 'r', origin: 'http://a.b', tries: 5 } as const;
  expect(logLine({ ...callback, delivered: true }, 'text', { time, notices })).toMatch(
    /to http:\/\/a\.b delivered \(tries: 5\)$/,
  );
  const failed = { ...callback, delivered: false, reason: 'status 500' };
  expect(logLine(failed, 'text', { time, notices })).toMatch(/given up: status 500 \(tries: 5\)$/);
});

it('gives programs one object a line, with the stack of a defect', () => {
  const line = logLine({ event: 'defect', id: 'r', error: new Error('oh') }, 'json', { time, notices });
  expect(JSON.parse(line)).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    event: 'defect',
    id: 'r',
    error: expect.stringMatching(/^Error: oh\n +at /),
  });
});

it('tells what an engine says in one line, without what a terminal would obey', () => {
  const line = logLine({ event: 'engine', id: 'r', reason: 'no\u001b[31m\nr\u00f6om' }, 'text', {
    time,
    notices,
  });
  expect(line).toBe('1970-01-01T00:00:00.000Z r engine failed: no\\u001b[31m\\u000ar\u00f6om');
});

it('tells the stack of a defect in lines, without what a terminal would obey', () => {
  const error = new Error('red \u001b[31m\u202e ink');
  const [first, second] = logLine({ event: 'defect', id: 'r', error }, 'text', { time, notices }).split('\n');
  expect(first).toMatch(/ r defect: Error: red \\u001b\[31m\\u202e ink$/);
  expect(second).toMatch(/^ +at /);
});
