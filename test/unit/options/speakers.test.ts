import { expect, it } from 'vitest';
import { check } from '../../../src/kit/schema.ts';
import { speakers } from '../../../src/options/kinds.ts';
import { type ConfigFile, resolveSettings } from '../../../src/options/load.ts';

it('Speakers of several config files are known together, the nearer going first.', () => {
  const file = (place: ConfigFile['place'], named: object): ConfigFile => ({
    path: `/${place}/.ttsrc`,
    folder: `/${place}`,
    place,
    values: { speakers: Object(check(speakers, named)).value },
  });
  const files = [file('project', { anna: 1 }), file('user', { anna: 2, bert: 3 })];
  expect(Object.fromEntries(resolveSettings({ flags: {}, env: {}, files }).speakers?.value ?? [])).toEqual({
    anna: { no: 1 },
    bert: { no: 3 },
  });
});
