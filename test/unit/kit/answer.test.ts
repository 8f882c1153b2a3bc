import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageIn } from '../../../src/kit/http/answer.ts';
import { withinSeconds } from '../../support/clock.ts';

const said = (text: string) => messageIn(Buffer.from(text));

describe('messageIn', () => {
  it.each([
    ['{"error":{"code":"quota","message":"No credit"}}', 'No credit (quota)'],
    ['{"error":{"code":429,"message":"Slow down"}}', 'Slow down'],
    ['{"errors":[{"message":"One"},{"message":"Two"}]}', 'One; Two'],
    ['"just a string"', 'just a string'],
    ['{"message":""}', '{"message":""}'],
    ['{}', '{}'],
    ['null', 'null'],
    ['{"detail":[{"loc":["body","text"],"msg":"field required"}]}', 'body.text: field required'],
    ['{"detail":[{"loc":[],"msg":"field required"}]}', 'field required'],
    ['{"message":"cut of', '{"message":"cut of'],
    ['<h1>Unauthorized</h1>', 'Unauthorized'],
    ['<!-- made by x --><p>x &lt; y &#38; &#x41;&#39;s&#1234567; &#38;lt;</p>', "x < y & A's &lt;"],
    ['<html><title>Oops</title><script>alert(1)</script></html>', 'Oops'],
    ['', ''],
  ])('reads %s', (body, expected) => {
    expect(said(body)).toBe(expected);
  });

  it.each([
    [
      'text/plain; charset=ISO-8859-1',
      'Cr\u00e9dit \u00e9puis\u00e9',
      Buffer.from('Cr\u00e9dit \u00e9puis\u00e9', 'latin1'),
    ],
    [
      'application/json;charset="gb2312"',
      '\u4f59\u989d',
      Buffer.from('{"message":"\xd3\xe0\xb6\xee"}', 'latin1'),
    ],
    ['text/plain; charset=klingon', 'no', Buffer.from('no')],
    ['text/plain', 'd\u00e9j\u00e0', Buffer.from('d\u00e9j\u00e0')],
  ])('reads the encoding that is named: %s', (contentType, expected, body) => {
    expect(messageIn(body, { contentType })).toBe(expected);
  });

  it('is one short line without control characters, whatever came', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 2000 }),
          fc.json().map((json) => Buffer.from(json)),
        ),
        (body) => {
          const text = messageIn(body);
          expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          expect(Array.from(text).length).toBeLessThanOrEqual(500);
          expect(text).toBe(text.trim());
        },
      ),
    );
  });

  it('takes no longer than it should for text that pretends to be HTML', () =>
    withinSeconds(5, () => {
      for (const evil of ['<script', '<', '<style>', '<html ']) said(evil.repeat(16_000 / evil.length));
    }));
});
