import type { Plugin } from 'rolldown';
import { description } from '../src/serve/description.ts';

/** Puts the finished description of the service into the program. What makes it from the schemas of the routes stays out. */
export function describedService(): Plugin {
  return {
    name: 'description',
    load: {
      filter: { id: /\/src\/serve\/description\.ts$/ },
      handler: () => `export const description = ${JSON.stringify(description)};`,
    },
  };
}
