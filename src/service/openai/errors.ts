import type { Refusal } from '../http/refusal.ts';
import type { ErrorForm } from '../http/refuse.ts';

/** The body of an error in OpenAI's interface. Its libraries read these fields. */
interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** The types are those of https://platform.openai.com/docs/guides/error-codes. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function body({ status, message, field, code }: Refusal): OpenAiError {
  return { error: { message, type: typeOf(status), param: field ?? null, code } };
}

export const openAiErrors: ErrorForm = { challenge: 'Bearer', body };
