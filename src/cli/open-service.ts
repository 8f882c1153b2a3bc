import type { Espeak } from '../service/engine/espeak-voices.ts';
import type { NamedService } from './service.ts';

/** A service that can be spoken to until it is closed. */
export interface OpenService extends NamedService {
  close(): Promise<void>;
}

/**
 * The service that was named, or the built-in one, which runs for as long as it is used and is loaded only then.
 * @param espeak what the built-in one has further voices from
 */
export async function openService(
  named: NamedService | undefined,
  espeak: Espeak | undefined,
): Promise<OpenService> {
  if (named) return { ...named, close: async () => {} };
  const { startBuiltIn } = await import('./built-in.ts');
  return startBuiltIn(espeak);
}
