import { describe, expect, it } from 'vitest';
import { buildWorker, digest, samplesOf, speak, startEngine } from '../../support/engine.ts';

const engine = await startEngine({ worker: await buildWorker(), workers: 1, maxQueue: 50 });
const NORMAL = 'This is a normal sentence.';
const normal = digest(await samplesOf(engine, { text: NORMAL }));

/** Seconds of speech, which is left once there is enough of it. */
async function secondsUpTo(enough: number, text: string): Promise<number> {
  let seconds = 0;
  for await (const { length } of speak(engine, { text })) {
    seconds += length / 22_050;
    if (seconds > enough) break;
  }
  return seconds;
}

/** What text can be. Where there is nothing to speak, that is said; the rest is spoken for the seconds given, at least. */
const HOSTILE: readonly (readonly [name: string, text: string, seconds: number | 'refused'])[] = [
  ['nothing', '', 'refused'],
  ['blanks', '    \t ', 'refused'],
  ['line breaks', '\n\r\n\n\u2028\u0085', 'refused'],
  ['only an emoji', '😀', 'refused'],
  ['emoji among words', 'I ❤️ you 👨‍👩‍👧 so 🇩🇪 much', 0.5],
  ['Chinese', '你好，世界。', 'refused'],
  ['scripts mixed', 'Hello 你好 привет world', 0.5],
  ['control characters', 'a\u0000b \u0007bell \u001b[31mred\u001b[0m \u200bzero\u200d width\ufeff', 0.5],
  ['lone surrogates', 'before \ud83d after \udc00', 0.5],
  ['accents', 'naïve café Zürich Łódź Čeština', 1],
  ['Cyrillic', 'Съешь же ещё этих мягких булок', 'refused'],
  ['Arabic', 'مرحبا بالعالم', 'refused'],
  ['40 digits', '1234567890'.repeat(4), 8],
  ['only punctuation', '?!... --- ((())) ***', 'refused'],
  ['mark-up', '<speak>Hi <break time="2s"/> &amp; bye</speak>', 0.5],
  ['a word of 5,000 letters', 'a'.repeat(5_000), 10],
  ['what looks like an option', '-o evil.wav', 0.5],
  ['what looks like a file', '/etc/passwd', 0.5],
  ['a sentence of 600 words', `${Array.from({ length: 600 }, () => 'word').join(' ')}.`, 30],
  ['an address', 'https://example.com/a/b?c=d&e=%20#f', 1],
  ['formats', '%s %n %d {0} $x $(x) `x`', 0.1],
  ['4,000 words without punctuation', Array.from({ length: 4_000 }, () => 'so').join(' '), 30],
];

describe('hostile text', () => {
  it.each(HOSTILE)('%s is survived, and the next sentence is as always', async (_name, text, seconds) => {
    const spoken = secondsUpTo(seconds === 'refused' ? 0 : seconds, text);
    if (seconds === 'refused') {
      await expect(spoken).rejects.toMatchObject({ name: 'EngineError', kind: 'unsupported text' });
    } else {
      expect(await spoken).toBeGreaterThan(seconds);
    }
    expect(digest(await samplesOf(engine, { text: NORMAL }))).toBe(normal);
  });
});

/** Texts of which 400 characters are spoken for more than a minute. */
const SLOW: readonly (readonly [name: string, text: string])[] = [
  ['numbers', '1234567890123 '.repeat(40)],
  ['years', '1984 '.repeat(60)],
  ['one number', '9'.repeat(600)],
  ['one letter', 'b'.repeat(600)],
  ['the longest letter', 'w'.repeat(300)],
  ['letters', 'xq kzt vbnmd '.repeat(30)],
  ['signs', `a${'&*#_ '.repeat(90)}`],
  ['hexadecimal', 'd41d8cd98f00b204e9800998ecf8427e'.repeat(15)],
  ['Base64', 'IpAW2KelWh7CDg8P6tyhPWfm+JF2R8y3cGkjhS37'.repeat(12)],
  ['addresses', 'https://www.example.com/path/1?q=31&lang=en%20x '.repeat(10)],
  ['hyphens', 'x-y-z-'.repeat(80)],
];

describe('a text that is long when it is read out', () => {
  it.each(SLOW)('of %s is spoken in parts that keep no worker for long', async (_name, text) => {
    const seconds: number[] = [];
    for await (const { length } of speak(engine, { text })) {
      seconds.push(length / 22_050);
      if (seconds.length === 3) break;
    }
    expect(seconds).toHaveLength(3);
    expect(Math.max(...seconds)).toBeLessThan(25);
  });
});
