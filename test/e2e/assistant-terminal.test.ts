import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { fakePlayer } from '../support/fake-player.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { Sandbox } from '../support/run.ts';
import { READY, Tmux } from '../support/tmux.ts';

const STORY = `Once upon a time a **machine** learned to speak.\nIt told of the sea, of lamps, and of a way home. ${'It went on and on, and never came to an end, for nobody stopped it. '.repeat(15)}`;

/** A model that writes word by word. */
const MODEL = `#!/bin/sh
printf '%s' "$1" | while IFS= read -r line || [ -n "$line" ]; do
  for word in $line; do printf '%s ' "$word"; sleep 0.05; done; echo
done
`;

test.skipIf(!isThere('tmux'))(
  'On a terminal the text stays readable, an interruption tells how far it was heard, and the next run speaks.',
  async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isSlow');
    writeFileSync(join(box.commands, 'llm'), MODEL);
    chmodSync(join(box.commands, 'llm'), 0o755);
    const terminal = new Tmux(box, { TTS_PLAYER: player.command, STORY });
    const told = (name: string) =>
      existsSync(box.path(name))
        ? box
            .read(name)
            .toString()
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [];
    const hears = (name: string, index: number) =>
      vi.waitFor(
        () => expect(told(name).some((line) => line.event === 'playing' && line.index === index)).toBe(true),
        60_000,
      );
    await terminal.shows(READY);
    terminal.type('llm "$STORY" | tts --assistant --events first.jsonl', 'Enter');
    await hears('first.jsonl', 1);
    const pid = await player.running();
    terminal.type('', 'C-c');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 60_000);
    await terminal.shows(READY);
    const shown = stripVTControlCharacters(terminal.screen()).split('\n');
    // A message stands in a line of its own, and the rest is the text.
    expect(shown).toContainEqual(expect.stringMatching(/^tts: the built-in English voice speaks/u));
    expect(shown).toContain('tts: interrupted');
    const [text = ''] = shown
      .slice(1)
      .join('')
      .replace(/tts: the built-in.*?install cori/u, '')
      .split('^C');
    expect(text.length).toBeGreaterThan(100);
    expect(STORY.replace(/\s/gu, '').startsWith(text.replace(/\s/gu, ''))).toBe(true);
    const stop = told('first.jsonl').at(-1);
    expect(stop).toMatchObject({ event: 'stopped', reason: 'interrupted', index: 1, estimated: true });
    expect(stop.heard).toBeGreaterThanOrEqual(stop.start);
    expect(stop.heard).toBeLessThan(stop.end);
    terminal.type('tts --events second.jsonl Next.', 'Enter');
    await hears('second.jsonl', 0);
  },
);

test.skipIf(!isThere('script'))(
  'A terminal gets nothing of the text that it would obey, however the text is cut; a pipe gets each byte.',
  async () => {
    const box = new Sandbox();
    const pieces = [
      'Hi \\033',
      ']52;c;ZXZpbA==\\007 there\\r',
      '\\n\\033[2JOne\\ttwo \\342\\200',
      '\\256three.\\n',
    ];
    const writer = `(${pieces.map((piece) => `printf '${piece}'`).join('; sleep 0.2; ')})`;
    const line = `${writer} | tts -q --assistant`;
    const env = { TTS_PLAYER: fakePlayer(box, 'plays').command };
    const piped = await box.shell(line, { env });
    const shown = await box.shell(`script -qec "$LINE" /dev/null`, { env: { ...env, LINE: line } });
    expect(piped.stdout.toString()).toBe('Hi \x1b]52;c;ZXZpbA==\x07 there\r\n\x1b[2JOne\ttwo \u202ethree.\n');
    expect(shown.stdout.toString()).toBe('Hi  there\r\nOne\ttwo three.\r\n');
  },
);
