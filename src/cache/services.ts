import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openOwn, readOwn } from '../files/own-file.ts';
import type { Home } from './folder.ts';

/** The first line is the identity of a service, and each further line a key: an entry alone does not show its service. */
const LIST = /^[0-9a-f]{16}\.keys$/;
const KEY = /^[0-9a-f]{64}$/;

/** Notes the service of an entry. It never throws: without the note, the entry only stays longer. */
export function noteService(home: Home, identity: string, key: string): void {
  try {
    const isFirst = !existsSync(listPath(home.folder, identity));
    addKeys(home, identity, [key]);
    if (isFirst) dropLogins(home);
  } catch {}
}

function addKeys({ folder, uid }: Home, identity: string, keys: Iterable<string>): void {
  const path = listPath(folder, identity);
  const head = existsSync(path) ? [] : [JSON.stringify(identity)];
  const fd = openOwn(path, 'O_APPEND', uid, 0o600);
  try {
    appendFileSync(fd, `${[...head, ...keys].join('\n')}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Version 0.2 kept the user name and the password of an engine's address. */
function dropLogins(home: Home): void {
  for (const { path, identity, keys } of listServices(home)) {
    if (path === listPath(home.folder, identity)) continue;
    addKeys(home, identity, keys);
    rmSync(path, { force: true });
  }
}

interface ServiceKeys {
  readonly path: string;
  /** The identity holds no user name and no password of an address. */
  readonly identity: string;
  readonly keys: ReadonlySet<string>;
}

/**
 * Lists the keys of each service, without torn lines.
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

/** Writes an address as identities have it. */
export function addressOf(url: string): string {
  const href = URL.canParse(url) ? new URL(url).href : url;
  return withoutLogin(href).replace(/\/+$/, '');
}

export function isOfService(identity: string, address: string): boolean {
  return [address, `${address}/tts`].includes(identity);
}

export function isOfEngine(identity: string, address: string): boolean {
  return identity.startsWith(`server ${address} `);
}

/** @returns `undefined` for an engine that is a program or a model */
export function addressIn(identity: string): string | undefined {
  const [first = '', second] = identity.split(' ');
  if (first === 'server') return second;
  return /^https?:/.test(first) ? first.replace(/\/tts$/, '') : undefined;
}

function withoutLogin(identity: string): string {
  return identity.replace(/^((?:server )?https?:\/\/)[^/ ]*@/i, '$1');
}

export function removeLists(folder: string): void {
  for (const name of namesIn(folder)) rmSync(join(folder, name), { force: true });
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => LIST.test(name)) : [];
}

function identityIn(head: string): string | undefined {
  try {
    return withoutLogin(String(JSON.parse(head)));
  } catch {
    return undefined;
  }
}

function listPath(folder: string, identity: string): string {
  return join(folder, `${createHash('sha256').update(identity).digest('hex').slice(0, 16)}.keys`);
}
