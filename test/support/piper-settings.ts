/** The `.onnx.json` of a Piper voice, with all keys of real files. */
export function piperSettings(changes: object = {}): Record<string, unknown> {
  return {
    audio: { sample_rate: 16_000, quality: 'medium' },
    espeak: { voice: 'en-gb-x-rp' },
    inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
    phoneme_type: 'espeak',
    phoneme_map: {},
    phoneme_id_map: { _: [0], '^': [1], $: [2], ' ': [3], a: [4], '\n': [5], aɪ: [6] },
    num_symbols: 256,
    num_speakers: 1,
    speaker_id_map: {},
    piper_version: '1.0.0',
    language: {
      code: 'en_GB',
      family: 'en',
      region: 'GB',
      name_native: 'English',
      name_english: 'English',
      country_english: 'Great Britain',
    },
    dataset: 'anna',
    ...changes,
  };
}
