import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * Runs the text server of the tests in a process of its own, and prints its address. With 1470 frames per byte at 22,050 Hz,
 * it speaks 15 characters a second, as people do.
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
