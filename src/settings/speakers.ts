import { isObject } from '../is-object.ts';
import { book } from './book.ts';
import { type Fault, type Kind, number, sampleRate, speaker, words } from './kind.ts';
import { keyHint } from './nearest.ts';
import { quoted } from './quoted.ts';

/** A speaker that a config file gives a name, with what holds for it unless an option or a variable says otherwise. */
export interface NamedSpeaker {
  readonly no: number;
  /** What the service calls the kind: `neo.one`, `Mermish`, or another. */
  readonly kind?: string;
  /** BCP 47. */
  readonly language?: string;
  /** Hz. */
  readonly sampleRate?: number;
  readonly instructions?: string;
}

const fields: { readonly [F in keyof Required<NamedSpeaker>]: Kind<unknown> } = {
  no: number({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
  kind: words,
  language: words,
  sampleRate,
  instructions: words,
};

const EXAMPLE = 'as in "speakers": { "anna": 181, "deep": { "no": 1190, "kind": "neo.one" } }';

/** Names for speakers: each stands for a number, or for an object with `no` and more. */
export const speakers = book<NamedSpeaker>({
  allowed: 'an object of names with their numbers',
  faultIn,
  read: (name, said) => [name, typeof said === 'number' ? { no: said } : (said as NamedSpeaker)],
});

function faultIn(data: object): Fault | undefined {
  for (const [name, said] of Object.entries(data)) {
    if (speaker.text(name) !== name)
      return {
        what: `${quoted(name)} cannot be the name of a speaker`,
        hint: 'a name begins with a letter',
      };
    const fault = isObject(said) ? faultOf(said) : faultOf({ no: said });
    if (fault) return { what: `${quoted(name)}: ${fault.what}`, hint: fault.hint };
  }
  return undefined;
}

/** What is wrong with what is said of one speaker. */
function faultOf(said: object): Fault | undefined {
  if (!Object.hasOwn(said, 'no'))
    return { what: '"no", the number of the speaker, is missing', hint: EXAMPLE };
  for (const [field, value] of Object.entries(said)) {
    const kind = Object.hasOwn(fields, field) ? fields[field as keyof NamedSpeaker] : undefined;
    if (!kind) return unknownField(field);
    if (kind.data(value) === undefined)
      return {
        what: `${quoted(value)} is not allowed for ${quoted(field)}; expected ${kind.allowed}`,
        hint: EXAMPLE,
      };
  }
  return undefined;
}

function unknownField(field: string): Fault {
  return { what: `unknown key ${quoted(field)}`, hint: keyHint(field, Object.keys(fields)) };
}
