import { join } from 'node:path';
import { ExitCode, usageError } from '../../error.ts';
import { espeakFolder, missingEspeak } from '../../install/espeak.ts';
import { addressIn } from '../../install/fetch/hub.ts';
import { findOffer } from '../../install/offer.ts';
import { findRuntime, RUNTIME, RUNTIME_BYTES } from '../../install/runtime.ts';
import type { Session } from '../../install/session.ts';
import { inMegabytes } from '../../install/store.ts';
import { bytesOf, type PinnedFile, type Repository } from '../../installed/catalogue.ts';
import { voicesFolder } from '../../installed/manifest.ts';
import { visible } from '../../printable.ts';
import type { Context } from '../context.ts';
import type { VoicesLine } from './line.ts';

/** Says what an installation would download, and where to. */
export async function showPlan(
  { flags, names, data }: VoicesLine,
  session: Session,
  context: Context,
): Promise<number> {
  if (flags.from !== undefined)
    throw usageError(
      '--dry-run shows what is downloaded, and --from downloads nothing of the catalogue',
      'leave one of them out',
    );
  const { catalogue, hub } = session;
  const runtime = await findRuntime({ data }, context);
  const voices = [];
  for (const name of names) {
    const offer = await findOffer(name, session);
    const repository = catalogue.repositories[offer.from] as Repository;
    const espeak = missingEspeak(catalogue, offer.espeak, data);
    const located = (from: Repository) => (file: PinnedFile) => ({
      ...file,
      url: addressIn(hub, from, file).href,
    });
    voices.push({
      ...{ name: offer.name, key: offer.key, licence: offer.licence, class: offer.class },
      bytes: bytesOf([...offer.files, ...espeak]),
      folder: join(voicesFolder(data), offer.name),
      files: [
        ...offer.files.map(located(repository)),
        ...espeak.map(located(catalogue.repositories.espeak as Repository)),
      ],
    });
  }
  const needed =
    runtime === undefined ? { name: RUNTIME, ...RUNTIME_BYTES, folder: join(data, 'runtime') } : undefined;
  const { notices } = context;
  if (notices.json) notices.result({ voices, runtime: needed ?? runtime });
  else {
    const lines = voices.map(
      ({ name, licence, bytes, folder }) => `${name}  ${inMegabytes(bytes)}, ${licence}, into ${folder}`,
    );
    const shared =
      voices.length > 0 ? [`data of espeak-ng go into ${join(data, espeakFolder(catalogue))}`] : [];
    const more = needed
      ? [
          `${RUNTIME}  ${inMegabytes(needed.download)} by npm, ${inMegabytes(needed.disk)} into ${needed.folder}`,
        ]
      : [];
    notices.result([...lines, ...shared, ...more].map(visible).join('\n'));
  }
  return ExitCode.ok;
}
