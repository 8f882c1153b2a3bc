/**
 * Makes the read-along of each book, and checks it against the book.
 * `npm run build && node bench/read-along-check.mjs BOOK.epub… [-- --chapters 1-2]`
 * prints a line for each book, with its faults; the status is 1 if there are any. Needs unzip, and EPUBCheck (Debian's
 * package, or its JAR in the variable EPUBCHECK).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, posix } from 'node:path';
import { Parser } from 'htmlparser2';

const all = process.argv.slice(2);
const end = all.includes('--') ? all.indexOf('--') : all.length;
const options = all.slice(end + 1);
const JAR = process.env.EPUBCHECK ?? '/usr/share/java/epubcheck.jar';
const folder = mkdtempSync(join(tmpdir(), 'read-along-'));
let isWrong = false;
for (const book of all.slice(0, end)) {
  const { faults, sum } = check(book, join(folder, 'made.epub'));
  isWrong ||= faults.length > 0;
  console.log(
    [`${faults.length === 0 ? 'ok   ' : 'WRONG'} ${basename(book)}: ${sum}`, ...faults].join('\n      '),
  );
}
rmSync(folder, { recursive: true });
process.exitCode = isWrong ? 1 : 0;

function check(book, made) {
  const speak = () =>
    spawnSync(process.execPath, ['bin/tts.cjs', '-q', '-f', book, '-o', made, ...options], {
      encoding: 'utf8',
    });
  const run = speak();
  if (run.status !== 0) return { faults: [run.stderr.trim()], sum: `status ${run.status}` };
  const after = filesIn(made);
  const bytes = readFileSync(made);
  const isSame = speak().status === 0 && readFileSync(made).equals(bytes);
  const before = book.endsWith('.epub') ? filesIn(book) : new Map();
  const overlays = [...after].filter(([path]) => path.endsWith('.smil') && !before.has(path));
  const clips = overlays.flatMap(([path, text]) => clipsIn(path, String(text)));
  const faults = [
    ...(isSame ? [] : ['a second run makes other bytes']),
    ...targetFaults(after, clips),
    ...soundFaults(after, clips),
    ...textFaults(before, after),
    ...newErrors(book, made),
  ];
  const seconds = clips.reduce((all, { from, to }) => all + to - from, 0);
  const megabytes = (statSync(made).size / 2 ** 20).toFixed(1);
  return {
    faults,
    sum: `${overlays.length} overlays, ${clips.length} clips, ${seconds.toFixed(1)} s, ${megabytes} MB`,
  };
}

function filesIn(book) {
  const list = execFileSync('unzip', ['-Z1', book], { encoding: 'utf8' }).split('\n');
  const paths = list.filter((path) => path !== '' && !path.endsWith('/'));
  const pattern = (path) => path.replace(/[[\]*?\\]/g, '\\$&');
  const read = (path) => execFileSync('unzip', ['-p', book, pattern(path)], { maxBuffer: 2 ** 30 });
  return new Map(paths.map((path) => [path, read(path)]));
}

function clipsIn(smil, text) {
  const clips = [];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'par') clips.push({ smil });
        const clip = clips.at(-1);
        const target = (attributes.src ?? '').split('#').map(decodeURIComponent);
        const path = posix.join(posix.dirname(smil), target[0]);
        if (name === 'text') Object.assign(clip, { document: path, id: target[1] });
        const seconds = (key) => Number.parseFloat(attributes[key]);
        if (name === 'audio')
          Object.assign(clip, { sound: path, from: seconds('clipBegin'), to: seconds('clipEnd') });
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  return clips;
}

function targetFaults(files, clips) {
  const ids = new Map();
  const idsIn = (path) => {
    if (!ids.has(path)) ids.set(path, idsOf(String(files.get(path) ?? '')));
    return ids.get(path);
  };
  return clips.flatMap(({ smil, document, id, sound }) => {
    const at = `${document}#${id}`;
    if (!files.has(document)) return [`${smil}: ${document} is missing`];
    if (!files.has(sound)) return [`${smil}: ${sound} is missing`];
    const count = id === undefined ? 1 : (idsIn(document).get(id) ?? 0);
    return count === 1 ? [] : [`${smil}: ${at} is there ${count} times`];
  });
}

function idsOf(document) {
  const ids = new Map();
  const parser = new Parser(
    { onopentag: (_, { id }) => id !== undefined && ids.set(id, (ids.get(id) ?? 0) + 1) },
    { xmlMode: true },
  );
  parser.end(document);
  return ids;
}

/** The clips of a sound must follow each other without gaps, and be as long in total as the MP3. */
function soundFaults(files, clips) {
  return [...new Set(clips.map(({ sound }) => sound))].flatMap((sound) => {
    let last = 0;
    const gaps = [];
    for (const clip of clips.filter((each) => each.sound === sound)) {
      if (clip.from !== last) gaps.push(`${sound}: a gap at ${last} s`);
      last = clip.to;
    }
    const { samples, rate } = samplesOf(files.get(sound));
    const difference = Math.round(last * rate) - samples;
    return difference === 0 ? gaps : [...gaps, `${sound}: the clips have ${difference} samples more than it`];
  });
}

/** Reads the exact number of samples from LAME's Info frame. */
function samplesOf(mp3) {
  const at = mp3.indexOf('Info');
  const frame = mp3.lastIndexOf(0xff, at);
  const isHalf = (mp3[frame + 1] & 0x08) === 0;
  const base = [44_100, 48_000, 32_000][(mp3[frame + 2] >> 2) & 3];
  const rate = base / (isHalf ? ((mp3[frame + 1] & 0x10) === 0 ? 4 : 2) : 1);
  const padding = mp3.readUIntBE(at + 120 + 21, 3);
  const samples = mp3.readUInt32BE(at + 8) * (isHalf ? 576 : 1152) - (padding >> 12) - (padding & 0xfff);
  return { samples, rate };
}

/** All files must be unchanged, except for added elements, and for what EPUB 3 writes differently. */
function textFaults(before, after) {
  return [...before].flatMap(([path, bytes]) => {
    const now = after.get(path);
    if (/\.(?:smil|mp3|m4a|mp4|ncx|opf)$/u.test(path)) return [];
    if (!now) return [`${path} is missing`];
    if (now.equals(bytes)) return [];
    const [old, text] = [decoded(bytes), withoutSpans(String(now))];
    return text === old || textOf(text) === textOf(old) ? [] : [`${path} has another text`];
  });
}

function withoutSpans(document) {
  const open = [];
  return document
    .replace(/<link [^>]*active\.css"\/>/u, '')
    .replace(/<(\/?)(?:\w+:)?span\b[^>]*?(\/?)>/gu, (tag, end, empty) => {
      if (empty) return tag;
      const isOurs = end ? open.pop() : / id="tts\d*-\d+">$/u.test(tag);
      if (!end) open.push(isOurs);
      return isOurs ? '' : tag;
    });
}

function textOf(document) {
  let text = '';
  const parser = new Parser({ ontext: (part) => (text += part) }, { recognizeSelfClosing: true });
  parser.end(document);
  return text;
}

/** Decodes a document from its own encoding. */
function decoded(bytes) {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const [, named = 'utf-8'] = /^<\?xml[^>]*encoding=["']([\w-]+)/u.exec(bytes.toString('latin1')) ?? [];
  return new TextDecoder(isUtf16 ? 'utf-16le' : named).decode(bytes);
}

/** Errors of EPUBCheck that the original book does not have. */
function newErrors(book, made) {
  if (!existsSync(JAR)) return ['EPUBCheck is not there'];
  const old = new Set(book.endsWith('.epub') ? errorsOf(book).map(withoutPlace) : []);
  return errorsOf(made).filter((error) => !old.has(withoutPlace(error)));
}

function errorsOf(book) {
  const { stdout, stderr } = spawnSync('java', ['-jar', JAR, book], { encoding: 'utf8' });
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => /^(?:ERROR|FATAL)/u.test(line))
    .map((line) => line.replace(book, ''));
}

function withoutPlace(error) {
  return error.replace(/\(-?\d+,-?\d+\)/u, '');
}
