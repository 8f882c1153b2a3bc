import { type Plugin, rolldown } from 'rolldown';

/** Evaluates these modules during the build, and bundles only the values that they export, without their imports. */
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
  // The modules of the commands are not needed for their help.
  const bundle = await rolldown({
    input,
    transform: { target: 'es2023' },
    platform: 'node',
    external: (_, importer) => importer?.endsWith('/src/cli/commands.ts') === true,
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}
