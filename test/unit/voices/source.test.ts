import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { ConcurrencyLimiter } from '../../../src/kit/limit.ts';
import type { VoiceEvent } from '../../../src/sound/voice.ts';
import { resilient } from '../../../src/voices/resilient.ts';
import { openEngineVoices } from '../../../src/voices/user-engines.ts';
import { NO_FIELDS, speakerThat, utteranceOf } from '../../support/speaker.ts';
import { collect } from '../sound/body.ts';
import { sound, speechFormat } from '../sound/wav-builder.ts';
import { speechOf } from './segment-sound.ts';

const { signal } = new AbortController();
const SOUND = sound(8000);
const torn = new TtsError('torn', { exitCode: ExitCode.connection, retry: { after: 0 } });

/** An answer that breaks off. */
async function* breaking(pcm: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* speechOf(pcm).pcm;
  throw torn;
}

/** What is heard of a voice that breaks off first, and then answers so. */
async function heardAfterBreak(answer: ReturnType<typeof speechOf> | undefined) {
  const answers = [{ ...speechOf(SOUND), pcm: breaking(SOUND.subarray(0, 2500)) }, answer];
  const speaker = speakerThat(async () => answers.shift());
  const how = { limiter: new ConcurrencyLimiter(1), retries: 1, checksum: async () => crc32 };
  const source = resilient(speaker.voice.source, how);
  const events: VoiceEvent[] = [];
  const speech = await source.speak(utteranceOf(speaker, 'hello', 0, events), signal);
  const pcm = speech && (await collect(speech.pcm));
  return { pcm, isOneTake: speech?.isOneTake?.(), told: events.map(({ type }) => type) };
}

it('Sound that breaks off goes on at the same frame.', async () => {
  const expected = { pcm: SOUND, isOneTake: true, told: ['retry'] };
  expect(await heardAfterBreak(speechOf(SOUND))).toEqual(expected);
});

it('Sound that goes on with another take is told, so that it is not kept.', async () => {
  const { pcm, isOneTake, told } = await heardAfterBreak(speechOf(sound(8000, 2)));
  expect(pcm).toEqual(Buffer.concat([SOUND.subarray(0, 2500), sound(8000, 2).subarray(2500)]));
  expect([isOneTake, told]).toEqual([false, ['retry', 'other take']]);
});

it.each([
  ['is shorter', speechOf(SOUND.subarray(0, 2000)), 'sent less audio than before'],
  [
    'has another format',
    speechOf(SOUND, { format: { ...speechFormat, channels: 2 } }),
    'audio in another format',
  ],
  ['goes elsewhere', undefined, 'on retry it sends the audio elsewhere'],
])('Sound that breaks off fails where the next answer %s.', async (_, answer, message) => {
  await expect(heardAfterBreak(answer)).rejects.toThrow(message);
});

it('Nothing is sent behind a text that is above the rate before it is sent again.', async () => {
  const sent: string[] = [];
  const tooFast = new TtsError('too fast', { exitCode: ExitCode.quota, retry: { busy: true } });
  const speaker = speakerThat(async ({ text }) => {
    sent.push(text);
    if (sent.length === 1) throw tooFast;
    return speechOf(SOUND);
  });
  const how = { limiter: new ConcurrencyLimiter(1), retries: 1, checksum: async () => crc32 };
  const source = resilient(speaker.voice.source, how);
  const say = async (text: string, index: number) => {
    const speech = await source.speak(utteranceOf(speaker, text, index), signal);
    return speech && collect(speech.pcm);
  };
  await Promise.all([say('one', 0), say('two', 1), say('three', 2)]);
  expect(sent).toEqual(['one', 'one', 'two', 'three']);
});

it('An engine is not late with one text while it speaks another.', async () => {
  const voices = [{ name: 'anna', language: 'und', sampleRate: speechFormat.sampleRate }];
  const external = {
    ...{
      name: 'mine',
      identityOf: () => 'mine',
      voices,
      maxChars: 300,
      concurrency: 1,
    },
    async speak() {
      async function* slowly() {
        for (let piece = 0; piece < 6; piece += 1) {
          await sleep(150);
          yield new Int16Array(speechFormat.sampleRate / 2).fill(1);
        }
      }
      return { sampleRate: speechFormat.sampleRate, samples: slowly() };
    },
    async [Symbol.asyncDispose]() {},
  };
  const origin = { place: 'option', name: '' } as const;
  const settings = { concurrency: { value: 4, origin }, timeout: { value: 0.6, origin } };
  const [voice] = openEngineVoices(external, {
    wrap: (source) => source,
    settings,
    numberOf: () => 1001,
  }).voices();
  if (!voice) throw new Error('no voice');
  onTestFinished(() => voice.source.close());
  const say = (text: string) => voice.source.speak(utteranceOf({ voice, fields: NO_FIELDS }, text), signal);
  const both = await Promise.all([say('Hello.'), say('And you.')]);
  expect(both.map((speech) => speech?.bytes)).toEqual(Array(2).fill(3 * speechFormat.sampleRate * 2));
});
