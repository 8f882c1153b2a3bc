import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { SourceConfig } from '../engine/source.ts';
import { type TtsError, usageError } from '../error.ts';
import { fromHome } from '../files/paths.ts';
import type { Host } from '../host.ts';
import { nearestName } from '../nearest.ts';
import { type EngineEntry, isAddress, serverAddress } from '../settings/engine-kind.ts';
import type { Setting, Settings } from '../settings/resolve.ts';
import { authorizationOf, type KeyedContext, keyForAddress } from './engine-key.ts';

const MAX_CHARS = 300;
const SERVER_CONCURRENCY = 4;

/** The tests of this project do not run them. */
const PRESETS: ReadonlyMap<string, EngineEntry> = new Map([
  [
    'say',
    {
      command: ['say', '-f', '{text}', '--file-format=WAVE', '--data-format=LEI16@22050', '-o', '{output}'],
    },
  ],
  [
    'sapi',
    {
      command: [
        'powershell.exe',
        '-NoProfile',
        '-Command',
        "Add-Type -AssemblyName System.Speech; $voice = New-Object System.Speech.Synthesis.SpeechSynthesizer; $voice.SetOutputToWaveFile('{output}'); $voice.Speak([IO.File]::ReadAllText('{text}')); $voice.Dispose()",
      ],
    },
  ],
]);

/**
 * A project names engines of the user's own config. It brings none: no address, no folder, and no preset, which is a program.
 * @throws TtsError (usage) for an unknown name
 */
export function entryOf(
  chosen: Setting<string>,
  { engines }: Pick<Settings, 'engines'>,
  host: Pick<Host, 'cwd' | 'home'>,
): { readonly name: string; readonly entry: EngineEntry } {
  const { value: name, origin } = chosen;
  const own = engines?.value.get(name);
  if (own) return { name, entry: own };
  const there = [...(engines?.value.keys() ?? [])];
  if (origin.place === 'project') throw unknownEngine(chosen, there);
  if (isAddress(name)) {
    const entry = { url: name, ...keyForAddress(name, engines) };
    return { name: serverAddress(name)?.url.host ?? name, entry };
  }
  const preset = PRESETS.get(name);
  if (preset) return { name, entry: preset };
  const folder = resolve(host.cwd, fromHome(name, host.home));
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (/[/\\]/.test(name) || isFolder) return { name: basename(folder), entry: { model: folder } };
  throw unknownEngine(chosen, there);
}

function unknownEngine({ value: name, origin }: Setting<string>, there: readonly string[]): TtsError {
  const nearest = nearestName(name, there);
  const advice = origin.place === 'project' ? 'Name it' : 'Give a URL or a folder, or name it';
  const list = there.length > 0 ? `; there are: ${there.join(', ')}` : '';
  return usageError(
    `${origin.name}: no engine is called ${JSON.stringify(name)}`,
    `${nearest ? `did you mean ${nearest}? ` : ''}${advice} under "engines" in your own config${list}`,
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
    const address = serverAddress(entry.url);
    if (!address) throw new RangeError(`${name} has no address`);
    const { url } = address;
    const keyed = await authorizationOf(name, entry, address, context);
    const concurrency = entry.concurrency ?? SERVER_CONCURRENCY;
    const { model, format = 'wav' } = entry;
    return { ...common, kind: 'server', url, model, ...keyed, format, sampleRate, concurrency };
  }
  const concurrency = entry.concurrency ?? 1;
  const [program, ...rest] = (entry.command ?? []).map(home);
  if (program !== undefined) {
    const output = entry.output ?? 'wav';
    return { ...common, kind: 'program', command: [program, ...rest], output, sampleRate, concurrency };
  }
  const folder = resolve(host.cwd, home(entry.model ?? ''));
  return { ...common, kind: 'model', folder, language: entry.language, concurrency };
}
