/** Where a value was said, from the strongest place to the weakest. */
const places = ['option', 'environment', 'project', 'user', 'default'] as const;
type Place = (typeof places)[number];

export interface Origin {
  readonly place: Place;
  /** As the user would name it: `--speaker`, `TTS_SPEAKER`, `speaker in /home/anna/.ttsrc`. */
  readonly name: string;
  /** Where relative paths in it begin; of a config file its own folder. */
  readonly folder?: string | undefined;
}

/** A value and who said it. */
export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** Whether the first was said in a stronger place than the second. */
export function outranks(a: Origin, b: Origin): boolean {
  return places.indexOf(a.place) < places.indexOf(b.place);
}
