/** What else there is than to speak. */
export const besideSpeaking = [
  'serve',
  'speakers',
  'cache',
  'config',
  'login',
  'logout',
  'doctor',
  'completion',
  'manual',
] as const;
