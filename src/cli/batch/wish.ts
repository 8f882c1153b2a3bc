import type { Field } from '../../batch/columns.ts';
import type { VoiceCells } from '../../batch/plan.ts';
import { type Origin, refused } from '../../settings/resolve.ts';
import { ruleOf } from '../../settings/rules.ts';
import type { Wish } from '../../voices/voice.ts';

/**
 * A cell is as strong as an option.
 * @throws TtsError (usage) with the cell
 */
export function wishOf(cells: VoiceCells, where: (field: Field) => string): Wish {
  const said = Object.entries(cells).map(([name, cell]) => {
    const rule = ruleOf(name as keyof VoiceCells);
    const origin: Origin = { place: 'option', name: where(name as keyof VoiceCells) };
    const value = rule.kind.text(cell);
    if (value === undefined) throw refused(rule, cell, origin);
    return [name, { value, origin }];
  });
  return Object.fromEntries(said);
}
