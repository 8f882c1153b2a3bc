import { readFileSync, statSync } from 'node:fs';
import { usageError } from '../kit/error.ts';
import { pathOf, reasonUnread } from '../kit/folders.ts';
import type { RunContext } from '../kit/host.ts';
import { visible } from '../kit/words.ts';
import type { About } from '../read/reading.ts';
import type { Cover, Tags } from '../sound/pcm.ts';
import type { Voice } from '../sound/voice.ts';

export interface TagsPlan {
  readonly title: string | undefined;
  readonly author: string | undefined;
  /** The user's own name for the voice. */
  readonly speaker: string | undefined;
  /** The name of a file. */
  readonly cover: string | undefined;
}

/**
 * Merges the tags of the options and of the document; the options win.
 * @throws TtsError (usage) for a cover file that cannot be read
 */
export async function tagsOf(
  { title, author, speaker, cover: file }: TagsPlan,
  { about = {}, voice }: { readonly about: About | undefined; readonly voice: Pick<Voice, 'name'> },
  { host, notices, signal }: RunContext,
): Promise<Tags> {
  const { cover: ofBook, ...told } = about;
  const bytes = file === undefined ? await ofBook?.(signal) : coverFile(file, host.cwd);
  const leaveOut = (why: string) => notices.warn(`the cover is left out: ${why}`);
  if (!bytes && ofBook) leaveOut('the book does not hold it, or it is far too large');
  const cover = bytes && usableCover(bytes, leaveOut);
  return {
    ...told,
    title: title ?? told.title,
    author: author ?? told.author,
    narrator: voice.name ?? speaker,
    cover,
  };
}

function coverFile(name: string, cwd: string): Uint8Array {
  try {
    const path = pathOf(cwd, name);
    if (!statSync(path).isFile()) throw new Error('it is not a file');
    // A file that is too large is not read: any array of this length is left out.
    if (statSync(path).size > LARGEST_COVER) return new Uint8Array(LARGEST_COVER + 1);
    return readFileSync(path);
  } catch (error) {
    throw usageError(
      `--cover ${visible(name)}: ${reasonUnread(error)}`,
      'name a picture in JPEG or PNG that can be read',
    );
  }
}

/** Bytes. In Ogg, the picture is a comment in text form, which ffmpeg reads whole. */
const LARGEST_COVER = 16 * 1024 * 1024;

/** Goes by the first bytes: file names and declared types of covers are often wrong. */
function usableCover(bytes: Uint8Array, leaveOut: (why: string) => void): Cover | undefined {
  const start = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  const mediaType = start.startsWith('ffd8ff')
    ? 'image/jpeg'
    : start === '89504e470d0a1a0a'
      ? 'image/png'
      : undefined;
  if (mediaType !== undefined && bytes.length <= LARGEST_COVER) return { mediaType, bytes };
  const isLarge = bytes.length > LARGEST_COVER;
  leaveOut(isLarge ? 'it has more than 16 MB' : 'players take JPEG and PNG, and it is neither');
  return undefined;
}
