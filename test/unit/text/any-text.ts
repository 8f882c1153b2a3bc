import fc from 'fast-check';

/** What text is made of, with everything in it that makes cutting hard. */
const bits = fc.constantFrom(
  ...'Hello|the|world|Dr. Smith|e.g.|U.S.|3.14|J. R. R. Tolkien|No. 5|Well...|a'.split('|'),
  ...['Straße', 'Привет', 'мир', '你好', '世界', 'नमस्ते', 'क्षि', 'مرحبا', 'สวัสดี', '한국어', 'שלום'],
  ...['👩‍👩‍👧‍👦', '🇩🇪🇫🇷', '👍🏽', '❤️', 'e\u0301\u0323', 'a\u200d', '\u0301', '🏽', ' \u0301', '1️⃣', '😀'],
  ...'. |! |? |… |。|।|؟ |, |; |: |—|" | "|“|”|(|) |「|」|[1]'.split('|'),
  ...[' ', ' ', ' ', '  ', '\t', '\u00a0', '\n', '\n', '\n\n', '\n \t\n', '\n- ', '\n1. ', '\n\n* * *\n\n'],
);

/** Text in several scripts, or any code points at all. */
export const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.array(bits, { maxLength: 120, size: 'max' }).map((all) => all.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 200 }) },
);
