import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

describe('an input without end that can only be read whole is refused after a while:', () => {
  it.each([
    [
      'a text for a callback',
      'yes Hello. | tts --callback-url https://example.com/done',
      /the text is longer than/,
    ],
    ['a Markdown document', 'yes Hello. | tts --format markdown -o out.wav', /the Markdown is longer than/],
    ['a lexicon', 'yes "a = b" | tts hi --lexicon /dev/stdin -o out.wav', /\/dev\/stdin is longer than/],
    [
      'a config file',
      'yes "speaker: 3" | tts hi --config /dev/stdin -o out.wav',
      /\/dev\/stdin is longer than/,
    ],
  ])('%s', async (_, line, message) => {
    const server = await serveBytes(complete(wav));
    expectFailure(await new Sandbox().shell(line, { env: named(server.url) }), 2, message);
    expect(server.requests).toHaveLength(0);
  });
});

it('A config file of a mebibyte is read, and a longer one is not.', async () => {
  const server = await serveBytes(complete(wav));
  const box = new Sandbox();
  const comment = `#${' '.repeat(1022)}\n`.repeat(1023);
  const env = named(server.url);
  box.file('.ttsrc', `${comment}instructions: slowly\n`);
  expect(await box.tts(['hi', '-o', 'out.wav'], { env })).toMatchObject({ status: 0 });
  expect(server.requests[0]?.json).toMatchObject({ config: { instructions: 'slowly' } });
  box.file('.ttsrc', `${comment.repeat(2)}instructions: slowly\n`);
  expectFailure(await box.tts(['hi', '-o', 'out.wav'], { env }), 2, /\.ttsrc is longer than 1048576 bytes/);
});
