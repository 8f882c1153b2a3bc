import { describe, expect, it } from 'vitest';
import { Secrets } from '../../../src/cli/notices.ts';
import { withinSeconds } from '../../support/clock.ts';

function hiding(...secrets: readonly string[]): Secrets {
  const hidden = new Secrets();
  for (const secret of secrets) hidden.add(secret);
  return hidden;
}

describe('a secret', () => {
  it('is replaced where PHP writes its slashes', () => {
    expect(hiding('ab/cd/ef').redact('{"info":"key ab\\/cd\\/ef"}')).toBe('{"info":"key ***"}');
  });

  it('is replaced where HTML writes its signs', () => {
    const text = 'a&amp;b&lt;c&quot;d&#39;e a&amp;b&lt;c&quot;d&#x27;e a&amp;b&lt;c&#34;d&#39;e';
    expect(hiding(`a&b<c"d'e`).redact(text)).toBe('*** *** ***');
  });

  it('is replaced wherever it stands, also as part of a URL or of JSON', () => {
    const secrets = hiding('s3c/ret"');
    const text = 'a s3c/ret" b%20s3c%2Fret%22 {"key":"s3c/ret\\""}xs3c/ret"x';
    expect(secrets.redact(text)).toBe('a *** b%20*** {"key":"***"}x***x');
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

  it.each([
    ['with characters in it that do not show', 'key s3c\u200br3t\u0007-k3y!'],
    ['with spaces in their place', 'key s3c r3t -k3y!'],
    ['with a percent-encoded character that does not show', 'key s3c%E2%80%8Br3t%00-k3%0Ay!'],
    ['with a JSON escape of one', 'key s3c\\u200br3t-k3y!'],
    ['percent-encoded twice', 'key s%2533cr3t-k3y!'],
    ['with marks and fillers that do not show', 'key s3c\u034fr3\ufe0ft-\u3164k3y!'],
    ['with a colour sequence in it', 'key s3c\u001b[0mr3t-k3y!'],
    ['with the rest of one', 'key s3c [1;31mr3t-k3y!'],
    ['percent-encoded in part', 'key s%33cr3t%2Dk3y!'],
    [
      'percent-encoded as a whole',
      `key ${'s3cr3t-k3y'.replace(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}!`,
    ],
  ])('is replaced %s', (_, text) => {
    expect(hiding('s3cr3t-k3y').redact(text)).toBe('key ***!');
  });

  it('is looked for in linear time, whatever the text repeats', () =>
    withinSeconds(20, () => {
      const secrets = hiding('s3cr3t-k3y');
      for (const unit of ['%25', '%2525', '\\u', '[0;', '[;;;;', '%e2%80', '\u200b', 's3cr3t-'])
        expect(secrets.redact(unit.repeat(100_000))).not.toContain('***');
    }));

  it('that is a short word leaves the words around it', () => {
    expect(hiding('none').redact('there is no network')).toBe('there is no network');
  });

  it('of up to three characters is hidden where it stands alone', () => {
    expect(hiding('a$').redact('a$ ba$ a$. ba$c')).toBe('*** ba$ ***. ba$c');
  });

  it('stands in JSON that rules no terminal and turns no direction of writing', () => {
    const texts = [
      '\u001b\u007f\u0080\u009b\u009f',
      '\u200e\u200f\u202a\u202e\u2066\u2069',
      '你 é 👩\u200d👩',
    ];
    const line = new Secrets().inJson({ texts });
    expect(line).toMatch(/^[^\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+$/u);
    expect(line).toContain('你 é 👩\u200d👩');
    expect(JSON.parse(line)).toEqual({ texts });
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

  it('leaves a name that the user gave in every text, and is hidden next to it', () => {
    const secrets = hiding('word', 'long-enough');
    for (const name of ['by/word.wav', 'long-enough.srt', 'word', 'ong']) secrets.spare(name);
    expect(secrets.redact('word: by/word.wav, long-enough.srt and long-enough')).toBe(
      '***: by/word.wav, long-enough.srt and ***',
    );
    expect(secrets.redactOwn('long-enough.srt of long-enough')).toBe('long-enough.srt of ***');
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
