import { expect } from 'vitest';
import { type Script, serveBytes } from './byte-server.ts';
import { answer } from './http-bytes.ts';

export interface SpeechServer {
  readonly url: string;
  readonly asked: { input: string; voice: string; model: string }[];
  readonly authorization: (string | undefined)[];
}

/** Starts a server with OpenAI's interface. */
export async function serveSpeech(
  speech: Script,
  voices: unknown = { voices: ['anna', 'bert'] },
): Promise<SpeechServer> {
  const asked: SpeechServer['asked'] = [];
  const authorization: (string | undefined)[] = [];
  const server = await serveBytes((wire, request, number) => {
    authorization.push(request.header('Authorization'));
    if (request.path === '/v1/audio/voices')
      return (voices === null ? answer(404, 'no') : answer(200, JSON.stringify(voices)))(
        wire,
        request,
        number,
      );
    expect(request.path).toBe('/v1/audio/speech');
    asked.push(request.json as SpeechServer['asked'][number]);
    return speech(wire, request, number);
  });
  return { url: `${server.url}/v1`, asked, authorization };
}
