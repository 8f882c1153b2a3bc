// Installs each voice of the catalogue from the network, speaks in each of its languages, and writes a report. Run it by
// hand before a release. It continues after a failure, and ends with status 1 if there was one.
//   npm run voices:check -- [--report FILE.md] [NAME...]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Two sentences in each language. Other languages get the English ones, which show at least that the model works. */
const SENTENCES = {
  ar: 'صباح الخير. هذا الصوت مثبت منذ لحظة، وهو يقرأ الآن جملتين قصيرتين.',
  de: 'Guten Morgen. Diese Stimme wurde vor einem Augenblick installiert, und sie liest nun zwei kurze Sätze.',
  es: 'Buenos días. Esta voz se instaló hace un momento, y ahora lee dos frases cortas.',
  fr: 'Bonjour. Cette voix vient d’être installée, et elle lit maintenant deux courtes phrases.',
  it: 'Buongiorno. Questa voce è stata installata un momento fa, e ora legge due brevi frasi.',
  ja: 'おはようございます。この声は、たった今インストールされました。',
  ko: '안녕하세요. 이 목소리는 방금 설치되었습니다.',
  nl: 'Goedemorgen. Deze stem werd zojuist geïnstalleerd, en leest nu twee korte zinnen.',
  pl: 'Dzień dobry. Ten głos został właśnie zainstalowany i czyta teraz dwa krótkie zdania.',
  pt: 'Bom dia. Esta voz foi instalada agora mesmo, e lê duas frases curtas.',
  ru: 'Доброе утро. Этот голос только что установлен, и сейчас он читает два коротких предложения.',
  tr: 'Günaydın. Bu ses az önce kuruldu ve şimdi iki kısa cümle okuyor.',
  uk: 'Доброго ранку. Цей голос щойно встановлено, і зараз він читає два короткі речення.',
  en: 'Good morning. This voice was installed a moment ago, and it now reads two short sentences, so that its pace and its level can be measured.',
};

const args = process.argv.slice(2);
const at = args.indexOf('--report');
const [, reportFile] = at < 0 ? [] : args.splice(at, 2);
const folder = mkdtempSync(join(tmpdir(), 'tts-voices-'));
const env = { ...process.env, TTS_DATA_DIR: join(folder, 'data'), TTS_CACHE: '0' };
const tts = (...line) => spawnSync(process.execPath, ['bin/tts.cjs', ...line], { env, encoding: 'utf8' });
const said = ({ stderr }) => {
  const lines = stderr.trim().split('\n');
  const told = lines.find((line) => line.startsWith('tts: ') || line.startsWith('{"error"'));
  return told?.startsWith('{') ? JSON.parse(told).error.message : (told ?? 'it ended without a word');
};

/** The level of 16-bit samples in dBFS, and the number of clipped ones. */
function measured(wav) {
  const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer.slice(0, (wav.length - 44) & ~1));
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length);
  const clipped = samples.filter((sample) => Math.abs(sample) >= 32_767).length;
  return { level: 10 * Math.log10(power / 2 ** 30), clipped };
}

/** Speaks once, and reports what is wrong with the sound, if anything. */
function spoken(name, language) {
  const text = SENTENCES[language.split('-')[0]] ?? SENTENCES.en;
  const out = join(folder, 'out.wav');
  const words = join(folder, 'words.json');
  const outputs = ['-o', out, '--json', '--subtitles', words, '--words'];
  const run = tts('-s', name, text, '--language', language, ...outputs);
  if (run.status !== 0) return { fault: said(run) };
  const { duration, seconds } = JSON.parse(run.stdout);
  const { level, clipped } = measured(readFileSync(out));
  const pace = duration / text.length;
  const isAligned = readFileSync(words, 'utf8').includes('"words"');
  const fault =
    pace < 0.03 || pace > 0.4
      ? `${duration.toFixed(1)} s for ${text.length} characters`
      : level < -40
        ? `next to silent: ${level.toFixed(0)} dB`
        : clipped > 10
          ? `${clipped} samples are clipped`
          : isAligned
            ? undefined
            : 'its words have no times';
  return { fault, duration, level, realTime: duration / seconds };
}

const { voices } = JSON.parse(execFileSync(process.execPath, ['bin/tts.cjs', 'voices', '--json'], { env }));
const unknown = args.filter((name) => !voices.some((voice) => voice.name === name));
if (unknown.length > 0) throw new Error(`the catalogue has no ${unknown.join(', ')}`);
const rows = [];
const note = (row) => {
  rows.push(row);
  console.log(row.join('  '));
};
let failures = 0;
for (const { name, language, languages = [language] } of voices) {
  if (args.length > 0 && !args.includes(name)) continue;
  const installed = tts('voices', 'install', name, '--accept-licence');
  const verified = installed.status === 0 ? tts('voices', 'verify', name) : installed;
  if (verified.status !== 0) {
    failures += 1;
    note([name, language, '-', '-', '-', said(verified)]);
  } else
    for (const each of languages) {
      const { fault, duration, level, realTime } = spoken(name, each);
      if (fault) failures += 1;
      const figures =
        duration === undefined
          ? ['-', '-', '-']
          : [duration.toFixed(1), level.toFixed(1), `${realTime.toFixed(1)}x`];
      note([name, each, ...figures, fault ?? 'good']);
    }
  tts('voices', 'remove', name);
}
rmSync(folder, { recursive: true, force: true });
const head = ['voice', 'language', 'seconds', 'dB', 'real time', 'result'];
const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
if (reportFile) writeFileSync(reportFile, `${table}\n`);
console.log(failures === 0 ? 'all voices speak' : `${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;
