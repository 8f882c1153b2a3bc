import { ExitCode, usageError } from '../kit/error.ts';
import { noSegmentFolder, segmentFolder } from '../kit/folders.ts';
import { bytesInWords, countOf, visible } from '../kit/words.ts';
import { serverAddress } from '../options/engine-entry.ts';
import { loadSettings, resolveSettings } from '../options/load.ts';
import { addressOf, makersAt } from '../voices/cache-entry.ts';
import { clearCache, type EntryTotals, measureCache } from '../voices/cache-store.ts';
import { cacheLimit } from '../voices/run-cache.ts';
import type { CommandLine, Context } from './commands.ts';
import { askYes } from './print.ts';

export async function run({ flags, words: [clear] }: CommandLine, context: Context): Promise<number> {
  const { host, notices } = context;
  const { older, service, yes } = resolveSettings({ flags });
  const folder = segmentFolder(host);
  if (folder === undefined) throw noSegmentFolder();
  const makers = service && (await makersOf(service.value, folder));
  const choice = { unusedFor: older?.value, makers };
  const chosen = await measureCache(folder, choice);
  if (!clear) {
    const { bytes, entries } = chosen;
    notices.result(notices.json ? { folder, bytes, entries } : await sizeLines(folder, chosen, context));
  } else if (yes.value || (await isAgreed(chosen, context))) {
    const { entries, bytes } = await clearCache(folder, choice);
    const removed = `removed ${countOf(entries, 'entry', 'entries')}, ${bytesInWords(bytes)} freed`;
    notices.result(
      notices.json ? { folder, removed: entries, freed: bytes } : `${removed}, from ${visible(folder)}`,
    );
  }
  return ExitCode.ok;
}

/** @throws TtsError (usage) for a service without entries in the cache */
async function makersOf(url: string, folder: string): Promise<ReadonlySet<string>> {
  const address = addressOf(url);
  // For a service, the address with /v1 and the one without are different; for an engine, they are the same.
  const makers = makersAt(address, [address, serverAddress(url)?.url.href ?? address]);
  if ((await measureCache(folder, { makers })).entries > 0) return makers;
  throw usageError(
    `the cache holds no segments of ${address}`,
    'give the address of a service or of an engine, as --base-url or --engine had it',
  );
}

async function isAgreed({ entries, bytes }: EntryTotals, context: Context): Promise<boolean> {
  if (entries === 0) return true;
  const what = `${countOf(entries, 'entry', 'entries')} (${bytesInWords(bytes)})`;
  return (await askYes(`Remove ${what}? They were paid for once.`, context)) ?? true;
}

async function sizeLines(folder: string, { entries, bytes }: EntryTotals, context: Context): Promise<string> {
  const { settings } = await loadSettings({ flags: {} }, context);
  const limit = cacheLimit(settings, context.host);
  const hours = `${hoursOf(bytes)} of ${hoursOf(limit)} at ${USUAL_RATE} Hz`;
  return [
    `folder   ${visible(folder)}`,
    `size     ${bytesInWords(bytes)}`,
    `entries  ${entries}`,
    `limit    ${bytesInWords(limit)}`,
    `hours    ${hours}`,
  ].join('\n');
}

/** Hz. The API of a service promises this rate. */
const USUAL_RATE = 22_050;
const BYTES_PER_HOUR = USUAL_RATE * 2 * 3600;

/** Rounded to a tenth. */
function hoursOf(bytes: number): number {
  return Math.round((bytes / BYTES_PER_HOUR) * 10) / 10;
}
