import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { Refusal } from '../engine/contract.ts';
import { wellFormedStart } from '../exchange/json-body.ts';
import openapi from './openapi.json' with { type: 'json' };

/** The body of `POST /tts`, as the OpenAPI description in this folder has it. */
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

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
}

const schema = openapi.components.schemas.SpeechRequest;
const validator = new Validator(schema as Schema, '2020-12');

/** In characters, of a name that a client made up and a message quotes. */
const LONGEST_NAME = 80;

/** What breaks a pattern of the schema, said in words. */
const patternMessages: Readonly<Record<string, string>> = {
  text: 'must not be blank',
  callback_url: 'must be an http or https URL without spaces, user and password, or empty',
};

/** @throws Refusal 422 that names the field */
export function checkRequest(body: unknown): SpeechRequest {
  const unknown = unknownField(body, schema);
  if (unknown !== undefined) {
    const field = wellFormedStart(unknown, LONGEST_NAME);
    throw new Refusal(422, 'unknown_field', `${field} is not a field of the request`, { field });
  }
  // An error of a property is listed behind the note that its parent has one.
  const error = validator.validate(body).errors.find(({ keyword }) => keyword !== 'properties');
  if (error !== undefined) throw refusalOfField(error, body);
  return body as SpeechRequest;
}

/**
 * The first field that the schema does not know. The validator would collect all of them, which a body of 100,000
 * unknown names turns into a stack overflow, and it does not bear a name with half a surrogate pair.
 */
function unknownField(value: unknown, { properties }: ObjectSchema, path = ''): string | undefined {
  if (!isObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known === undefined) return path + name;
    const field = hasProperties(known) ? unknownField(inner, known, `${path}${name}.`) : undefined;
    if (field !== undefined) return field;
  }
  return undefined;
}

function refusalOfField({ keyword, keywordLocation, instanceLocation }: OutputUnit, body: unknown): Refusal {
  const rule = ruleAt(keywordLocation);
  if (keyword === 'required') {
    const field = (rule as string[]).find((name) => isObject(body) && !Object.hasOwn(body, name));
    return new Refusal(422, 'missing_field', `${field} is missing`, { field });
  }
  const field = instanceLocation.split('/').slice(1).join('.');
  const message = `${field || 'The body'} ${broken(keyword, rule, field)}`;
  return new Refusal(422, 'invalid_field', message, { field: field || undefined });
}

function broken(keyword: string, rule: unknown, field: string): string {
  if (keyword === 'type') return `must be of the type ${rule}`;
  if (keyword === 'minimum') return `must be ${rule} or more`;
  if (keyword === 'maximum') return `must be ${rule} or less`;
  return patternMessages[field] ?? `breaks the rule ${keyword} ${rule}`;
}

/** The value of a keyword, by its JSON pointer. */
function ruleAt(pointer: string): unknown {
  let place: unknown = schema;
  for (const step of pointer.split('/').slice(1)) place = (place as Record<string, unknown>)[step];
  return place;
}

function hasProperties(value: object): value is ObjectSchema {
  return 'properties' in value;
}

/**
 * What every voice of English reads, and what every other voice does: espeak-ng spells the letters that it does not know.
 * Numbers it does not read in each language.
 */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** What may begin a sequence for terminals, with which letters go that nobody reads. */
const SEQUENCES = ['\u001b', '\u009b'];

/**
 * Whether a voice will find something to speak in a text, as far as that can be known before it tries. Where this says
 * no, only the engine knows.
 *
 * @param language the voice's
 */
export function surelySpeakable(text: string, language: string): boolean {
  if (SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

function isObject(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
