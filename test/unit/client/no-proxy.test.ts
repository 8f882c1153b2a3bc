import { expect, it } from 'vitest';
import { isExcepted } from '../../../src/client/no-proxy.ts';

it.each([
  ['http://a.example', '', false],
  ['http://a.example', '*', true],
  ['http://a.example', 'a.example', true],
  ['http://b.a.example', 'x, a.example', true],
  ['http://b.a.example', '.a.example', true],
  ['http://b.a.example', '*.A.example', true],
  ['http://ba.example', 'a.example', false],
  ['http://a.example:8080', 'a.example:8080', true],
  ['http://a.example:8080', 'a.example:80', false],
  ['https://a.example', 'a.example:443', true],
  ['http://a.example', 'a.example:443', false],
  ['http://127.0.0.1:9', 'localhost 127.0.0.1', true],
])('reaches %s directly with NO_PROXY="%s": %s', (url, except, expected) => {
  expect(isExcepted(new URL(url), except)).toBe(expected);
});
