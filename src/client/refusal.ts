import { ExitCode, TtsError } from '../error.ts';
import { messageIn, retryAfter } from '../error-answer.ts';
import { printable } from '../printable.ts';
import { firstBytes } from './error-body.ts';
import type { Answer } from './response-stream.ts';
import { isTransient, LONGEST_REQUESTED_WAIT } from './retry.ts';

/** An answer without a body (RFC 9110, section 15.3.5). */
export const NO_CONTENT = 204;

/** The answer to a range request, which is never sent (RFC 9110, section 15.3.7). */
export const PARTIAL_CONTENT = 206;

/** Statuses for an unknown speaker or a bad text. */
const UNWANTED = new Set([400, 404, 422]);

/** Such messages also come with other statuses than 413. */
const TOO_LONG =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Bytes of an error body that are read. */
const READ_BYTES = 16_384;
/** Milliseconds. */
const READ_MS = 2000;

export interface ServiceName {
  readonly url: URL;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
}

/** @param status the status that the answer stands for */
export async function refusal(
  answer: Answer,
  to: ServiceName,
  status: number = answer.status,
): Promise<TtsError> {
  const { headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, READ_BYTES, READ_MS);
  const message = messageIn(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  const after = retryAfter(headers);
  return new TtsError(`${meaning(status, to)} (status ${answer.status}${message && `: ${message}`})`, {
    exitCode: exitCodeOf(status),
    concernsThisTextOnly: UNWANTED.has(status),
    isOutage: status >= 500,
    hint: (isTransient(status) && hintToWait(after)) || hintFor({ status, headers, message }, to),
    ...(isTransient(status) && { retry: { after, busy: status === 429 || status === 503, status } }),
  });
}

export function hintToWait(seconds = 0): string | undefined {
  if (seconds <= LONGEST_REQUESTED_WAIT) return undefined;
  const hours = Math.ceil(seconds / 3600);
  return `the service asks to wait ${hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`}`;
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return ExitCode.key;
  return status === 402 || status === 429 ? ExitCode.quota : ExitCode.service;
}

function meaning(status: number, { url }: ServiceName): string {
  const name = url.host;
  if (status === NO_CONTENT) return `${name} sent no audio`;
  if (status === PARTIAL_CONTENT) return `${name} sent only a part of the audio`;
  if (status === 401) return `${name} does not accept the key`;
  if (status === 402) return `${name} requires payment`;
  if (status === 403) return `${name} does not allow this with the key`;
  if (status === 404) return `there is nothing at ${url.href}`;
  if (status === 408) return `${name} waited too long for the request`;
  if (status === 429) return `${name} takes no more requests for now`;
  if (status >= 300 && status < 400) return `${name} points to another address, which is not followed`;
  if (status >= 500) return `${name} failed`;
  return `${name} refuses the request`;
}

interface Refused extends Pick<Answer, 'status' | 'headers'> {
  readonly message: string;
}

function hintFor({ status, headers, message }: Refused, { url, keyOrigin }: ServiceName): string {
  if (status === 401 || status === 403) return `the key came from ${keyOrigin}`;
  if (status === 402)
    return 'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit';
  if (status === 429) return 'wait, or look at the limits of the account';
  if (status === 404 && url.pathname.endsWith('/tts/tts'))
    return 'the base URL ends in /tts already, and /tts is added to it: leave it out there';
  if (status === 404) return `check the base URL: /tts is added to it${hintToEngine(url, message)}`;
  if (status === 407) return 'the proxy wants a user and a password: http://user:password@proxy:port';
  if (status >= 300 && status < 400) return hintToMove(headers.location, url);
  if (status === 413 || (UNWANTED.has(status) && TOO_LONG.test(message)))
    return 'send less at once: --max-chars sets how long one request may be';
  if (isTransient(status)) return hintToRetry(message);
  return message ? 'the text in brackets is what the service said' : 'check the base URL and the settings';
}

function hintToRetry(message: string): string {
  const isOfEngine = /\(engine_\w+\)$/.test(message);
  return isOfEngine ? 'tts doctor --engine ENGINE checks the engine' : 'try again later';
}

/** A message of FastAPI, or a version in the path, suggests OpenAI's interface. */
function hintToEngine({ origin, pathname }: URL, message: string): string {
  const base = pathname.replace(/\/tts$/, '');
  if (!base.endsWith('/v1') && message !== 'Not Found') return '';
  return `; a server with OpenAI's /audio/speech is an engine: --engine ${origin}${base.endsWith('/v1') ? base : `${base}/v1`}`;
}

function hintToMove(location: string | undefined, from: URL): string {
  if (location === undefined || !URL.canParse(location, from.href))
    return 'check the base URL: the answer names no other address';
  const { origin, pathname, protocol } = new URL(location, from);
  if (!/^https?:$/.test(protocol))
    return 'check the base URL: the redirect does not lead to an http(s) address';
  if (origin === from.origin && pathname === from.pathname)
    return 'the redirect points back to the same address: the service, or a proxy in between, is misconfigured';
  // Path and query may hold the key.
  const isBase = /^\/(?:tts\/?)?$/.test(pathname);
  return isBase
    ? `if you trust it, name it as the base URL: ${printable(origin)}`
    : `if you trust it, look for the base URL below ${printable(origin)}`;
}
