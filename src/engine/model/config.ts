import { basename, isAbsolute, relative } from 'node:path';
import type { ModelSpeaker, Scales } from '../source.ts';
import type { Model } from './families.ts';

/** The examples of sherpa-onnx have this number. */
const STEPS = 5;

export interface ModelSettings {
  /** The folder from which paths count. */
  readonly cwd: string;
  readonly scales: Scales | undefined;
  readonly accent: ModelSpeaker['accent'];
}

/**
 * What sherpa-onnx is given when it loads a model. Paths are relative: espeak-ng reads no others on Windows if the name of the
 * user is not ASCII.
 */
export function configOf({ family, files }: Model, { cwd, scales, accent }: ModelSettings): object {
  const { settings: _ours, lexicon = '', ...named } = files;
  const lexicons = lexicon.split(',').filter((file) => isSpokenWith(accent, file));
  const paths = Object.entries(named).map(([key, file]) => [key, within(cwd, file)]);
  const lexiconPaths = lexicons.map((file) => within(cwd, file)).join(',');
  return {
    model: {
      [family]: { ...Object.fromEntries(paths), ...(lexiconPaths && { lexicon: lexiconPaths }), ...scales },
      numThreads: 2,
      provider: 'cpu',
      debug: false,
    },
    maxNumSentences: 1,
  };
}

/** What sherpa-onnx is given with each text. */
export function optionsOf({ sid, lang }: ModelSpeaker, speed: number): object {
  return { sid, speed, silenceScale: 0.2, numSteps: STEPS, ...(lang !== undefined && { extra: { lang } }) };
}

/** The first entry of a word counts, so that a model with two accents may read one lexicon only. */
function isSpokenWith(accent: ModelSpeaker['accent'], file: string): boolean {
  if (file === '') return false;
  const own = /^lexicon-(us|gb)(?:-|\.)/.exec(basename(file))?.[1];
  return accent === undefined || own === undefined || own === accent;
}

function within(folder: string, file: string): string {
  const path = relative(folder, file);
  return isAbsolute(path) || path.startsWith('..') ? file : path;
}
