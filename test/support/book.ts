import { expect, onTestFinished } from 'vitest';
import { withoutSpace } from './text-audio.ts';
import { TextServer, type TextServerOptions } from './text-server.ts';

/** Starts a text server that is closed after the test. */
export async function serveText(options: TextServerOptions = {}): Promise<TextServer> {
  const server = await TextServer.start(options);
  onTestFinished(() => server.close());
  return server;
}

/** Expects the whole text, except for white space. A failure shows the first difference instead of two books. */
export function expectSpoken(spoken: string, text: string): void {
  const [all, said] = [withoutSpace(text), withoutSpace(spoken)];
  let at = 0;
  while (at < all.length && all[at] === said[at]) at += 1;
  const around = (whole: string) => whole.slice(Math.max(0, at - 40), at + 40);
  expect({ at: said.length, text: around(said) }).toEqual({ at: all.length, text: around(all) });
}
