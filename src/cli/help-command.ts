import { usageError } from '../error.ts';
import { type Context, commandOf } from './commands.ts';
import { help } from './help.ts';

/** `tts help`, and `tts help <command>` for the help of a command. */
export async function run(context: Context): Promise<number> {
  const [name, ...more] = context.argv;
  if (name === undefined || name.startsWith('-')) return help({ host: context.host, named: false });
  const { run, named } = await commandOf([name]);
  if (named && more.length === 0) return run({ ...context, argv: ['--help'], named });
  // Loaded only now: it comes with the parser.
  const { assertWordsUtf8 } = await import('./assert-utf8.ts');
  assertWordsUtf8(context.argv, context.host);
  throw usageError(
    `tts help does not know "${named ? more[0] : name}"`,
    'see tts help; to speak the words: tts speak help ...',
  );
}
