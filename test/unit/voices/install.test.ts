import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Header, type Pack, pack } from 'tar-stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TtsError } from '../../../src/kit/error.ts';
import { processHost } from '../../../src/kit/host.ts';
import { isArchive, unpack } from '../../../src/voices/install/archive.ts';
import { isFree, loadCatalogue } from '../../../src/voices/install/catalogue.ts';
import { neededOf } from '../../../src/voices/install/espeak.ts';
import { hubOf } from '../../../src/voices/install/fetch.ts';
import { assertSelfContained, assertThere, installLocal } from '../../../src/voices/install/from.ts';
import { licenceIn } from '../../../src/voices/install/install.ts';
import { Session } from '../../../src/voices/install/session.ts';
import { openStore, removeVoice } from '../../../src/voices/install/store.ts';
import { emptyFolder, filesBelow } from '../../support/folder.ts';
import { listen } from '../../support/listen.ts';
import { isThere } from '../../support/programs.ts';

const never = new AbortController().signal;

async function archiveOf(fill: (archive: Pack) => void): Promise<string> {
  const file = join(emptyFolder(), 'a.tar.gz');
  const archive = pack();
  fill(archive);
  archive.finalize();
  await pipeline(Readable.from(archive), createGzip(), createWriteStream(file));
  return file;
}

describe('an archive', () => {
  it.skipIf(!isThere('tar')).each(['a.tar.gz', 'a.tgz', 'a.tar'])(
    'is unpacked by its ending: %s',
    async (name) => {
      const folder = emptyFolder();
      writeFileSync(join(folder, 'x'), 'content');
      execFileSync('tar', [name.endsWith('r') ? 'cf' : 'czf', name, 'x'], { cwd: folder });
      const target = emptyFolder();
      await unpack(join(folder, name), target, never);
      expect(readFileSync(join(target, 'x'), 'utf8')).toBe('content');
    },
  );

  it.each<[string, Partial<Header> & { name: string }, RegExp]>([
    ['a way up', { name: '../x' }, /a name in it leads elsewhere: \.\.\/x/],
    ['a way up inside', { name: 'a/../../x' }, /leads elsewhere/],
    ['an absolute name', { name: '/tmp/x' }, /leads elsewhere/],
    ['a name of Windows', { name: 'C:\\x' }, /leads elsewhere/],
    ['a way up of Windows', { name: 'a\\..\\..\\x' }, /leads elsewhere/],
    ['a control character', { name: 'a\u001b[2J' }, /leads elsewhere/],
    ['a symbolic link', { name: 'x', type: 'symlink', linkname: '/etc/passwd' }, /x is a link/],
    ['a hard link', { name: 'x', type: 'link', linkname: '/etc/passwd' }, /x is a link/],
    ['a device', { name: 'x', type: 'character-device' }, /x is a device or a pipe/],
    ['a pipe', { name: 'x', type: 'fifo' }, /x is a device or a pipe/],
  ])('with %s is refused', async (_, header, message) => {
    const file = await archiveOf((archive) => {
      if (header.type) archive.entry(header as Header);
      else archive.entry(header, 'content');
    });
    const target = emptyFolder();
    await expect(unpack(file, target, never)).rejects.toThrow(message);
    expect(filesBelow(target)).toEqual([]);
  });

  it('with too many files, or the same one twice, is refused', async () => {
    const many = await archiveOf((archive) => {
      for (let file = 0; file <= 2000; file += 1) archive.entry({ name: `f${file}` }, '');
    });
    await expect(unpack(many, emptyFolder(), never)).rejects.toThrow(/more than 2000 files/);
    const twice = await archiveOf((archive) => {
      for (const content of ['a', 'b']) archive.entry({ name: 'x' }, content);
    });
    await expect(unpack(twice, emptyFolder(), never)).rejects.toThrow(/occurs twice/);
  });

  it('of zeros without end is refused before it is unpacked', async () => {
    const file = join(emptyFolder(), 'a.tar.gz');
    const zeros = Buffer.alloc(2 ** 20);
    const endless = Readable.from(Array.from({ length: 64 }, () => zeros));
    await pipeline(endless, createGzip({ level: 1 }), createWriteStream(file));
    await expect(unpack(file, emptyFolder(), never)).rejects.toThrow(/it holds more than its files/);
  });

  it('that would fill the disk is refused before it does', async () => {
    const file = join(emptyFolder(), 'a.tar');
    const archive = pack();
    // The size alone is told; the bytes never come.
    archive.entry({ name: 'bomb', size: 3 * 2 ** 30 }).on('error', () => {});
    const [head] = await archive[Symbol.asyncIterator]()
      .next()
      .then(({ value }) => [value as Buffer]);
    writeFileSync(file, head as Buffer);
    const target = emptyFolder();
    await expect(unpack(file, target, never)).rejects.toThrow(/more than 2 GiB/);
    expect(existsSync(join(target, 'bomb'))).toBe(false);
  });

  it.each<[string, Buffer]>([
    ['a.tar.gz', Buffer.from('no archive')],
    ['a.tar.bz2', Buffer.from('no archive')],
    ['a.tar', Buffer.alloc(700, 1)],
    ['a.tar.gz', Buffer.alloc(0)],
  ])('that is none is one sentence: %s', async (name, bytes) => {
    const file = join(emptyFolder(), name);
    writeFileSync(file, bytes);
    await expect(unpack(file, emptyFolder(), never)).rejects.toMatchObject({ name: 'TtsError', exitCode: 2 });
  });
});

/** The middle of the entry lies at the border of two pieces that are read. */
const PIECE = 2 ** 20;

describe('a model of a stranger', () => {
  it.each([
    [0, '\x0a\x08location\x12\x0b/etc/passwd'],
    [100, '\x0a\x08location\x12\x0b/etc/passwd'],
    [PIECE - 5, '\x0a\x08location\x12\x0b/etc/passwd'],
    [100, '\x12\x0b/etc/passwd\x0a\x08location'],
    [100, '\x0a\x88\x00location\x12\x0b/etc/passwd'],
  ])('that names another file is refused: at byte %i, as %j', async (at, entry) => {
    const file = join(emptyFolder(), 'a.onnx');
    writeFileSync(file, Buffer.concat([Buffer.alloc(at), Buffer.from(entry, 'latin1'), Buffer.alloc(PIECE)]));
    await expect(assertSelfContained(file)).rejects.toThrow('a.onnx is refused: it names other files');
  });

  it('that holds all of itself is not', async () => {
    const file = join(emptyFolder(), 'a.onnx');
    writeFileSync(file, 'the location of a voice');
    await expect(assertSelfContained(file)).resolves.toBeUndefined();
  });
});

const FILES = ['phontab', 'phonindex', 'phondata', 'intonations', 'de_dict', 'lang/gmw/de'];

function folderOf(files: readonly string[]): string {
  const folder = emptyFolder();
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

it('A folder of espeak-ng has all that a voice needs.', () => {
  expect(neededOf(folderOf(FILES), 'de')).toEqual(FILES);
});

it.each(FILES)('A folder of espeak-ng without %s does not have all that a voice needs.', (lacking) => {
  expect(neededOf(folderOf(FILES.filter((file) => file !== lacking)), 'de')).toBeUndefined();
});

it('A removed voice takes its espeak-ng data along, and not those of other voices, whatever else is there.', () => {
  const data = emptyFolder();
  const uid = process.getuid?.();
  openStore(data, uid);
  for (const [name, files] of [
    ['anna', ['phontab', 'de_dict']],
    ['ben', ['phontab', 'fr_dict']],
  ] as const) {
    const shared = files.map((file) => ({ name: file, size: 0, sha256: '' }));
    const espeak = { folder: 'espeak/own', files: shared };
    const manifest = { format: 1, name, speakers: [], files: [], number: 1, sampleRate: 22_050, espeak };
    mkdirSync(join(data, 'voices', name), { mode: 0o700 });
    writeFileSync(join(data, 'voices', name, 'voice.json'), JSON.stringify(manifest));
    mkdirSync(join(data, 'espeak/own'), { recursive: true });
    for (const file of files) writeFileSync(join(data, 'espeak/own', file), '');
  }
  writeFileSync(join(data, 'espeak/.DS_Store'), '');
  removeVoice(data, 'anna', uid);
  expect(filesBelow(join(data, 'espeak/own'))).toEqual(['fr_dict', 'phontab']);
  removeVoice(data, 'ben', uid);
  expect(filesBelow(data)).toEqual([]);
});

it.each([
  ['Public Domain', 'free'],
  ['CC0 1.0', 'free'],
  ['The Unlicense', 'free'],
  ['CC BY 4.0', 'attribution'],
  ['CC-BY-SA 4.0', 'attribution'],
  ['Apache-2.0', 'attribution'],
  ['MIT', 'attribution'],
  ['CC BY-NC 4.0', 'non-commercial or unknown'],
  ['CC-BY-NC4.0', 'non-commercial or unknown'],
  ['CC BY Non Commercial', 'non-commercial or unknown'],
  ['CC BY NonCommercial', 'non-commercial or unknown'],
  ['CC BY non\u2011commercial', 'non-commercial or unknown'],
  ['MIT, not for commercial use', 'non-commercial or unknown'],
  ['CC-BY-ND', 'non-commercial or unknown'],
  ['CC BY-NC-ND 4.0', 'non-commercial or unknown'],
  ['CC BY No Derivatives', 'non-commercial or unknown'],
  ['CC BY NoDerivs', 'non-commercial or unknown'],
  ['MIT, research only', 'non-commercial or unknown'],
  ['see URL', 'non-commercial or unknown'],
  ['GPL-3.0', 'unknown'],
])('The licence "%s" of a card is of the class "%s".', (licence, kind) => {
  expect(licenceIn(`# Anna\n* License: ${licence}\n`)).toEqual({ licence, class: kind });
});

it.each(['', '# Anna', 'License:'])('A card that says nothing of a licence is not free: "%s"', (card) => {
  expect(licenceIn(card)).toEqual({ licence: 'not said by its card', class: 'unknown' });
});

const host = { ...processHost(process), env: {} };

/** @returns the failure: what comes is the file of no voice */
async function failureOf(path: string, data: string): Promise<unknown> {
  const port = await listen(createServer((_, response) => response.end('of a stranger')));
  const session = new Session(
    {
      data,
      catalogue: loadCatalogue(host),
      hub: hubOf(undefined, host),
      retries: 0,
      timeoutMs: 5000,
      proxyFor: () => undefined,
      acceptsLicence: false,
      force: false,
      onProgress: () => {},
    },
    { host, notices: { note: () => {} } as never, signal: new AbortController().signal },
  );
  onTestFinished(() => session[Symbol.asyncDispose]());
  const from = `http://127.0.0.1:${port}/${path}`;
  const voice = { from, name: undefined, sha256: undefined, language: undefined };
  return installLocal(voice, session).catch((error: unknown) => error);
}

describe('a voice of an address', () => {
  it.each([
    '..%2F..%2Fx.onnx',
    '%2e%2e%2f%2e%2e%2fx.onnx',
    'a/..%2F..%2Fx.onnx',
    '%zz/..%2F..%2Fx.onnx',
    '..%2F..%2Fx.tar.gz',
  ])('changes no file outside of its folder: %s', async (path) => {
    const data = emptyFolder();
    openStore(data, host.uid);
    const names = ['x.onnx', 'x.onnx.json', 'x.tar.gz'];
    for (const name of names) writeFileSync(join(data, name), 'mine');
    expect(await failureOf(path, data)).toBeInstanceOf(TtsError);
    expect(names.map((name) => readFileSync(join(data, name), 'utf8'))).toEqual(names.map(() => 'mine'));
    expect(filesBelow(data).filter((name) => !name.startsWith('.parts'))).toEqual(names);
  });

  it.each([
    ['my%20own.onnx', /^my-own cannot be used: it is not JSON$/],
    ['%zz/my%20own.onnx', /^my-own cannot be used: it is not JSON$/],
    ['bad%zz.onnx', /^bad-zz cannot be used: it is not JSON$/],
    ['x.wav', /^x\.wav is neither an \.onnx nor an archive$/],
  ])('has a name, whatever the address: %s', async (path, message) => {
    const error = await failureOf(path, emptyFolder());
    expect(error).toBeInstanceOf(TtsError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  it.each(['https://', 'http://[', 'https://a b/x.onnx'])('is refused where it cannot be one: %s', (from) => {
    expect(() => assertThere(from, host)).toThrow('bad value for --from');
  });
});

const catalogue = loadCatalogue({ env: {}, cwd: '/' });

describe('the catalogue', () => {
  it('begins with the smallest voices, and those whose licence is beyond doubt', () => {
    expect(catalogue.voices.slice(0, 2).map(({ name }) => name)).toEqual(['inflect', 'inflect-micro']);
    const [...first] = catalogue.voices.slice(2, 6);
    expect(first.map(({ name }) => name)).toEqual(['cori', 'kristin', 'ljspeech', 'norman']);
    for (const { licence, trained } of first) {
      expect(licence).toMatch(/^public domain/);
      expect(trained).toBe('scratch');
    }
  });

  it.each(['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'uk', 'tr'])(
    'has a voice for %s',
    (language) => {
      expect(catalogue.voices.some((voice) => voice.language.startsWith(`${language}-`))).toBe(true);
    },
  );

  it('has names, keys and numbers once each, and a checksum for each file', () => {
    const { voices, espeak } = catalogue;
    for (const field of ['name', 'key', 'number'] as const)
      expect(new Set(voices.map((voice) => voice[field])).size).toBe(voices.length);
    expect(voices.map(({ number }) => number).sort()).toEqual(voices.map((_, at) => 200_001 + 1000 * at));
    for (const { files, espeak: languages, speakers, from } of voices) {
      expect(speakers).toBeLessThanOrEqual(1000);
      for (const { path, size, sha256, md5, from: own = from } of files) {
        expect(size).toBeGreaterThan(0);
        expect(catalogue.repositories[own]).toBeDefined();
        expect(sha256 ?? md5).toMatch(/^([0-9a-f]{64}|[0-9a-f]{32})$/);
        if (path.endsWith('.onnx') || isArchive(path)) expect(sha256).toHaveLength(64);
      }
      expect(languages.filter((language) => espeak.languages[language] === undefined)).toEqual([]);
    }
  });

  it('tells which licences are free', () => {
    const notFree = catalogue.voices.filter((voice) => !isFree(voice)).map(({ name }) => name);
    expect(notFree).toEqual(['pim', 'gosia', 'irina', 'dfki', 'kareem', 'supertonic']);
  });
});
