import { openApi } from '../kit/http/openapi.ts';
import { APIS } from './apis.ts';

/** The OpenAPI document of the service. The build replaces this module with the finished document: .config/finished.ts. */
export const description = openApi(
  {
    title: 'Text-to-speech service',
    version: '1.0.0',
    summary: 'Text in, sound out',
    description:
      'Converts text into spoken audio with a selected speaker. `POST /tts` is the service; below `/v1/` is the interface of OpenAI. With `tts serve --cors`, web pages of another origin may use both.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  APIS,
);
