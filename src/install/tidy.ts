import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../error.ts';
import { namesIn } from '../files/paths.ts';
import { type InstalledFile, installedVoices, type Manifest, voicesFolder } from '../installed/manifest.ts';
import { hashOf } from './fetch/part.ts';
import { attempt, partsFolder } from './store.ts';

/** Takes a voice away in one step, and then what no other voice needs. */
export function removeVoice(data: string, name: string, uid: number | undefined): void {
  const aside = join(partsFolder(data), `old-${name}`);
  attempt(aside, () => {
    rmSync(aside, { recursive: true, force: true });
    renameSync(join(voicesFolder(data), name), aside);
    rmSync(aside, { recursive: true, force: true });
  });
  freeUnused(data, installedVoices(data, uid));
}

/** Removes data of espeak-ng for languages that nobody speaks any more, and the runtime with the last voice. */
function freeUnused(data: string, voices: readonly Manifest[]): void {
  const needed = new Set(
    voices.flatMap(({ espeak }) => espeak?.files.map(({ name }) => join(espeak.folder, name)) ?? []),
  );
  for (const folder of namesIn(join(data, 'espeak')).map((name) => join('espeak', name))) {
    const names = readdirSync(join(data, folder), { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => statSync(join(data, folder, name)).isFile());
    const unused = files.filter((name) => !needed.has(join(folder, name)));
    if (unused.length === files.length) rmSync(join(data, folder), { recursive: true, force: true });
    else for (const name of unused) rmSync(join(data, folder, name), { force: true });
  }
  if (namesIn(join(data, 'espeak')).length === 0)
    rmSync(join(data, 'espeak'), { recursive: true, force: true });
  if (voices.length > 0) return;
  for (const name of ['espeak', 'runtime', '.parts'])
    rmSync(join(data, name), { recursive: true, force: true });
}

/** The files of a voice that are not as they were installed, with what is wrong. */
export async function wrongFiles(data: string, { name, files, espeak }: Manifest): Promise<string[]> {
  const folder = join(voicesFolder(data), name);
  const shared = espeak?.files.map((file) => ({ file, path: join(data, espeak.folder, file.name) })) ?? [];
  const own = files.map((file) => ({ file, path: join(folder, file.name) }));
  const wrong: string[] = [];
  for (const { file, path } of [...own, ...shared]) {
    const fault = await faultOf(file, path);
    if (fault !== undefined) wrong.push(`${file.name} ${fault}`);
  }
  return wrong;
}

async function faultOf({ size, sha256 }: InstalledFile, path: string): Promise<string | undefined> {
  try {
    if (statSync(path).size !== size) return `has ${statSync(path).size} bytes and not ${size}`;
    return (await hashOf(path)).digest('hex') === sha256 ? undefined : 'has another checksum';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'is missing' : `cannot be read (${codeOf(error)})`;
  }
}
