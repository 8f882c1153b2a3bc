/**
 * The source of a pattern for the characters that join the cluster of any character before them, also of a space,
 * but not of a line end (Unicode UAX #29, rules GB4, GB9 and GB9a).
 */
export const EXTENDER = '[\\p{Grapheme_Extend}\\p{Mc}\\u0e33\\u0eb3\\p{Emoji_Modifier}\\u200d]';
