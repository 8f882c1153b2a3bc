import { VARIABLES_START } from '../../src/engines/flite.ts';
import { compileFlite, startFlite } from '../../src/engines/flite-program.ts';
import { Wasi } from '../../src/engines/flite-wasi.ts';

/** @returns a function that lists the phones with which Flite says a text, without pauses */
export async function openPhones(): Promise<(text: string) => string> {
  const wasi = new Wasi();
  let printed = '';
  const fd_write = (fd: number, vectors: number, count: number, written: number) => {
    const view = new DataView(program.memory.buffer);
    let length = 0;
    for (let vector = vectors; vector < vectors + 8 * count; vector += 8) {
      const bytes = Buffer.from(
        program.memory.buffer,
        view.getUint32(vector, true),
        view.getUint32(vector + 4, true),
      );
      if (fd === 1) printed += bytes.toString('latin1');
      length += bytes.length;
    }
    view.setUint32(written, length, true);
    return 0;
  };
  const program = await startFlite(await compileFlite(), { ...wasi.imports, fd_write });
  const pristine = new Uint8Array(program.memory.buffer).slice(VARIABLES_START);
  const said = new Map<string, string>();
  const say = (text: string) => {
    printed = '';
    wasi.prepare(program.memory, ['flite', '-voice', 'kal', '-ps', '-t', text, '-o', 'none']);
    program._start();
    const variables = new Uint8Array(program.memory.buffer, VARIABLES_START);
    variables.set(pristine);
    variables.fill(0, pristine.length);
    return printed.replaceAll('pau', '').replace(/\s+/gu, ' ').trim();
  };
  return (text) => {
    const known = said.get(text) ?? say(text);
    said.set(text, known);
    return known;
  };
}
