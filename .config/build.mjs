import { build } from 'rolldown';
import { loadConfig } from 'rolldown/config';

// The command of rolldown prints a line for each file, also for `npm pack --silent`.
for (const config of [await loadConfig('.config/rolldown.config.ts')].flat()) await build(config);
