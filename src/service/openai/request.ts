import { wellFormedStart } from '../http/json-body.ts';
import { Refusal } from '../http/refusal.ts';
import { RESPONSE_FORMATS, type ResponseFormat } from './formats.ts';

/** The body of `POST /v1/audio/speech`. Other fields than these are left alone: clients send what their own servers know. */
export interface AudioRequest {
  readonly input: string;
  /** A name, a number, a language or `engine:name`. The default voice speaks where it is empty. */
  readonly voice: string;
  readonly format: ResponseFormat;
  /** A factor of the pace, from 0.25 to 4. */
  readonly speed: number;
  /** A blank one is none. */
  readonly instructions: string | undefined;
  /** True for a client that chooses the form of a stream. */
  readonly stream: true | undefined;
  /** True sends events with sound in base64. */
  readonly asEvents: boolean;
}

const SPEEDS = { least: 0.25, most: 4 };

type Body = Readonly<Record<string, unknown>>;

/** @throws Refusal 400 that names the field */
export function checkAudioRequest(body: unknown): AudioRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'invalid_json', 'The body must be a JSON object');
  const fields = body as Body;
  const input = text(fields, 'input');
  if (input === undefined) throw new Refusal(400, 'missing_field', 'input is missing', { field: 'input' });
  if (!/\S/u.test(input)) throw invalid('input', 'must not be blank');
  const streamFormat = choice(fields, 'stream_format', ['audio', 'sse']);
  return {
    input,
    voice: voiceIn(fields),
    format: choice(fields, 'response_format', RESPONSE_FORMATS) ?? 'mp3',
    speed: speedIn(fields),
    instructions: text(fields, 'instructions')?.trim() ? text(fields, 'instructions') : undefined,
    stream: streamFormat === undefined ? undefined : true,
    asEvents: streamFormat === 'sse',
  };
}

function invalid(field: string, what: string): Refusal {
  return new Refusal(400, 'invalid_value', `${field} ${what}`, { field });
}

/** Clients write null for a field that they leave out. */
function text(body: Body, field: string): string | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw invalid(field, 'must be a string');
  return value;
}

function choice<const T extends string>(body: Body, field: string, allowed: readonly T[]): T | undefined {
  const value = text(body, field);
  const found = allowed.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw invalid(field, `must be one of ${allowed.join(', ')}, and is ${wellFormedStart(value)}`);
}

/** OpenAI's own voices may also come as `{"id": "…"}`. */
function voiceIn({ voice }: Body): string {
  const value = typeof voice === 'object' && voice !== null ? (voice as Body).id : voice;
  if (typeof value === 'number') return String(value);
  return text({ voice: value }, 'voice') ?? '';
}

function speedIn({ speed }: Body): number {
  const { least, most } = SPEEDS;
  const value = speed ?? 1;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid('speed', `must be a number from ${least} to ${most}`);
}
