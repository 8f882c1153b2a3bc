import openAi from './openai/openapi.json' with { type: 'json' };
import tts from './tts/openapi.json' with { type: 'json' };

/**
 * Describes the service in OpenAPI 3.1: each interface brings its own part.
 * @param url the address that all paths count from
 */
export function description(url: string, isThere: (path: string) => boolean): object {
  const all = { ...tts.paths, ...openAi.paths };
  const paths = Object.fromEntries(Object.entries(all).filter(([path]) => isThere(path)));
  const components = Object.fromEntries(
    Object.entries(tts.components).map(([kind, named]) => [
      kind,
      { ...named, ...openAi.components[kind as keyof typeof openAi.components] },
    ]),
  );
  const [server] = tts.servers;
  return { ...tts, servers: [{ ...server, url }], paths, components };
}
