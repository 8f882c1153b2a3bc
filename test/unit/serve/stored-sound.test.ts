import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callbackBody } from '../../../src/serve/callbacks.ts';
import { type StoredSound, storeSound } from '../../../src/serve/sound.ts';
import { emptyFolder } from '../../support/folder.ts';
import { speechFormat } from '../sound/wav-builder.ts';

async function* pieces(count: number, size: number) {
  for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(i);
}

async function all(sound: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of sound) read.push(piece);
  return Buffer.concat(read);
}

describe('a stored', () => {
  it.each([
    ['nothing', 0, 0],
    ['a little', 3, 1001],
    ['more than memory is set aside for', 100, 100_003],
  ])('of %s can be read as often as wanted', async (_, count, size) => {
    const stored = await storeSound(pieces(count, size));
    const wanted = await all(pieces(count, size));
    expect(stored.bytes).toBe(count * size);
    for (const _time of [1, 2]) expect((await all(stored.read())).equals(wanted)).toBe(true);
    await stored.dispose();
  });

  it('goes to a file while many others are kept in memory, until they are disposed of', async () => {
    const piece = new Uint8Array(1_000_000).fill(7);
    async function* sound() {
      for (let i = 0; i < 3; i++) yield piece;
    }
    const isInMemory = async ({ read }: StoredSound) => {
      for await (const first of read()) return first === piece;
      return false;
    };
    const many: StoredSound[] = [];
    for (let i = 0; i < 25; i++) many.push(await storeSound(sound()));
    expect(await Promise.all(many.map(isInMemory))).toEqual(many.map((_, index) => index < 22));
    expect((await all(many.at(-1)?.read() ?? [])).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    await Promise.all(many.map((stored) => stored.dispose()));
    const later = await storeSound(sound());
    expect(await isInMemory(later)).toBe(true);
    await later.dispose();
  });

  it('is refused, naming the folder, where no temporary file can be written', async () => {
    const missing = join(emptyFolder(), 'missing');
    vi.stubEnv('TMPDIR', missing);
    onTestFinished(() => void vi.unstubAllEnvs());
    const message = `cannot write ${missing}: the folder does not exist`;
    await expect(storeSound(pieces(60, 100_000))).rejects.toMatchObject({ status: 507, message });
  });

  it('fails as its sound fails', async () => {
    async function* broken() {
      yield* pieces(60, 100_000);
      throw new Error('the voice is gone');
    }
    await expect(storeSound(broken())).rejects.toThrow('the voice is gone');
  });
});

const piece = new Uint8Array(1_000_000);

async function* pcm() {
  for (let i = 0; i < 3; i++) yield piece;
}

it('A callback that is given up when its sound is whole keeps none of it in memory.', async () => {
  const given = AbortSignal.abort(new Error('given up'));
  const sound = () => ({ format: speechFormat, speakable: true, pcm: pcm() });
  for (let i = 0; i < 25; i++)
    await expect(callbackBody(Promise.resolve(sound()), given, () => expect.unreachable())).rejects.toThrow(
      'given up',
    );
  // There is room in memory for as many as 22.
  const stored = await storeSound(pcm());
  for await (const first of stored.read()) expect(first).toBe(piece);
  await stored.dispose();
});
