/**
 * Measures the check that a sound says its text (src/voices/proof.ts): the share of planted faults that it finds, the share
 * of good segments that it doubts, and its cost in CPU time.
 * `npm run build && node bench/proof.mjs [--segments 500] [--offset 1] [--voices slt,espeak] [--rows FILE] BOOK...`
 *
 * The texts are segments of the books, cut as in a run: sentences, and passages of up to 300 and 600 characters. All voices
 * say the same texts, and faults are planted in every tenth segment. Voices: built-in ones, espeak-ng, festival
 * (festvox-kallpc16k, festvox-us-slt-hts), and pico2wave (libttspico-utils), those of them that are installed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const { values: options, positionals: books } = parseArgs({
  allowPositionals: true,
  options: {
    segments: { type: 'string', default: '500' },
    offset: { type: 'string', default: '0' },
    voices: { type: 'string' },
    rows: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
// Next to the packages, so that they are found.
const folder = mkdtempSync(join(root, 'node_modules/.proof-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const signal = new AbortController().signal;

const { Comparable, Judge, Reference, isComparable, likenessOf, sentences } = await bundled(
  `export { Comparable, Judge, isComparable, likenessOf } from '../../src/voices/proof.ts';
  export { Reference } from '../../src/voices/timed-words.ts';
  export { sentences } from '../../src/text/sentences.ts';`,
);
const reference = new Reference(
  { env: process.env, platform: process.platform, runtime: process.versions.node },
  pathToFileURL(join(root, 'dist/worker.cjs')),
);

async function bundled(source) {
  const input = join(folder, 'entry.ts');
  writeFileSync(input, source);
  const bundle = await rolldown({
    input,
    external: (id) => !/^(?:[./\0]|@echogarden.speex|@oxc-project)/.test(id),
    platform: 'node',
    transform: { target: 'es2023' },
  });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'bundle.mjs', codeSplitting: false });
  return import(pathToFileURL(join(folder, 'bundle.mjs')));
}

/** Voices. `says` speaks texts into WAV files with 16 bits and one channel. */
const VOICES = {
  slt: { says: builtIn(2) },
  awb: { says: builtIn(3) },
  kal16: { says: builtIn(4) },
  espeak: { program: 'espeak-ng', says: program((wav) => ['-v', 'en-us', '--stdin', '-w', wav]) },
  'espeak-gb': {
    program: 'espeak-ng',
    says: program((wav) => ['-v', 'en-gb-x-rp+f3', '--stdin', '-w', wav]),
  },
  'festival-kal': { program: 'festival', says: festival('voice_kal_diphone') },
  'festival-slt': { program: 'festival', says: festival('voice_cmu_us_slt_arctic_hts') },
  pico: { program: 'pico2wave', says: program((wav) => ['-l', 'en-US', '-w', wav]) },
  'pico-gb': { program: 'pico2wave', says: program((wav) => ['-l', 'en-GB', '-w', wav]) },
};

function builtIn(no) {
  return async (jobs) => {
    for (const { text, wav } of jobs) {
      const { pieces, sampleRate } = await reference.speak(text, signal, { no });
      writeWav(
        wav,
        Buffer.concat(
          pieces.map((piece) => new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)),
        ),
        sampleRate,
      );
    }
  };
}

function program(args) {
  return (jobs, name) => {
    for (const { text, wav } of jobs)
      execFileSync(name, args(wav), { input: text, stdio: ['pipe', 'ignore', 'ignore'] });
  };
}

/** Speaks all sentences in one process, since it takes half a second to start. */
function festival(voice) {
  return (jobs) => {
    const plain = (text) =>
      text
        .replace(/[“”"\\]/g, ' ')
        .replace(/[‘’]/g, "'")
        .replace(/[—–]/g, ', ')
        .replace(/[^\x20-\x7e]/g, '')
        .trim();
    const parts = jobs.map(({ text, wav }) =>
      [...sentences(text)]
        .map(plain)
        .filter((sentence) => /[a-z]/i.test(sentence))
        .map((sentence, at) => ({ sentence, wav: `${wav}.${at}` })),
    );
    const lines = parts
      .flat()
      .map(
        ({ sentence, wav }) => `(utt.save.wave (utt.synth (Utterance Text "${sentence}")) "${wav}" 'riff)`,
      );
    writeFileSync(join(folder, 'say.scm'), [`(${voice})`, ...lines].join('\n'));
    execFileSync('festival', ['-b', join(folder, 'say.scm')], { stdio: 'ignore' });
    for (const [at, { wav }] of jobs.entries()) {
      const said = parts[at].map((part) => readWav(part.wav));
      writeWav(wav, Buffer.concat(said.map(({ pcm }) => pcm)), said[0].sampleRate);
      for (const part of parts[at]) rmSync(part.wav);
    }
  };
}

function writeWav(path, pcm, sampleRate) {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(1 + 2 ** 16, 20);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(2 * sampleRate, 28);
  head.writeUInt32LE(2 + 16 * 2 ** 16, 32);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length, 40);
  writeFileSync(path, Buffer.concat([head, pcm]));
}

function readWav(path) {
  const file = readFileSync(path);
  const from = file.indexOf('data', 12) + 8;
  return {
    sampleRate: file.readUInt32LE(24),
    pcm: file.subarray(from, file.length - ((file.length - from) % 2)),
  };
}

/** The generator of Numerical Recipes, for the same texts and faults in each run. */
function randomFrom(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((below * state) / 2 ** 32);
  };
}

function paragraphsOf(book) {
  const text = execFileSync(process.execPath, [join(root, 'bin/tts.cjs'), '--show-text', '-f', book], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
  });
  return text.split(/\n\s*\n/).map((paragraph) => paragraph.replace(/\s+/g, ' ').trim());
}

/** Possible lengths of segments in UTF-16 units; 0 makes a single sentence. */
const SIZES = [0, 0, 0, 0, 0, 300, 300, 600];

function segmentsOf(paragraphs, count, random) {
  const found = [];
  let [segment, most] = ['', 0];
  for (const sentence of paragraphs.flatMap((paragraph) =>
    [...sentences(paragraph)].map((each) => each.trim()),
  )) {
    const longer = `${segment} ${sentence}`.trim();
    if (segment === '' || longer.length <= most) segment = longer;
    else {
      if (isComparable('en', segment)) found.push(segment);
      [segment, most] = [sentence, SIZES[random(SIZES.length)]];
    }
  }
  const step = Math.max(1, Math.floor(found.length / count));
  return found.filter((_, at) => at % step === Number(options.offset)).slice(0, count);
}

/** Faults to plant in the spoken text or in its sound. The functions return `undefined` if that is not possible. */
const FAULTS = {
  'a sentence missing': { text: withoutSentence },
  'the last third missing': { sound: ({ pcm }) => pcm.subarray(0, 2 * Math.floor(pcm.length / 3)) },
  'a word twice': { text: withWordTwice },
  'another text': { sound: anotherOfItsLength },
  'babble at the end': { sound: withBabble },
};

function withoutSentence(text, random) {
  const all = [...sentences(text)];
  const out = random(all.length);
  return all.length > 1 && all[out].length > 15
    ? all
        .filter((_, at) => at !== out)
        .join('')
        .trim()
    : undefined;
}

function withWordTwice(text, random) {
  const words = text.split(' ');
  const places = [...words.keys()].filter(
    (at) => /^[a-z]{3,}$/i.test(words[at]) && words[at] !== words[at + 1] && words[at] !== words[at - 1],
  );
  const place = places[random(places.length)];
  return place === undefined ? undefined : words.toSpliced(place, 0, words[place]).join(' ');
}

function anotherOfItsLength({ pcm }, others) {
  const distance = (other) => Math.abs(other.pcm.length / pcm.length - 1);
  const [best] = others.filter((other) => other.pcm !== pcm).sort((a, b) => distance(a) - distance(b));
  return best && distance(best) < 0.1 ? best.pcm : undefined;
}

/** Appends 1.5 to 3.5 seconds of another text. */
function withBabble({ pcm, sampleRate }, others, random) {
  const other = others[random(others.length)].pcm;
  const bytes = 2 * Math.round(sampleRate * (1.5 + random(5) / 2));
  return Buffer.concat([pcm, other.subarray(0, bytes)]);
}

const said = new Map();
const cost = { seconds: 0, cpu: 0 };

async function likenessTo(text, { pcm, sampleRate }) {
  const before = process.cpuUsage();
  const sound = new Comparable({ encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 }, 0.02);
  sound.push(pcm);
  const isNew = !said.has(text);
  if (isNew) said.set(text, await reference.speak(text, signal));
  const likeness = likenessOf(await sound.besides(said.get(text)));
  const { user, system } = process.cpuUsage(before);
  if (isNew) cost.cpu += (user + system) / 1e6;
  if (isNew) cost.seconds += sound.seconds;
  return { ...likeness, seconds: sound.seconds };
}

async function measure(name, { says, program: needed }, texts, seed) {
  const random = randomFrom(seed);
  const jobs = texts.map((text, at) => ({ text, at, wav: join(folder, `${at}.wav`) }));
  const planted = jobs
    .filter(({ at }) => at % 20 < 2)
    .flatMap(({ text, at }) =>
      Object.entries(FAULTS).flatMap(([fault, { text: change }], number) => {
        const changed = change?.(text, random);
        return changed === undefined
          ? []
          : [{ text: changed, fault, at, wav: join(folder, `${at}-${number}.wav`) }];
      }),
    );
  await says([...jobs, ...planted], needed);
  const sounds = jobs.map(({ wav }) => readWav(wav));
  const judge = new Judge();
  const rows = [];
  const tell = async (at, kind, sound) => {
    const likeness = await likenessTo(texts[at], sound);
    rows.push({ voice: name, at, kind, ...likeness, doubt: judge.doubtOf(likeness), text: texts[at] });
  };
  for (const at of texts.keys()) {
    await tell(at, 'good', sounds[at]);
    for (const { fault, wav } of planted.filter((each) => each.at === at))
      await tell(at, fault, readWav(wav));
    for (const [fault, { sound }] of at % 20 < 2 ? Object.entries(FAULTS) : []) {
      const pcm = sound?.(sounds[at], sounds, random);
      if (pcm) await tell(at, fault, { ...sounds[at], pcm });
    }
  }
  for (const { wav } of [...jobs, ...planted]) if (existsSync(wav)) rmSync(wav);
  return rows;
}

const texts = segmentsOf(books.flatMap(paragraphsOf), Number(options.segments), randomFrom(1));
const all = [];
const wanted = options.voices?.split(',') ?? Object.keys(VOICES);
for (const [seed, name] of Object.keys(VOICES).entries()) {
  if (!wanted.includes(name)) continue;
  try {
    all.push(...(await measure(name, VOICES[name], texts, seed + 1)));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.log(`${name}: skipped, since ${VOICES[name].program} is not installed`);
  }
  if (options.rows) writeFileSync(options.rows, JSON.stringify(all));
}
await reference[Symbol.asyncDispose]();

function share(rows) {
  return `${rows.filter(({ doubt }) => doubt !== undefined).length}/${rows.length}`;
}

console.log(`doubted of all\n| voice | good | ${Object.keys(FAULTS).join(' | ')} |`);
for (const name of [...new Set(all.map(({ voice }) => voice)), 'all']) {
  const rows = all.filter(({ voice }) => name === 'all' || voice === name);
  const cells = ['good', ...Object.keys(FAULTS)].map((kind) =>
    share(rows.filter((row) => row.kind === kind)),
  );
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
console.log(`\n${(cost.cpu / cost.seconds).toFixed(4)} s of CPU for a second of sound, with the reference`);
for (const { voice, doubt, text } of all.filter(({ kind, doubt }) => kind === 'good' && doubt))
  console.log(`${voice}: ${doubt}: ${text.slice(0, 100)}`);
