import { build } from 'rolldown';
import { loadConfig } from 'rolldown/config';

// Builds dist/. rolldown's own command would print a line per file, even for `npm pack --silent`.
for (const config of [await loadConfig('.config/rolldown.config.ts')].flat()) await build(config);
