import type { Field } from '../../batch/columns.ts';
import type { RowVoice, VoiceCells } from '../../batch/plan.ts';
import type { Espeak } from '../../engine/espeak/voices.ts';
import { identityOf, type NumberedSource } from '../../engine/external/voice-source.ts';
import type { RunContext } from '../../host.ts';
import { type Origin, refused, type Settings } from '../../settings/resolve.ts';
import { ruleOf } from '../../settings/rules.ts';
import { SourceShelf } from '../../speech/speakers/source-shelf.ts';
import { type OpenShelf, speakerOf } from '../../speech/speakers/speaker-choice.ts';

/** Instructions may differ in every row. */
const MOST_KEPT = 1000;

/** Settings replace missing cells. */
export class RowVoices {
  espeak: Espeak | undefined;
  readonly sources = new Set<NumberedSource>();
  readonly #openShelf: OpenShelf | undefined;
  readonly #settings: Settings;
  readonly #context: RunContext;
  readonly #kept = new Map<string, RowVoice>();

  constructor(settings: Settings, context: RunContext) {
    this.#settings = settings;
    this.#context = context;
    const shelf = settings.baseUrl ? undefined : new SourceShelf(settings, context);
    this.#openShelf = shelf && (async () => shelf);
  }

  /** @throws TtsError (usage) with the cell */
  async of(cells: VoiceCells, where: (field: Field) => string): Promise<RowVoice> {
    const key = JSON.stringify(cells);
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const said = withCells(this.#settings, cells, where);
    const { no, settings, espeak, sources } = await speakerOf(said, this.#openShelf, this.#context);
    this.espeak ??= espeak;
    for (const source of sources) this.sources.add(source);
    const { sampleRate, instructions } = settings;
    const voice = {
      speaker: no,
      sampleRate: sampleRate?.value,
      instructions: instructions?.value,
      identity: identityOf(no, sources),
    };
    if (this.#kept.size === MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, voice);
    return voice;
  }
}

/** A cell is as strong as an option. */
function withCells(settings: Settings, cells: VoiceCells, where: (field: Field) => string): Settings {
  const said = Object.entries(cells).map(([name, cell]) => {
    const rule = ruleOf(name as keyof VoiceCells);
    const origin: Origin = { place: 'option', name: where(name as keyof VoiceCells) };
    const value = rule.kind.text(cell);
    if (value === undefined) throw refused(rule, cell, origin);
    return [name, { value, origin }];
  });
  return { ...settings, ...Object.fromEntries(said) };
}
