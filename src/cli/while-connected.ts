import type { Context } from './commands.ts';
import { type Connection, connect, type ServiceEvent } from './connect.ts';
import { openService } from './open-service.ts';
import { isKept, type Task } from './task.ts';
import { whileOpen } from './while-open.ts';

interface Use<Result> {
  readonly tell: (event: ServiceEvent) => void;
  readonly use: (connection: Connection) => Promise<Result>;
}

/** Connects to the service, the built-in one if no other is named, for as long as it is used. */
export async function whileConnected<Result>(
  { service, settings, espeak }: Pick<Task, 'service' | 'settings' | 'espeak'>,
  context: Context,
  { tell, use }: Use<Result>,
): Promise<Result> {
  if (service?.note) context.notices.note(service.note);
  return whileOpen(await openService(service, espeak), async (target) => {
    const caching = isKept({ service, settings })
      ? await (await import('./caching.ts')).openCaching(settings, context)
      : undefined;
    return whileOpen(await connect(target, settings, { tell, caching }), use);
  });
}
