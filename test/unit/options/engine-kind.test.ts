import { describe, expect, it } from 'vitest';
import { engine, engines, serverAddress } from '../../../src/options/engine-entry.ts';

const server = { url: 'http://127.0.0.1:8880/v1' };

describe('the address of a server', () => {
  it.each([
    ['http://127.0.0.1:8880', 'http://127.0.0.1:8880/v1', undefined],
    ['http://h/', 'http://h/v1', undefined],
    ['HTTPS://h/api/v1//', 'https://h/api/v1', undefined],
    ['http://anna:a%3Ab%25@h/v1', 'http://h/v1', 'anna:a:b%'],
    ['http://token@h', 'http://h/v1', 'token:'],
  ])('has a path and no password: %s', (text, href, login) => {
    expect(serverAddress(text)).toEqual({ url: new URL(href), ...(login && { login }) });
    expect(engine.text(text)).toBe(text);
  });

  it.each(['http://', 'http://[', 'http://h:99999', 'http://a b', 'http://h/v1?key=1', 'http://h/#x'])(
    'is not %s, which no engine is called either',
    (text) => {
      expect(serverAddress(text)).toBeUndefined();
      expect(engine.text(text)).toBeUndefined();
    },
  );
});

describe('the engines of a config', () => {
  it('are a server, a program or a model folder, in their order', () => {
    const said = {
      kokoro: { ...server, model: 'kokoro', key: 'k', voices: ['anna'], format: 'wav', concurrency: 2 },
      piper: { command: ['piper', '-m', 'a b.onnx'], output: 's16le', sampleRate: 22_050, maxChars: 200 },
      'mine-1.0': { model: '~/voices/mine' },
    };
    expect([...(engines.data(said) ?? [])]).toEqual(Object.entries(said));
  });

  it('have a command as words, also where it is one line', () => {
    expect(engines.data({ x: { command: 'espeak-ng --stdout' } })?.get('x')).toEqual({
      command: ['espeak-ng', '--stdout'],
    });
  });

  it.each<[object, string]>([
    [{ 'a b': server }, '"a b" cannot be the name of an engine'],
    [{ 'a:b': server }, '"a:b" cannot be the name of an engine'],
    [{ x: 'http://127.0.0.1' }, '"x": it is not an object'],
    [{ x: { commandd: 'x' } }, '"x": unknown key "commandd"'],
    [{ x: { voices: ['a'] } }, '"x": "url", "command" or "model" is missing'],
    [{ x: { ...server, command: 'x' } }, '"x": "url" and "command" are given together'],
    [{ x: { command: 'x', output: 's16le' } }, '"x": "sampleRate" is missing'],
    [{ x: { ...server, format: 'pcm' } }, '"x": "sampleRate" is missing'],
    [{ x: { url: 'ftp://x' } }, '"x": "ftp://x" is not allowed for "url"; expected '],
    [{ x: { ...server, format: 'mp3' } }, '"x": "mp3" is not allowed for "format"; expected '],
    [{ x: { command: [] } }, '"x": a list is not allowed for "command"; expected '],
    [{ x: { command: 'x', output: 'mp3' } }, '"x": "mp3" is not allowed for "output"; expected '],
    [{ x: { ...server, maxChars: 0 } }, '"x": 0 is not allowed for "maxChars"; expected '],
    [{ x: { ...server, concurrency: 65 } }, '"x": 65 is not allowed for "concurrency"; expected '],
    [{ x: { ...server, concurrency: 1.5 } }, '"x": 1.5 is not allowed for "concurrency"; expected '],
    [{ x: { ...server, voices: 'anna' } }, '"x": "anna" is not allowed for "voices"; expected '],
    [{ x: { ...server, voices: [7] } }, '"x": a list is not allowed for "voices"; expected '],
  ])('are refused in words: %j', (said, what) => {
    const fault = engines.fault?.(said);
    expect(fault?.what.slice(0, what.length)).toBe(what);
    expect(fault?.hint).toMatch(/./);
    expect(engines.data(said)).toBeUndefined();
  });

  it('do not show a key that is refused', () => {
    const fault = engines.fault?.({ x: { ...server, key: ['5up3r53cr37'] } });
    expect(fault?.what).toContain('the value is not allowed for "key"');
    expect(JSON.stringify(fault)).not.toContain('5up3r53cr37');
  });

  it('cannot be given as text', () => {
    expect(engines.text('{}')).toBeUndefined();
    expect(engines.data(['x'])).toBeUndefined();
  });
});
