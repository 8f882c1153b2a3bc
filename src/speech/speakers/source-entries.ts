import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { usageError } from '../../error.ts';
import { fromHome } from '../../files/paths.ts';
import type { Host, RunContext } from '../../host.ts';
import type { SourceConfig } from '../../service/engine/external/source-config.ts';
import type { EngineEntry } from '../../settings/engine-kind.ts';
import { canBeOverheard } from '../../settings/key.ts';
import { readKeyFile } from '../../settings/key-file.ts';
import { url } from '../../settings/kind.ts';
import { nearestName } from '../../settings/nearest.ts';
import type { Settings } from '../../settings/resolve.ts';

const MAX_CHARS = 300;
const SERVER_CONCURRENCY = 4;

/** Not run by the tests of this project. */
const PRESETS: Readonly<Record<string, EngineEntry>> = {
  say: {
    command: ['say', '-f', '{text}', '--file-format=WAVE', '--data-format=LEI16@22050', '-o', '{output}'],
  },
  sapi: {
    command: [
      'powershell.exe',
      '-NoProfile',
      '-Command',
      "Add-Type -AssemblyName System.Speech; $voice = New-Object System.Speech.Synthesis.SpeechSynthesizer; $voice.SetOutputToWaveFile('{output}'); $voice.Speak([IO.File]::ReadAllText('{text}')); $voice.Dispose()",
    ],
  },
};

const httpUrl = url('http', 'https');

interface KeyedContext extends RunContext {
  readonly settings: Pick<Settings, 'allowInsecureHttp'>;
}

export function entryOf(
  name: string,
  settings: Settings,
  host: Pick<Host, 'cwd' | 'home'>,
): { readonly name: string; readonly entry: EngineEntry } {
  const asked = settings.engine?.origin.name ?? '--engine';
  if (/^https?:\/\//i.test(name)) {
    if (httpUrl.text(name) === undefined)
      throw usageError(`${asked} is not a complete URL`, 'write it as in http://127.0.0.1:8880/v1');
    return { name: hostOf(name), entry: { url: name } };
  }
  const known = settings.engines?.value.get(name) ?? PRESETS[name];
  if (known) return { name, entry: known };
  const folder = resolve(host.cwd, fromHome(name, host.home));
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (/[/\\]/.test(name) || isFolder) return { name: basename(folder), entry: { model: folder } };
  const there = [...(settings.engines?.value.keys() ?? [])];
  const nearest = nearestName(name, there);
  const list = there.length > 0 ? `; there are: ${there.join(', ')}` : '';
  throw usageError(
    `${asked}: no engine is called ${JSON.stringify(name)}`,
    `${nearest ? `did you mean ${nearest}? ` : ''}Give a URL or a folder, or name it under "engines" in your own config${list}`,
  );
}

export async function configOf(
  name: string,
  entry: EngineEntry,
  context: KeyedContext,
): Promise<SourceConfig> {
  const { host } = context;
  const { voices, sampleRate, maxChars = MAX_CHARS } = entry;
  const common = { name, voices, maxChars };
  const home = (word: string) => fromHome(word, host.home);
  if (entry.url !== undefined) {
    const url = new URL(entry.url.replace(/\/+$/, ''));
    const key = await keyOf(name, entry, url, context);
    const concurrency = entry.concurrency ?? SERVER_CONCURRENCY;
    const { model, format = 'wav' } = entry;
    return { ...common, kind: 'server', url, model, key, format, sampleRate, concurrency };
  }
  const concurrency = entry.concurrency ?? 1;
  const [program, ...rest] = (entry.command ?? []).map(home);
  if (program !== undefined) {
    const output = entry.output ?? 'wav';
    return { ...common, kind: 'program', command: [program, ...rest], output, sampleRate, concurrency };
  }
  const folder = resolve(host.cwd, home(entry.model ?? ''));
  return { ...common, kind: 'model', folder, concurrency };
}

/** It goes to that server only, and over plain http to near ones only. */
async function keyOf(
  name: string,
  { key, keyFile }: EngineEntry,
  url: URL,
  context: KeyedContext,
): Promise<string | undefined> {
  const { host, notices, signal, settings } = context;
  const origin = { place: 'user', name: `engines.${name}.keyFile` } as const;
  const place = { cwd: host.cwd, home: host.home, signal };
  const value = keyFile === undefined ? key : (await readKeyFile({ value: keyFile, origin }, place)).trim();
  if (value === undefined) return undefined;
  notices.hide(value);
  if (!canBeOverheard(url, settings.allowInsecureHttp)) return value;
  throw usageError(
    `the key of the engine ${name} is not sent over plain http to ${url.host}: others could read it on the way`,
    'use https://, or "allowInsecureHttp": true in your own config if you mean it',
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
