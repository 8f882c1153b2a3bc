import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { node, program, Sandbox } from '../support/run.ts';

/**
 * Writes, in place of each chunk of the program, compiled code that V8 takes for that of the chunk: it compares the flags
 * and the length of the source alone. argv: the folder of the chunks, the folder to plant in.
 */
const PLANT = `
const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const [, , chunks, folder] = process.argv;
const BEGIN = '(function (exports, require, module, __filename, __dirname) { ';
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(chunks).filter((each) => each.endsWith('.cjs'))) {
  const { length } = BEGIN + readFileSync(chunks + '/' + name, 'latin1') + '\\n});';
  const code = (BEGIN + "process.getBuiltinModule('node:fs').writeFileSync('ran', '');").padEnd(length - 4) + '\\n});';
  const script = new Script(code, { filename: chunks + '/' + name });
  setFlagsFromString('--verify-snapshot-checksum');
  const data = script.createCachedData();
  setFlagsFromString('--no-verify-snapshot-checksum');
  writeFileSync(folder + '/' + name, data, { mode: 0o600 });
}`;

it('Compiled code that lies in a cache folder is not run, and none is written.', async () => {
  const box = new Sandbox();
  const chunks = join(dirname(program), '..', 'dist');
  const version = (await box.shell(`'${node}' -p 'process.version + "-" + process.arch'`)).stdout;
  const folder = `.cache/tts/code/${version.toString().trim()}`;
  box.file('plant.cjs', PLANT);
  expect(await box.shell(`'${node}' plant.cjs '${chunks}' ${folder}`)).toMatchObject({
    status: 0,
    stderr: '',
  });
  const planted = () =>
    new Map(readdirSync(box.path(folder)).map((name) => [name, readFileSync(box.path(join(folder, name)))]));
  const before = planted();
  expect(before.size).toBeGreaterThan(10);
  const run = await box.shell('XDG_CACHE_HOME="$PWD/.cache" tts hi -q -o hi.wav');
  expect(run).toMatchObject({ status: 0, stderr: '' });
  expect(box.list()).toEqual(['.cache', 'hi.wav', 'plant.cjs']);
  expect(planted()).toEqual(before);
});
