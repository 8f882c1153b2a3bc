import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * The server of the tests, in a process of its own: run with Node, it prints its address. `framesPerByte` of a byte each
 * 22050 Hz make 15 characters a second, as people speak.
 */
const bundle = await rolldown({
  input: fileURLToPath(new URL('../test/support/text-server.ts', import.meta.url)),
  platform: 'node',
});
const { output } = await bundle.generate({ format: 'esm' });
const source = Buffer.from(output[0].code).toString('base64');
const { TextServer } = await import(`data:text/javascript;base64,${source}`);

const server = await TextServer.start({
  framesPerByte: 1470,
  delay: { firstByteMs: 193, timesRealTime: 23.8 },
});
console.log(server.url);
