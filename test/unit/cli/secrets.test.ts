import { describe, expect, it } from 'vitest';
import { Secrets } from '../../../src/cli/notices.ts';

function hiding(...secrets: readonly string[]): Secrets {
  const hidden = new Secrets();
  for (const secret of secrets) hidden.hide(secret);
  return hidden;
}

describe('a secret', () => {
  it('is replaced where JSON has escaped slashes', () => {
    expect(hiding('ab/cd/ef').redact('{"info":"key ab\\/cd\\/ef"}')).toBe('{"info":"key ***"}');
  });

  it('is replaced wherever it stands, also as part of a URL or of JSON', () => {
    const secrets = hiding('s3c/ret"');
    const text = 'a s3c/ret" b%20s3c%2Fret%22 s3c%2fret%22 {"key":"s3c/ret\\""}xs3c/ret"x';
    expect(secrets.redact(text)).toBe('a *** b%20*** *** {"key":"***"}x***x');
  });

  it('may have any length, and any characters that mean something in a pattern', () => {
    const long = `(${'x'.repeat(100_000)}`;
    expect(hiding(long).redact(`the key ${long} is long`)).toBe('the key *** is long');
    expect(hiding('$&.*+?()[]{}|\\^').redact('a$&.*+?()[]{}|\\^b')).toBe('a***b');
  });

  it('is hidden where only its beginning is left', () => {
    const secrets = hiding('abcdefgh');
    expect(secrets.redact('no abcdef… and abcd…')).toBe('no ***… and ***…');
    expect(secrets.redact('no abc… and abcdef')).toBe('no abc… and abcdef');
  });

  it('that begins with another one is hidden whole', () => {
    expect(hiding('secretkey', 'secretkey-9f8e7d').redact('bad key secretkey-9f8e7d')).toBe('bad key ***');
  });

  it('that is a short word leaves the words around it', () => {
    expect(hiding('none').redact('there is no network')).toBe('there is no network');
  });

  it('of up to three characters is hidden where it stands alone', () => {
    expect(hiding('a$').redact('a$ ba$ a$. ba$c')).toBe('*** ba$ ***. ba$c');
  });

  it('leaves JSON that can be parsed', () => {
    const line = hiding('a"b"c"d"e').inJson({ text: 'say a"b"c"d"e', list: ['a"b"c"d"e'] });
    expect(JSON.parse(line)).toEqual({ text: 'say ***', list: ['***'] });
  });

  it('leaves names that the user gave', () => {
    const name = 'word-for-word.wav';
    const line = hiding('word', 'word-for-word').inJson({ output: name, rows: [{ id: name, out: name }] });
    expect(JSON.parse(line)).toEqual({ output: name, rows: [{ id: name, out: name }] });
  });

  it.each(['row', 'a-secret-of-twenty-one'])('is hidden as fast beside the names of many rows: %s', (row) => {
    const secrets = hiding('a-secret-of-twenty-one');
    const start = process.cpuUsage();
    for (let at = 0; at < 30_000; at += 1) {
      secrets.spare(`the name of the ${row} in the table ${at}`);
      secrets.redact('the row has no text, and the next one in the table has none');
    }
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(2);
  });

  it('leaves a name that the user gave in every text, and is hidden next to it', () => {
    const secrets = hiding('word', 'long-enough');
    for (const name of ['by/word.wav', 'long-enough.srt', 'word', 'ong']) secrets.spare(name);
    expect(secrets.redact('word: by/word.wav, long-enough.srt and long-enough')).toBe(
      '***: by/word.wav, long-enough.srt and ***',
    );
    expect(secrets.redactOwn('long-enough.srt of long-enough')).toBe('long-enough.srt of ***');
    secrets.spare('a/long-enough.srt');
    expect(secrets.redact('a/long-enough.srt')).toBe('a/long-enough.srt');
  });

  it('that may be a word is hidden in quotes of others only', () => {
    const secrets = hiding('word', 'w');
    const said = { name: 'word', details: ['the key word', { reason: 'w' }], error: { message: 'word' } };
    expect(JSON.parse(secrets.inJson(said))).toEqual({
      name: 'word',
      details: ['the key ***', { reason: '***' }],
      error: { message: '***' },
    });
    expect([secrets.redactOwn('word'), secrets.redact('word')]).toEqual(['word', '***']);
    expect(secrets.redactOwn('https://me:word@example.com')).toBe('https://me:***@example.com');
  });
});
