import { expect, it } from 'vitest';
import { isExcepted } from '../../../src/kit/address.ts';

it.each([
  ['http://a.example', '', false],
  ['http://a.example', '*', true],
  ['http://a.example', 'x, *', true],
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
  ['http://[::1]:9', 'localhost,::1', true],
  ['http://[::1]:9', '[::1]', true],
  ['http://[::1]:9', '0:0:0:0:0:0:0:1', true],
  ['http://[::1]:9', '[::1]:9', true],
  ['http://[::1]:9', '[::1]:8', false],
  ['http://[::1]', '::2', false],
  ['http://10.1.2.3', '10.0.0.0/8', true],
  ['http://11.1.2.3', '10.0.0.0/8', false],
  ['http://[fd00::1]', 'fc00::/7', true],
  ['http://[fd00::1]', '10.0.0.0/8', false],
  ['http://10.1.2.3', '10.0.0.0/33', false],
  ['http://10.1.2.3', '10.0.0.0/x', false],
  ['http://a.example', 'a.example/8', false],
])('reaches %s directly with NO_PROXY="%s": %s', (url, except, expected) => {
  expect(isExcepted(new URL(url), except)).toBe(expected);
});
