import type { TtsError } from '../error.ts';

/** What a run may want to tell while it waits. */
export type ClientEvent =
  | { readonly type: 'request'; readonly url: URL; readonly body: string }
  | { readonly type: 'answer'; readonly status: number; readonly milliseconds: number }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  | { readonly type: 'other take' };
