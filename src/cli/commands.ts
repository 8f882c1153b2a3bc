import type { Commands } from './context.ts';

/** The table of commands, in the order in which help and the manual show them. */
export const commands: Commands = new Map(
  Object.entries({
    speak: () => import('./speak-command.ts'),
    serve: () => import('./serve.ts'),
    batch: () => import('./batch-command.ts'),
    stop: async () => (await import('./channel.ts')).stop,
    pause: async () => (await import('./channel.ts')).pause,
    resume: async () => (await import('./channel.ts')).resume,
    speakers: () => import('./speakers.ts'),
    cache: () => import('./cache.ts'),
    config: () => import('./config.ts'),
    voices: () => import('./voices.ts'),
    login: () => import('./login.ts'),
    logout: () => import('./logout.ts'),
    doctor: () => import('./doctor.ts'),
    completion: () => import('./completion.ts'),
    manual: () => import('./manual.ts'),
    help: () => import('./help.ts'),
  }),
);
