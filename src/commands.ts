import type { Commands } from './cli/context.ts';

/** The table of commands, in the order in which help and the manual show them. */
export const commands: Commands = new Map(
  Object.entries({
    speak: () => import('./cli/speak/command.ts'),
    serve: () => import('./cli/serve/serve.ts'),
    batch: () => import('./cli/batch/command.ts'),
    stop: () => import('./cli/channel/stop.ts'),
    pause: () => import('./cli/channel/pause.ts'),
    resume: () => import('./cli/channel/resume.ts'),
    speakers: () => import('./cli/speakers/speakers.ts'),
    cache: () => import('./cli/cache.ts'),
    config: () => import('./cli/config.ts'),
    voices: () => import('./cli/voices/voices.ts'),
    login: () => import('./cli/login/login.ts'),
    logout: () => import('./cli/login/logout.ts'),
    doctor: () => import('./cli/doctor/doctor.ts'),
    completion: () => import('./cli/shell/completion.ts'),
    manual: () => import('./cli/shell/manual.ts'),
    help: () => import('./cli/help.ts'),
  }),
);
