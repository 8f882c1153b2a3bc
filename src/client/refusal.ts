import { ExitCode, TtsError } from '../error.ts';
import { printable } from '../printable.ts';
import { firstBytes } from './beginning.ts';
import { complaint } from './complaint.ts';
import type { Answer } from './http-answer.ts';
import { isTransient, LONGEST_REQUESTED_WAIT, retryAfter } from './retry.ts';

/** Nothing follows its head (RFC 9110, section 15.3.5). */
export const NO_CONTENT = 204;

/** Only for whoever asks for a part (RFC 9110, section 15.3.7), which is not done here. */
export const PARTIAL_CONTENT = 206;

/** What a service says to a speaker that it does not have, or to a text that it cannot speak. */
const UNWANTED = new Set([400, 404, 422]);

/** How services say that a text is too long for them, also with a status that says less than 413. */
const TOO_LONG =
  /\b(?:text|input|string|sentence)\b.*\b(?:too long|too large|exceeds?|at most|max\w*)\b|\b(?:at most|max\w*|more than)\b[^.]*\bcharacters\b|\btoo many characters\b/i;

/** Enough of an error body to find its message. */
const READ_BYTES = 16_384;
/** A body that drips in, or stalls, is waited for no longer than this; how it goes on is known already. */
const READ_MS = 2000;

export interface Addressee {
  readonly url: URL;
  /** What people call it; its host, unless set. */
  readonly name?: string | undefined;
  /** Where the key came from, in words. */
  readonly keyOrigin: string;
}

/** The error for an answer whose status is no success. */
export async function refusal(answer: Answer, to: Addressee): Promise<TtsError> {
  const { status, headers } = answer;
  const { bytes, isWhole } = await firstBytes(answer.body, READ_BYTES, READ_MS);
  const said = complaint(bytes, { isCut: !isWhole, contentType: headers['content-type'] });
  // By its own clock, where it tells the time: ours may be another.
  const after = retryAfter(headers['retry-after'], Date.parse(headers.date ?? '') || Date.now());
  return new TtsError(`${meaning(status, to)} (status ${status}${said && `: ${said}`})`, {
    exitCode: exitCodeOf(status),
    isUnwanted: UNWANTED.has(status),
    hint: (isTransient(status) && hintToWait(after)) || hintFor({ status, headers, said }, to),
    ...(isTransient(status) && { retry: { after, busy: status === 429 || status === 503, status } }),
  });
}

/** Nobody waits so long here, but who asks for it may want to be told. */
function hintToWait(seconds = 0): string | undefined {
  if (seconds <= LONGEST_REQUESTED_WAIT) return undefined;
  const hours = Math.ceil(seconds / 3600);
  return `the service asks to wait ${hours < 48 ? `${hours} hours` : `${Math.ceil(hours / 24)} days`}`;
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return ExitCode.key;
  return status === 402 || status === 429 ? ExitCode.quota : ExitCode.service;
}

function meaning(status: number, { url, name = url.host }: Addressee): string {
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
  /** What the body says, if anything. */
  readonly said: string;
}

function hintFor({ status, headers, said }: Refused, { url, keyOrigin }: Addressee): string {
  if (status === 401 || status === 403) return `the key came from ${keyOrigin}`;
  if (status === 402 || status === 429) return 'wait, or look at the limits of the account';
  if (status === 404 && url.pathname.endsWith('/tts/tts'))
    return 'the base URL ends in /tts already, and /tts is added to it: leave it out there';
  if (status === 404) return 'check the base URL: /tts is added to it';
  if (status === 407) return 'the proxy wants a user and a password: http://user:password@proxy:port';
  if (status >= 300 && status < 400) return hintToMove(headers.location, url);
  if (status === 413 || (UNWANTED.has(status) && TOO_LONG.test(said)))
    return 'send less at once: --max-chars sets how long one request may be';
  if (isTransient(status)) return 'try again later';
  return said ? 'the text in brackets is what the service said' : 'check the base URL and the settings';
}

/** The base URL that leads to where a redirect points. */
function hintToMove(location: string | undefined, from: URL): string {
  if (location === undefined || !URL.canParse(location, from.href))
    return 'check the base URL: the answer names no other address';
  const { origin, pathname, protocol } = new URL(location, from);
  if (!/^https?:$/.test(protocol))
    return 'check the base URL: the redirect does not lead to an http(s) address';
  if (origin === from.origin && pathname === from.pathname)
    return 'the redirect points back to the same address: the service, or something in between, is misconfigured';
  const base = `${origin}${pathname.replace(/\/tts\/?$/, '')}`;
  return `if you trust it, name it as the base URL: ${printable(base)}`;
}
