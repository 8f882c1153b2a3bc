import { type Plugin, rolldown } from 'rolldown';

/** Puts what these modules export into the program as it comes out: what makes it stays out, and is loaded by no run. */
export function finished(): Plugin {
  return {
    name: 'finished',
    load: {
      filter: { id: /\/src\/(?:cli\/help-text|serve\/description|voices\/language-names)\.ts$/ },
      async handler(id) {
        const exported = Object.entries(await run(id));
        return exported.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n');
      },
    },
  };
}

async function run(input: string): Promise<object> {
  // No command is loaded.
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: (_, importer) => importer?.endsWith('/src/cli/commands.ts') === true,
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
