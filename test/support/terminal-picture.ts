import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Sandbox } from './run.ts';
import { COLUMNS, READY, Tmux } from './tmux.ts';

/** The size of a character in pixels. */
const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;

/** The commands of the picture: install a voice, read a book, and (LAST) let a model speak. */
const COMMANDS = ['tts voices install cori', 'tts -f novel.epub -s cori -o novel.m4b'];
/** The command that is shown while it runs. */
const LAST = 'llm "Tell me a story" | tts -s cori --assistant';
const STORY = 'Once upon a time a machine learned to speak. It told of the sea, of lamps, ';
/** Text at which the picture is taken. */
const AMIDST = /of lamps/;

/**
 * Types commands into a real terminal, and draws its screen as SVG.
 * @param env variables with which the machine finds its voices
 */
export async function drawPicture(
  machine: Sandbox,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const model = join(machine.commands, 'llm');
  writeFileSync(model, `#!/bin/sh\nprintf '%s' '${STORY}'; sleep 20\n`);
  const terminal = new Tmux(machine, env);
  await terminal.shows(READY);
  for (const command of COMMANDS) {
    terminal.type(command, 'Enter');
    await terminal.shows(READY);
  }
  terminal.type(LAST, 'Enter');
  await terminal.shows(AMIDST);
  const lines = terminal.screen().replaceAll(machine.home, '~').split('\n');
  terminal.type('', 'C-c');
  await terminal.shows(READY);
  return svg(lines);
}

function svg(lines: readonly string[]): string {
  const [width, height] = [COLUMNS * CELL.width + 2 * MARGIN, lines.length * CELL.height + 2 * MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
<title>tts at work in a terminal</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { fill: #1f2328; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }
.b { font-weight: bold } .d { fill-opacity: .65 } .c31 { fill: #cf222e } .c32 { fill: #1a7f37 } .c33 { fill: #9a6700 } .c36 { fill: #1b7c83 }
@media (prefers-color-scheme: dark) {
rect { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
.c31 { fill: #ff7b72 } .c32 { fill: #3fb950 } .c33 { fill: #d29922 } .c36 { fill: #39c5cf }
}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${lines.map(textLine).join('\n')}
</svg>
`;
}

function textLine(line: string, row: number): string {
  const styles = new Set<string>();
  const spans = line.split('\x1b[').map((piece, index) => {
    const [, codes = '', text = piece] = index === 0 ? [] : (/^([\d;]*)m(.*)$/s.exec(piece) ?? []);
    if (index > 0) for (const code of codes.split(';')) restyle(styles, Number(code));
    const shown = escaped(text);
    return text && styles.size > 0 ? `<tspan class="${[...styles].join(' ')}">${shown}</tspan>` : shown;
  });
  const columns = stripVTControlCharacters(line).length;
  const y = MARGIN + (row + 0.75) * CELL.height;
  const length = (columns * CELL.width).toFixed(1);
  return `<text x="${MARGIN}" y="${y}" textLength="${length}" xml:space="preserve">${spans.join('')}</text>`;
}

/** Applies an SGR code (ECMA-48, 8.3.117). */
function restyle(styles: Set<string>, code: number): void {
  const colour = [...styles].find((style) => style.startsWith('c')) ?? '';
  if (code === 0) styles.clear();
  else if (code === 1) styles.add('b');
  else if (code === 2) styles.add('d');
  else if (code === 22) for (const weight of 'bd') styles.delete(weight);
  else styles.delete(colour);
  if (code >= 30 && code <= 37) styles.add(`c${code}`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
