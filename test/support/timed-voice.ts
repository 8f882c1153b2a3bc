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

/** @returns a function that has a built-in voice say a text, each text once, in one piece and with the times of its words */
export async function openTimedVoices(): Promise<(name: string, text: string) => TimedSound> {
  const flite = await Flite.start(await compileFlite());
  const resampler = await loadResampler();
  const said = new Map<string, TimedSound>();
  return (name, text) => {
    const key = `${name} ${text}`;
    const known = said.get(key);
    if (known) return known;
    const voice = FLITE_VOICES.find((each) => each.name === name);
    if (!voice) throw new Error(`no voice ${name}`);
    const how = { sampleRate: RATE, loudness: 1, pause: 0.35 };
    const speech = flite.speakTimed(fliteTask({ no: voice.no, style: PLAIN }, normalise(text), how));
    const delay = delayOf(speech);
    const words = speech.words.map((word) => ({ ...word, start: word.start + delay, end: word.end + delay }));
    const samples = finish(speech, how, resampler);
    const sound = { pieces: [samples], sampleRate: RATE, seconds: samples.length / RATE, words };
    said.set(key, sound);
    return sound;
  };
}
