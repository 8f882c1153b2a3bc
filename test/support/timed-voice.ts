import { delayOf, finish } from '../../src/engines/finish.ts';
import { Flite } from '../../src/engines/flite.ts';
import { compileFlite } from '../../src/engines/flite-program.ts';
import { FLITE_VOICES, fliteTask } from '../../src/engines/flite-voices.ts';
import { normalise } from '../../src/engines/normalise.ts';
import { loadResampler } from '../../src/sound/convert.ts';
import type { TimedSound } from '../../src/voices/timed-words.ts';
import { PLAIN } from './engine.ts';

/** Hz. */
export const RATE = 22_050;

/**
 * @returns a function that has a built-in voice say a text, with the times of its words. Each sentence is said once, and a
 * text is the sound of its sentences.
 */
export async function openTimedVoices(): Promise<(name: string, text: string) => TimedSound> {
  const flite = await Flite.start(await compileFlite());
  const resampler = await loadResampler();
  const said = new Map<string, TimedSound>();
  const once = (name: string, text: string, say: () => TimedSound) => {
    const key = `${name} ${text}`;
    const sound = said.get(key) ?? say();
    said.set(key, sound);
    return sound;
  };
  const sentenceOf = (name: string, text: string): TimedSound => {
    const voice = FLITE_VOICES.find((each) => each.name === name);
    if (!voice) throw new Error(`no voice ${name}`);
    const how = { sampleRate: RATE, loudness: 1, pause: 0.35 };
    const speech = flite.speakTimed(fliteTask({ no: voice.no, style: PLAIN }, normalise(text), how));
    const words = shifted(speech.words, delayOf(speech));
    const samples = finish(speech, how, resampler);
    return { pieces: [samples], sampleRate: RATE, seconds: samples.length / RATE, words };
  };
  return (name, text) =>
    once(name, text, () => {
      const sentences = text
        .split(/(?<=[.?]) /)
        .map((each) => once(name, each, () => sentenceOf(name, each)));
      let seconds = 0;
      const words = sentences.flatMap((each) => {
        const start = seconds;
        seconds += each.seconds;
        return shifted(each.words, start);
      });
      return { pieces: sentences.flatMap(({ pieces }) => pieces), sampleRate: RATE, seconds, words };
    });
}

function shifted(words: TimedSound['words'], seconds: number): TimedSound['words'] {
  return words.map((word) => ({ ...word, start: word.start + seconds, end: word.end + seconds }));
}
