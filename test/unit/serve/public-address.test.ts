import { describe, expect, it } from 'vitest';
import { isClosedHost, publicLookup } from '../../../src/serve/callbacks.ts';

describe('isClosedHost', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:8.8.8.8]',
    '[::ffff:a00:1]',
    '[64:ff9b::a00:1]',
    '[2002:a00:1::]',
    '[2001:db8::1]',
    '[fe80::1]',
    '[fc00::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[::a00:1]',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
  ])('keeps %s closed', (host) => {
    expect(isClosedHost(host)).toBe(true);
  });

  it.each(['8.8.8.8', '172.32.0.1', '[2606:4700::1111]', 'example.com', 'localhost.example.com'])(
    'lets %s be looked at',
    (host) => {
      expect(isClosedHost(host)).toBe(false);
    },
  );
});

describe('publicLookup', () => {
  it.each([true, false])('finds nothing behind a name of this machine (all: %s)', async (all) => {
    const error = await new Promise((resolve) =>
      publicLookup('localhost', { all }, (failure) => resolve(failure)),
    );
    expect(error).toMatchObject({ name: 'ClosedAddress', message: 'localhost has no public address' });
  });
});
