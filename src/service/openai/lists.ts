import type { Exchange } from '../http/exchange.ts';
import { sendJson } from '../http/refuse.ts';
import type { ServiceContext } from '../tts/context.ts';

/** Any word is taken for a model. Clients show these to choose from. */
const MODELS = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];

/** Kokoro-FastAPI and Open WebUI read a voice as its `id` with its `name`. */
export function listVoices(exchange: Exchange, { engine, hide }: ServiceContext): void {
  const voices = engine.speakers.map(({ no, name, language }) => ({
    id: hide(name),
    name: hide(name),
    language,
    speaker_no: no,
  }));
  sendJson(exchange, 200, { voices });
}

export function listModels(exchange: Exchange): void {
  const data = MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'tts-pipe' }));
  sendJson(exchange, 200, { object: 'list', data });
}
