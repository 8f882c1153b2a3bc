import { expect, it } from 'vitest';
import { callbackBody } from '../../../src/serve/callbacks.ts';
import { storeSound } from '../../../src/serve/sound.ts';
import { speechFormat } from '../sound/wav-builder.ts';

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
