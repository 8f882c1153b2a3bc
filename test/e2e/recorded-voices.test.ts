import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fakeEspeak } from '../support/fake-espeak.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const TEXT = `Dr. Smith's 3 cats paid $4.50 on 21 May, didn't they? "Yes", said one.

It was late. We saw the moon rise over the mountains while the wolves howled, and nobody spoke for a while; then it rained.`;

/** Each line writes one.wav. */
const recorded: readonly (readonly [line: string, sha256: string])[] = [
  ['tts hello -q -o one.wav', '66047b82141e9b7b'],
  ['tts hello -q --stream | cat > one.wav', 'c8905f5db1951a45'],
  ['tts hello -q -s 2 -r 48000 > one.wav', 'fbbf446ef1c525d1'],
  ['tts -f text.txt -q -s 5 --max-chars 60 | cat > one.wav', '1f9d29403a79a0f5'],
  ['tts -f text.txt -q -s 12 --instructions "slow, deep, whisper" -o one.wav', 'b261a8c2e377924f'],
  ['tts "hello there" -q -s 101 -o one.wav', 'bdc66c717d951540'],
  ['tts "hello there" --no-cache --engine server -r 22050 -o one.wav', 'c50d62d3c6182a68'],
  ['tts -f text.txt -q --engine program -r 8000 -o one.wav', 'ac5a1d428b7f289b'],
];

describe('the sound of the voices of this program stays the same', () => {
  it.each(recorded)('%s', async (line, before) => {
    const box = new Sandbox();
    box.file('text.txt', TEXT);
    box.file('good.wav', plainWav(sound(1_100_000), undefined, { ...speechFormat, channels: 2 }));
    box.file('espeak.wav', plainWav(sound(20_000)));
    fakeEspeak(box.commands, `cat '${box.path('espeak.wav')}'`);
    const wav = plainWav(sound(40_000));
    const server = await serveSpeech(line.includes('--stream') ? streamed(wav, 3333) : complete(wav));
    const program = { command: ['cat', box.path('good.wav')] };
    writeUserConfig(box, { engines: { server: { url: server.url }, program } });
    const run = await box.shell(line);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(createHash('sha256').update(box.read('one.wav')).digest('hex').slice(0, 16)).toBe(before);
  });
});
