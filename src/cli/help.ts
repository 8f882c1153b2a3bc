import { ExitCode, usageError } from '../kit/error.ts';
import { nearestName } from '../kit/words.ts';
import { type CommandLine, type Context, commands } from './commands.ts';
import { FULL_HELP, SHORT_HELP, TOPICS } from './help-text.ts';
import { printLine } from './print.ts';

/**
 * Runs `tts help`: without a word, or with a command or a topic.
 * @throws TtsError (usage) for words that are neither
 */
export async function run({ words }: CommandLine, context: Context): Promise<number> {
  const [name, extra] = words[0]?.startsWith('-') ? [] : words;
  const text = name === undefined ? SHORT_HELP : await textOn(name);
  const unknown = text === undefined ? name : extra;
  if (text !== undefined && unknown === undefined) {
    printLine(context.host.stdout, text);
    return ExitCode.ok;
  }
  const { assertWordsUtf8 } = await import('./command-line.ts');
  assertWordsUtf8(context.argv, context.host);
  const nearest = nearestName(unknown ?? '', [...commands.keys(), ...Object.keys(TOPICS)]);
  throw usageError(
    `tts help does not know "${unknown}"`,
    `${nearest ? `did you mean tts help ${nearest}?` : 'see tts help;'} to speak the words: tts speak help ...`,
  );
}

/** @returns the help of a command or a topic; `undefined` for any other word */
async function textOn(name: string): Promise<string | undefined> {
  return commands.has(name) ? helpOf(name, true) : topicOf(name);
}

/** @param named false if no command was typed, as in `tts --help`: the help is then short */
export async function helpOf(command: string, named: boolean): Promise<string> {
  if (command === 'speak') return named ? FULL_HELP : SHORT_HELP;
  if (command === 'help') return SHORT_HELP;
  const topic = topicOf(command);
  const { describeCommand } = await import('./command-line.ts');
  const help = describeCommand(command).helpInformation().trimEnd();
  return topic === undefined ? help : `${help}\n\n${topic}`;
}

function topicOf(name: string): string | undefined {
  return Object.hasOwn(TOPICS, name) ? TOPICS[name]?.join('\n') : undefined;
}
