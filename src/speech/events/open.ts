import type { Drops } from '../../drops.ts';
import type { RunContext } from '../../host.ts';
import type { Delivery, Sink } from '../../sink/sink.ts';
import { Events } from './events.ts';
import { openEventLog } from './log.ts';
import { Places } from './places.ts';

/** What `--events` needs of a run. Closing it tells that the run failed, unless its end was told before. */
export interface RunEvents extends AsyncDisposable {
  readonly listener: Events;
  readonly places: Places;
  end(delivery: Delivery | undefined): void;
}

/**
 * @param where the value of `--events`
 * @throws TtsError (usage) for a descriptor that is not open, (output) for a file that cannot be written
 */
export async function openEvents(
  where: string,
  { played }: Sink,
  { host, signal, drops }: Pick<RunContext, 'host' | 'signal'> & { readonly drops: Drops },
): Promise<RunEvents> {
  const log = await openEventLog(where, host.cwd, signal);
  const listener = new Events({ write: (line) => log.write(line), heard: played });
  const interrupt = () => listener.stop('interrupted');
  signal.addEventListener('abort', interrupt, { once: true });
  drops.listen(() => listener.drop());
  return {
    listener,
    places: new Places(),
    end(delivery) {
      if (delivery?.readerLeft) listener.stop('left');
      else if (!delivery?.failure) listener.finish();
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', interrupt);
      listener.stop('failed');
      await log[Symbol.asyncDispose]();
    },
  };
}
