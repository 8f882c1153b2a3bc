import { wellFormedStart } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import openapi from './openapi.json' with { type: 'json' };

/** The body of `POST /tts`. openapi.json describes it. */
export interface SpeechRequest {
  readonly text: string;
  readonly speaker_no: number;
  readonly config?: {
    readonly use_streaming_response?: boolean;
    readonly sample_rate?: number;
    readonly instructions?: string;
  };
  readonly callback_url?: string;
}

/** Says what is wrong with a value: the end of a sentence that begins with the field. */
type Check = (value: unknown) => string | undefined;

interface Fields {
  readonly [name: string]: Check | Fields;
}

const { required, properties } = openapi.components.schemas.SpeechRequest;
const { minimum, maximum } = properties.config.properties.sample_rate;

const FIELDS: Fields = {
  text: textLike(properties.text.pattern, 'must not be blank'),
  speaker_no: (value) =>
    typeof value === 'number' && Math.trunc(value) === value ? undefined : 'must be of the type integer',
  config: {
    use_streaming_response: ofType('boolean'),
    sample_rate: between(minimum, maximum),
    instructions: ofType('string'),
  },
  callback_url: textLike(
    properties.callback_url.pattern,
    'must be an http or https URL without spaces, user and password, or empty',
  ),
};

/** @throws Refusal 422 that names the field */
export function checkRequest(body: unknown): SpeechRequest {
  const unknown = unknownField(body, FIELDS);
  if (unknown !== undefined) {
    const field = wellFormedStart(unknown);
    throw new Refusal(422, 'unknown_field', `${field} is not a field of the request`, { field });
  }
  const field = isObject(body) ? required.find((name) => !Object.hasOwn(body, name)) : undefined;
  if (field !== undefined) throw new Refusal(422, 'missing_field', `${field} is missing`, { field });
  checkFields(body, FIELDS);
  return body as SpeechRequest;
}

function unknownField(value: unknown, fields: Fields, path = ''): string | undefined {
  if (!isObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (known === undefined) return path + name;
    const field = typeof known === 'function' ? undefined : unknownField(inner, known, `${path}${name}.`);
    if (field !== undefined) return field;
  }
  return undefined;
}

function checkFields(value: unknown, fields: Fields, path?: string): void {
  if (!isObject(value)) throw invalid(path, 'must be of the type object');
  for (const [name, check] of Object.entries(fields)) {
    if (!Object.hasOwn(value, name)) continue;
    const field = path === undefined ? name : `${path}.${name}`;
    if (typeof check !== 'function') checkFields(value[name], check, field);
    else {
      const wrong = check(value[name]);
      if (wrong !== undefined) throw invalid(field, wrong);
    }
  }
}

function invalid(field: string | undefined, wrong: string): Refusal {
  return new Refusal(422, 'invalid_field', `${field ?? 'The body'} ${wrong}`, { field });
}

function ofType(type: 'boolean' | 'number' | 'string'): Check {
  return (value) => (typeof value === type ? undefined : `must be of the type ${type}`);
}

function textLike(pattern: string, wrong: string): Check {
  const expression = new RegExp(pattern, 'u');
  return (value) => ofType('string')(value) ?? (expression.test(String(value)) ? undefined : wrong);
}

function between(least: number, most: number): Check {
  return (value) => {
    if (typeof value !== 'number') return ofType('number')(value);
    if (value < least) return `must be ${least} or more`;
    return value > most ? `must be ${most} or less` : undefined;
  };
}

/** All voices read these: espeak-ng spells foreign letters, but not foreign digits. */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** A voice does not speak the letters of a control sequence. */
const SEQUENCES = ['\u001b', '\u009b'];

const UNKNOWN = 'und';

/**
 * @param language the language of the voice
 * @returns false if only the engine knows
 */
export function surelySpeakable(text: string, language: string): boolean {
  if (language === UNKNOWN) return false;
  if (SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
