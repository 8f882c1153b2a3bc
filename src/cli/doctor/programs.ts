import { ENCODINGS } from '../../sink/encoding/names.ts';
import { encodingOf } from '../../sink/encodings.ts';
import type { Context } from '../context.ts';
import { countOf } from '../terminal/style.ts';
import { examine, type Finding, skipped } from './finding.ts';

/** Tells which formats of sound can be written here. */
export async function examineEncoders({ host }: Pick<Context, 'host'>): Promise<Finding> {
  const written: string[] = [];
  const lacking = new Map<string, string | undefined>();
  for (const encode of ENCODINGS) {
    const finding = await examine(encode, async () => {
      await encodingOf('', { encode, programs: host }).assertReady();
      return '';
    });
    if (finding.state === 'good') written.push(encode);
    else lacking.set(encode, finding.hint);
  }
  const [hint] = lacking.values();
  return {
    name: 'formats',
    state: 'good',
    detail: `${written.join(', ')}${lacking.size > 0 ? `; not ${[...lacking.keys()].join(', ')}` : ''}`,
    hint,
  };
}

/** Tells whether espeak-ng is there, for the languages that no other voice speaks. */
export async function examineEspeak(context: Pick<Context, 'host' | 'signal'>): Promise<Finding> {
  const { findEspeak } = await import('../../engine/espeak/voices.ts');
  const { espeak, fault } = await findEspeak(context);
  if (espeak)
    return {
      name: 'espeak-ng',
      state: 'good',
      detail: `${countOf(espeak.voices.length, 'voice')} of other languages: -s de`,
    };
  const detail = fault === undefined ? 'not installed' : `it does not work: ${fault}`;
  return skipped('espeak-ng', detail, 'it speaks some hundred languages, and is not needed for English');
}
