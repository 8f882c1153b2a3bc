import { describe, expect, it } from 'vitest';
import { isExcepted, isLoopback, isNearby } from '../../../src/kit/address.ts';

const host = (url: string) => new URL(`http://${url}`).hostname;

describe('an address', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.255.0.9',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '2130706433',
    '0x7f.1',
  ])('of this machine is loopback: %s', (name) => {
    expect(isLoopback(host(name))).toBe(true);
    expect(isNearby(host(name))).toBe(true);
  });

  it.each([
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.1.1',
    '[fd12::1]',
    '[fc00::1]',
    '[fe80::1]',
    'printer',
    'localhost.',
    'a.localhost',
    'nas.local',
    'NAS.LOCAL',
  ])('of the own network is near, but not this machine: %s', (name) => {
    expect(isLoopback(host(name))).toBe(false);
    expect(isNearby(host(name))).toBe(true);
  });

  it.each([
    'example.com',
    'localhost.example.com',
    'notlocalhost.com',
    'local.example',
    'mylocal.com',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '192.169.0.1',
    '128.0.0.1',
    '0.0.0.0',
    '[2001:db8::1]',
    '127.0.0.1.example.com',
  ])('of anybody else is far: %s', (name) => {
    expect(isLoopback(host(name))).toBe(false);
    expect(isNearby(host(name))).toBe(false);
  });
});

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
