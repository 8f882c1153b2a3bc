import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsEncodedSound, messageIn } from '../../../src/kit/http/answer.ts';

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
    [
      '{"title":"One or more validation errors occurred.","status":400,"errors":{"Text":["The Text field is required."]}}',
      'The Text field is required.',
    ],
    [
      '{"title":"Wrong","errors":{"$.speed":["It is no number."],"Voice":["No voice.","None."]}}',
      '$.speed: It is no number. No voice. None.',
    ],
    [
      '{"message":"The given data was invalid.","errors":{"text":["Is required."]}}',
      'The given data was invalid. text: Is required.',
    ],
    ['{"errors":{"text":["can\'t be blank"]}}', "text: can't be blank"],
    ['{"text":["This field may not be blank."]}', 'text: This field may not be blank.'],
    ['{"title":"Not Found","status":404}', 'Not Found'],
    ['{"err_code":"INVALID_AUTH","err_msg":"Wrong key.","request_id":"x"}', 'Wrong key. (INVALID_AUTH)'],
    ['{"error_message":"Forbidden","error_id":"NO_CREDITS"}', 'Forbidden (NO_CREDITS)'],
    [
      '{"error_code":"quota_exceeded","title":"Limit","message":"No credits."}',
      'No credits. (quota_exceeded)',
    ],
    ['{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}', 'insufficient balance'],
    ['{"fault":{"faultstring":"usage limit","detail":{"errorcode":"E0300"}}}', 'usage limit'],
    ['{"detail":{"error":"invalid","message":"No voice af_x"}}', 'No voice af_x'],
    ['{"errors":{}}', '{"errors":{}}'],
    ['Speaker 7\r\n  is unknown\n', 'Speaker 7 is unknown'],
    ['{"reason":"odd"}', '{"reason":"odd"}'],
    ['{"message":"a\\u001b[31mred\\u001b[0m\\u0007\\u202eb"}', 'a [31mred [0m b'],
    [
      '<html><head><title>502 Bad Gateway</title><style>a{}</style></head><body><h1>502 Bad Gateway</h1><hr>nginx &amp; co',
      '502 Bad Gateway nginx & co',
    ],
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

  it.each<[boolean, string]>([
    [true, `{"audioContent":"UklGR${'Ab+/9'.repeat(50)}`],
    [true, `{"data":{"audio":"${'49443304'.repeat(30)}","status":2}}`],
    [true, `{"audio":"data:audio/wav;base64,${'AAAA'.repeat(60)}"}`],
    [true, `data: {"type":"speech.audio.delta","audio":"${'AAAA'.repeat(60)}"}`],
    [false, `{"error":"${'no voice '.repeat(40)}"}`],
    [false, `{"url":"https://x.example/${'a'.repeat(300)}"}`],
    [false, `<p title="${'a'.repeat(300)}">`],
    [false, `{"id":"${'0a'.repeat(32)}"}`],
  ])('tells sound within JSON: %s for %s', (isSound, body) => {
    expect(holdsEncodedSound(Buffer.from(body))).toBe(isSound);
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
});
