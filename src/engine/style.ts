import type { Style } from './contract.ts';

const PLAIN_STYLE: Style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

export interface StyleWish {
  readonly style: Style;
  /** The phrases that have no effect. */
  readonly ignored: readonly string[];
}

/** The reader of instructions loads only where there are some. */
export async function styleOf(instructions = ''): Promise<StyleWish> {
  if (instructions === '') return { style: PLAIN_STYLE, ignored: [] };
  const { readInstructions } = await import('./instructions.ts');
  return readInstructions(instructions);
}
