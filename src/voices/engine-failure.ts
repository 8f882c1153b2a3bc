import { hintToWait } from '../client/refusal.ts';
import { isTransient } from '../client/retry.ts';
import { EngineError, type EngineFault } from '../engine/contract.ts';
import { ExitCode, TtsError } from '../error.ts';
import { IdleError } from '../idle.ts';

/** Whose failure it is. */
export interface Failing {
  readonly name: string;
  /** True for a server, a program or a model, whose errors name it. */
  readonly isExternal: boolean;
  /** The hint for its failures, where it is not the usual one. */
  readonly advice?: string | undefined;
  readonly timeoutMs: number;
}

/** Puts the failure of an engine into words. */
export function engineFailure(error: unknown, who: Failing): TtsError {
  if (error instanceof TtsError) return error;
  if (error instanceof IdleError) return silent(error, who);
  if (!(error instanceof EngineError)) throw error;
  if (error.kind === 'no storage') return noRoom(error);
  if (error.kind === 'refused' && error.status !== undefined && !isTransient(error.status))
    return refused(error, error.status, who);
  if (error.isFinal) return short(error);
  return who.isExternal ? failed(error, who) : ofBuiltIn(error, who);
}

function short(cause: EngineError): TtsError {
  const hint =
    'maxChars is set next to the engine under "engines" in your own config; --max-chars sets it for a run';
  return new TtsError(cause.message, { exitCode: ExitCode.service, hint, cause });
}

function silent(cause: IdleError, { name, timeoutMs }: Failing): TtsError {
  return new TtsError(`no sound from ${name} for ${timeoutMs / 1000} s`, {
    exitCode: ExitCode.timeout,
    hint: 'try again, or wait longer with --timeout',
    cause,
    retry: {},
  });
}

function noRoom(cause: EngineError): TtsError {
  const hint = 'free some space there, or name another folder for temporary files with TMPDIR';
  return new TtsError(cause.message, { exitCode: ExitCode.output, hint, cause });
}

/** The hint for every failure of an engine that the user brings. */
const LOOK = 'tts doctor --engine ENGINE checks the engine';

/** An answer that stays the same if the engine is asked again. It means what it means on `POST /tts`. */
function refused(cause: EngineError, status: number, { advice = LOOK }: Failing): TtsError {
  const isKey = status === 401 || status === 403;
  const [exitCode, hint] = isKey
    ? [
        ExitCode.key,
        'TTS_ENGINE_KEY holds the key for --engine URL; "key" or "keyFile" under "engines" in your own config holds that of a named engine',
      ]
    : status === 402
      ? [
          ExitCode.quota,
          'waiting does not help: what the account has paid for is used up; add credit to it, or raise its limit',
        ]
      : [ExitCode.service, advice];
  const concernsThisTextOnly = [400, 404, 413, 422].includes(status);
  return new TtsError(cause.message, {
    exitCode,
    hint,
    cause,
    concernsThisTextOnly,
    isOutage: status >= 500,
  });
}

function failed(cause: EngineError, { advice = LOOK }: Failing): TtsError {
  const { message, kind, retryAfter: after, status = STATUSES[kind] ?? 502 } = cause;
  return new TtsError(message, {
    exitCode: status === 429 ? ExitCode.quota : ExitCode.service,
    hint: hintToWait(after) ?? advice,
    cause,
    retry: { after, busy: kind === 'busy', status },
  });
}

/** What `POST /tts` of a service with the engine answers. */
const STATUSES: Partial<Record<EngineFault, number>> = { busy: 503, late: 504 };

function ofBuiltIn(cause: EngineError, { name }: Failing): TtsError {
  const { message, kind } = cause;
  if (kind === 'unsupported text')
    return new TtsError(`${name} cannot read this text: ${message}`, {
      exitCode: ExitCode.service,
      hint: 'choose a voice for the language of the text: tts speakers lists them',
      cause,
      concernsThisTextOnly: true,
    });
  return new TtsError(`${name} failed: ${message}`, {
    exitCode: ExitCode.service,
    hint: 'try again; tts doctor checks the voice',
    cause,
    retry: { status: 500 },
  });
}
