import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { Refusal } from '../../engine/contract.ts';
import { wellFormedStart } from '../exchange/json-body.ts';
import openapi from './openapi.json' with { type: 'json' };

/** As in openapi.json. */
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

const LONGEST_NAME = 80;

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
  // The validator reports the parent first.
  const error = validator.validate(body).errors.find(({ keyword }) => keyword !== 'properties');
  if (error !== undefined) throw refusalOfField(error, body);
  return body as SpeechRequest;
}

/** The validator collects all, overflows the stack with 100,000, and fails on half a surrogate pair. */
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

function ruleAt(pointer: string): unknown {
  let place: unknown = schema;
  for (const step of pointer.split('/').slice(1)) place = (place as Record<string, unknown>)[step];
  return place;
}

function hasProperties(value: object): value is ObjectSchema {
  return 'properties' in value;
}

/** All voices read these: espeak-ng spells foreign letters, but not foreign digits. */
const ENGLISH = /[a-z0-9]/i;
const OTHER = /\p{L}/u;

/** The voice does not speak their letters. */
const SEQUENCES = ['\u001b', '\u009b'];

const UNKNOWN = 'und';

/**
 * Otherwise only the engine knows.
 * @param language of the voice
 */
export function surelySpeakable(text: string, language: string): boolean {
  if (language === UNKNOWN) return false;
  if (SEQUENCES.some((start) => text.includes(start))) return false;
  return (/^en\b/i.test(language) ? ENGLISH : OTHER).test(text);
}

function isObject(data: unknown): data is object {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
