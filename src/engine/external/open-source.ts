import type { Host } from '../../host.ts';
import type { SourceConfig, VoiceSource } from '../source.ts';

export interface OpenOptions {
  readonly host: Pick<Host, 'env' | 'platform' | 'execPath' | 'endGroup'>;
  readonly signal: AbortSignal;
  /** The longest time without a byte. */
  readonly timeoutMs: number;
  /** Folders with a `node_modules` in which the runtime of models may lie. */
  readonly runtimes: readonly string[];
}

/** @throws EngineError with what is missing */
export async function openSource(config: SourceConfig, options: OpenOptions): Promise<VoiceSource> {
  const { host, signal, timeoutMs, runtimes } = options;
  if (config.kind === 'server')
    return (await import('./server.ts')).openServer(config, { timeoutMs, signal });
  if (config.kind === 'program') {
    const { openProgram } = await import('./program.ts');
    return openProgram(config, {
      timeoutMs,
      env: host.env,
      platform: host.platform,
      endGroup: (pid) => host.endGroup(pid),
    });
  }
  const { openModel } = await import('../model/source.ts');
  return openModel(config, { env: host.env, execPath: host.execPath, runtimes });
}
