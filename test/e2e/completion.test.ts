import { spawnSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { ExitCode } from '../../src/error.ts';
import { expectFailure, Sandbox } from '../support/run.ts';

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

/** What each shell offers for a line, one a line. */
const COMPLETE: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => `source ./script
    COMP_WORDS=(${line} ${line.endsWith(' ') ? "''" : ''}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
    _tts 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (line) => `fish -c "source ./script; complete -C '${line}'" | cut -f1`,
  // What zsh offers can only be seen at its prompt: one of its own, in a terminal of its own.
  zsh: (line) => `zsh -fc '
    zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z "PROMPT=; unset zle_bracketed_paste; stty columns 200; autoload -U compinit; compinit -u -D; source ./script; LISTMAX=1000; print re""ady"
    zpty -r z out "*ready*"
    zpty -n -w z "${line}"$'"'\\t\\t'"'
    sleep 2; out=; while zpty -rt z piece; do out+=$piece; done
    print -r -- $out'`,
};

describe.each(Object.keys(COMPLETE))('the completion for %s', (shell) => {
  let box: Sandbox;

  beforeEach(async ({ skip }) => {
    if (!has(shell)) skip(`there is no ${shell} here`);
    box = new Sandbox();
    box.file('script', (await box.tts(['completion', shell])).stdout);
    box.file('.ttsrc', 'speakers: { anna: 181 }\n');
    box.file('text one.txt');
  });

  it.each([
    ['tts ', ['serve', 'speakers', 'doctor', 'login']],
    ['tts cache ', ['clear']],
    ['tts --sample-r', ['--sample-rate']],
    ['tts hello -s ', ['anna', 'slt']],
    ['tts serve --log ', ['text', 'json']],
    ['tts doctor --ye', ['--yes']],
    ['tts -f te', ['one.txt']],
  ])('offers for "%s" %j', async (line, offers) => {
    const { stdout } = await box.shell((COMPLETE[shell] as (line: string) => string)(line));
    for (const offer of offers) expect(stdout.toString()).toContain(offer);
    expect(stdout.toString()).not.toContain('--nothing');
  });
});

describe('tts completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('names every option and command for %s', async (shell) => {
    const { status, stdout } = await new Sandbox().tts(['completion', shell]);
    expect(status).toBe(0);
    for (const word of ['no-clobber', 'instructions', 'ready-file', 'completion', 'logout'])
      expect(stdout.toString()).toContain(word);
  });

  it('refuses a shell that it does not know, with the nearest', async () => {
    expectFailure(await new Sandbox().tts(['completion', 'bahs']), 2, /did you mean bash\?/);
    expectFailure(await new Sandbox().tts(['completion']), 2, /there are: bash, zsh, fish, powershell/);
  });
});

describe('tts manual', () => {
  it('is a page that man reads without a warning', async ({ skip }) => {
    if (!has('man')) skip('there is no man here');
    const run = await new Sandbox().shell('tts manual > tts.1; MANWIDTH=80 man --warnings -l tts.1 | col -b');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout.toString()).toMatch(/-s, --speaker <no\|name>[\s\S]*TTS_SPEAKER[\s\S]*EXIT STATUS/);
  });

  it('tells of every option and every exit status', async () => {
    const page = (await new Sandbox().tts(['manual'])).stdout.toString().replaceAll('\\-', '-');
    const { stdout } = await new Sandbox().tts(['speak', '--help']);
    const options = stdout.toString().match(/--[a-z-]+/g) ?? [];
    expect(options.length).toBeGreaterThan(20);
    for (const option of options) expect(page).toContain(option);
    for (const status of Object.values(ExitCode)) expect(page).toContain(`.B ${status}\n`);
  });
});
