import { existsSync, statSync, utimesSync } from 'node:fs';
import { expect, it } from 'vitest';
import { failingCall, MODES } from '../support/failing-calls.ts';
import { serveRows, wavOf } from '../support/row-service.ts';
import { named, Sandbox } from '../support/run.ts';

/** A run that was killed before it wrote its name into its lock counts as alive for a minute. */
function forgetOwner(lock: string): void {
  if (statSync(lock, { throwIfNoEntry: false })?.size === 0) utimesSync(lock, 0, 0);
}

const ROWS = ['one', 'two'];

it.each(MODES)(
  'A batch is whole after a fault at each place and a second run: %s',
  {
    timeout: 240_000,
  },
  async (mode) => {
    const { url } = await serveRows();
    const whole = new Sandbox();
    const table = `id,text\n${ROWS.map((text) => `${text},${text}\n`).join('')}`;
    whole.file('p.csv', table);
    const args = ['batch', 'p.csv', '-q', '--concurrency', '1'];
    expect(await whole.tts(args, { env: named(url) })).toMatchObject({ status: 0 });
    for (let at = 1; ; at += 1) {
      const box = new Sandbox();
      box.file('p.csv', table);
      const failing = failingCall(box, at, mode);
      const broken = await box
        .tts(args, { env: { ...named(url), ...failing.env } })
        .catch(() => ({ status: null }));
      const call = failing.hit();
      // A file that has its name is whole.
      for (const text of ROWS)
        if (existsSync(box.path(`${text}.wav`)))
          expect(box.read(`${text}.wav`), `${text} at ${at}`).toEqual(Buffer.from(wavOf(text)));
      if (call && mode === 'kill') expect(broken.status).toBe(null);
      if (!call) {
        expect(broken.status).toBe(0);
        // Otherwise nothing was tried.
        expect(at).toBeGreaterThan(10);
        return;
      }
      forgetOwner(box.path('tts-batch.lock'));
      expect(await box.tts(args, { env: named(url) }), `again behind ${at}`).toMatchObject({ status: 0 });
      expect(box.list(), `files behind ${at}`).toEqual(whole.list());
      expect(box.read('tts-batch.jsonl')).toEqual(whole.read('tts-batch.jsonl'));
    }
  },
);
