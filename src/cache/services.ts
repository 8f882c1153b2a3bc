import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openOwn, readOwn } from '../files/own-file.ts';
import type { Home } from './folder.ts';

/** The identity of a service in the first line, then a key a line: an entry itself does not tell. */
const LIST = /^[0-9a-f]{16}\.keys$/;
const KEY = /^[0-9a-f]{64}$/;

/** Never throws: without the note, the entry only stays longer. */
export function noteService({ folder, uid }: Home, identity: string, key: string): void {
  const path = listPath(folder, identity);
  try {
    const head = existsSync(path) ? '' : `${JSON.stringify(identity)}\n`;
    const fd = openOwn(path, 'O_APPEND', uid, 0o600);
    try {
      appendFileSync(fd, `${head}${key}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {}
}

interface ServiceKeys {
  readonly path: string;
  readonly identity: string;
  readonly keys: ReadonlySet<string>;
}

/**
 * Skips a torn line.
 * @throws TtsError (usage) for a list that is a link or not a file
 */
export function listServices({ folder, uid }: Home): ServiceKeys[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const [head = '', ...lines] = readOwn(path, uid).split('\n');
    const identity = identityIn(head);
    return identity === undefined
      ? []
      : [{ path, identity, keys: new Set(lines.filter((line) => KEY.test(line))) }];
  });
}

export function isOf(identity: string, url: string): boolean {
  const base = url.replace(/\/+$/, '');
  return [base, `${base}/tts`].includes(identity) || identity.startsWith(`server ${base} `);
}

export function removeLists(folder: string): void {
  for (const name of namesIn(folder)) rmSync(join(folder, name), { force: true });
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => LIST.test(name)) : [];
}

function identityIn(head: string): string | undefined {
  try {
    return String(JSON.parse(head));
  } catch {
    return undefined;
  }
}

function listPath(folder: string, identity: string): string {
  return join(folder, `${createHash('sha256').update(identity).digest('hex').slice(0, 16)}.keys`);
}
