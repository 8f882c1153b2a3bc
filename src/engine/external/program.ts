import { statSync } from 'node:fs';
import { findProgram } from '../../files/paths.ts';
import { EngineError } from '../contract.ts';
import type { ProgramConfig, VoiceSource } from '../source.ts';
import { type ProgramOptions, ProgramRun } from './program-run.ts';

/** Hz, until the header tells. */
const USUAL_RATE = 22_050;

/** No shell sees the arguments. */
export async function openProgram(
  config: ProgramConfig,
  { timeoutMs, env, platform, endGroup }: ProgramOptions,
): Promise<VoiceSource> {
  const { name, command, output, voices = [name], maxChars, concurrency } = config;
  const sampleRate = config.sampleRate ?? USUAL_RATE;
  const program = await findProgram(command[0], env.PATH ?? '', platform);
  if (program === undefined) throw new EngineError('failed', `${name}: there is no program ${command[0]}`);
  const running = new Set<ProgramRun>();
  const identity = `program ${JSON.stringify([command, output, sampleRate])} ${filesIn([program, ...command])}`;
  return {
    name,
    voices: voices.map((voice) => ({
      name: voice,
      language: 'und',
      sampleRate: config.sampleRate,
      usualRate: sampleRate,
    })),
    takesAnyVoice: false,
    identityOf: (voice) => `${identity} ${voice.name}`,
    maxChars,
    concurrency,
    async speak(text, voice, signal) {
      signal.throwIfAborted();
      const known = { ...config, command: [program, ...command.slice(1)] as const };
      const run = new ProgramRun(known, { text, voice: voice.name }, { timeoutMs, env, platform, endGroup });
      running.add(run);
      run.closed.finally(() => running.delete(run));
      return run.sound(signal);
    },
    async [Symbol.asyncDispose]() {
      for (const run of running) run.end();
    },
  };
}

/** A new model file is another voice. */
function filesIn(command: readonly string[]): string {
  const files = command.flatMap((name) => {
    const stats = statSync(name, { throwIfNoEntry: false });
    return stats?.isFile() ? [`${name}:${stats.size}:${stats.mtimeMs}`] : [];
  });
  return files.join(' ');
}
