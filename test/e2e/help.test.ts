import { beforeEach, describe, expect, it } from 'vitest';
import { ExitCode } from '../../src/kit/error.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, Sandbox } from '../support/run.ts';

describe('the help', () => {
  it('is the same for three spellings', async () => {
    const { status, stdout, stderr } = await new Sandbox().run('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.toString()).toMatch(/^Commands: serve /m);
    for (const word of ['-h', 'help']) expect((await new Sandbox().run(word)).stdout).toEqual(stdout);
  });

  it.each(['batch', 'stop', 'speak'])('of tts %s can be asked for in two ways', async (command) => {
    const box = new Sandbox();
    const one = await box.run([command, '--help']);
    const other = await box.run(['help', command]);
    expect(one).toMatchObject({ status: 0, stderr: '' });
    expect(one.stdout.toString()).toMatch(new RegExp(`tts ${command}`));
    expect(other.stdout.toString()).toBe(one.stdout.toString());
  });

  it.each(['books', 'marks', 'exit'])('has words on %s', async (topic) => {
    const { status, stdout, stderr } = await new Sandbox().run(['help', topic]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('tells of status 9 for sound that does not seem to be that of its text', async () => {
    const { stdout } = await new Sandbox().run('help exit');
    expect(stdout.toString()).toMatch(/^ +9 .*doubtful/m);
  });

  it('names the word that it does not know, after a command or a topic, too', async () => {
    for (const words of ['now', 'exit now', 'batch now'])
      expectFailure(await new Sandbox().run(`help ${words}`), 2, /^tts: tts help does not know "now"\n/);
  });

  it('is there also where the working folder is gone', async () => {
    const run = await new Sandbox().shell('mkdir gone && cd gone && rmdir ../gone && tts help config');
    expect(run.status).toBe(0);
    expect(run.stdout.toString()).toMatch(/^Usage: tts config/);
  });

  it.runIf(process.platform === 'linux' && isThere('script'))(
    'is three lines that work for tts alone on a terminal',
    async () => {
      const box = new Sandbox();
      const { stdout, status } = await box.shell('script -qec tts /dev/null', { env: { TERM: 'xterm' } });
      expect(status).toBe(2);
      const shown = stdout.toString().matchAll(/^ {2}(tts \S+(?: \S+)*?)(?: {2,}|\r?$)/gm);
      const steps = Array.from(shown, ([, line = '']) => line);
      expect(steps).toHaveLength(3);
      expect(stdout.toString()).not.toMatch(/^tts:/m);
      expect(await box.shell(`set -e\n${steps.join('\n')}`)).toMatchObject({ status: 0 });
      expect(box.list()).toEqual(['hello.wav']);
    },
  );
});

describe('a mistyped value', () => {
  it('is guessed', async () => {
    const run = await new Sandbox().run('batch - --table cvs', { stdin: 'id,text\n' });
    expectFailure(run, 2, /--table must be one of csv, tsv, .*, and is "cvs"\nhint: did you mean csv\?\n/);
  });
});

/** What each shell offers for a line, one a line. */
const COMPLETE: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => `source ./script
    COMP_WORDS=(${line} ${line.endsWith(' ') ? "''" : ''}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
    _tts; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (line) => `fish -c "source ./script; complete -C '${line}'" | cut -f1`,
  zsh: (line) => atPrompt(`type "${line}"$'\\t\\t\\C-U'`),
};

/** What completion makes of `tts hello -s x` for each x, as the shell takes it when the line is then run: one a line. */
const ACCEPT: Readonly<Record<string, (begins: readonly string[]) => string>> = {
  bash: (begins) => `source ./script
    for begin in ${begins.join(' ')}; do
      COMP_WORDS=(tts hello -s $begin); COMP_CWORD=3; _tts
      eval "printf '<%s>\\n' \${COMPREPLY[*]}"
    done`,
  fish: (begins) => `fish -c 'source ./script
    for begin in ${begins.join(' ')}
      eval "printf \\"<%s>\\\\n\\" "(complete --escape -C "tts hello -s $begin" | cut -f1)
    end'`,
  zsh: (begins) =>
    atPrompt(`type 'tts() { [[ $1 == speakers ]] && command tts $@ || print -r "<$3>" }'$'\\n'
    for begin in ${begins.join(' ')}; do type "tts hello -s $begin"$'\\t\\n'; done`),
};

/** What zsh offers can only be seen at its prompt: one of its own, in a terminal of its own. */
function atPrompt(typing: string): string {
  return `zsh -f <<'END'
    zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z 'PROMPT=; unset zle_bracketed_paste; stty columns 200 kill undef; autoload -U compinit; compinit -u -D; source ./script; LISTMAX=1000; print re""ady'
    zpty -r z out '*ready*'
    type() { zpty -n -w z $1 }
    ${typing}
    zpty -w z 'print do""ne'
    zpty -r z out '*done*'
    print -r -- $out
END`;
}

/** Names that a cloned project may bring. Each begins with another letter. */
const FOREIGN = [
  'a$(touch ran)',
  'b`touch ran`',
  'c;touch ran',
  'd maria',
  "g'h",
  'k\\l',
  'q{1,2}',
  't~ #u',
  'v!!',
];

describe.each(Object.keys(COMPLETE))('the completion for %s', (shell) => {
  let box: Sandbox;

  beforeEach(async ({ skip }) => {
    if (!isThere(shell)) skip(`there is no ${shell} here`);
    box = new Sandbox();
    box.file('script', (await box.run(['completion', shell])).stdout);
    box.file('.ttsrc', 'speakers: { anna: 181 }\n');
    box.file('text one.txt');
  });

  it('offers commands, options, values, names and files', async () => {
    for (const [line, offers] of [
      ['tts ', ['serve', 'speakers', 'doctor', 'login']],
      ['tts --sample-r', ['--sample-rate']],
      ['tts hello -s ', ['anna', 'slt']],
      ['tts -f te', ['one.txt']],
    ] as const) {
      const { stdout } = await box.shell((COMPLETE[shell] as (line: string) => string)(line));
      for (const offer of offers) expect(stdout.toString(), line).toContain(offer);
    }
  });

  it('quotes the names of others, and runs nothing in them', async () => {
    box.file('.ttsrc', JSON.stringify({ speakers: Object.fromEntries(FOREIGN.map((name) => [name, 1])) }));
    box.file('free');
    const before = box.list();
    const begins = FOREIGN.map((name) => name.slice(0, 1));
    const accept = ACCEPT[shell] as (begins: readonly string[]) => string;
    const { stdout, stderr } = await box.shell(accept(begins), {
      env: { TTS_BASE_URL: 'http://127.0.0.1:1' },
    });
    expect(stdout.toString().match(/(?<=^<).*(?=>\r?$)/gm)).toEqual(FOREIGN);
    expect({ stderr, files: box.list() }).toEqual({ stderr: '', files: before });
  });
});

describe('tts completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('names every option and command for %s', async (shell) => {
    const { status, stdout } = await new Sandbox().run(['completion', shell]);
    expect(status).toBe(0);
    for (const word of ['no-clobber', 'instructions', 'ready-file', 'completion', 'logout'])
      expect(stdout.toString()).toContain(word);
  });

  it('gives PowerShell quoted whatever is more than letters', async () => {
    const { stdout } = await new Sandbox().run('completion powershell');
    const bare = /\$text -match '([^']+)'\) \{ \$text \}/.exec(stdout.toString())?.[1] ?? '';
    expect(['anna', 'rms-styled', '--speaker'].filter((name) => !name.match(bare))).toEqual([]);
    expect([...FOREIGN, 'a\u2019b', '@a', 'a,b'].filter((name) => name.match(bare))).toEqual([]);
    expect(stdout.toString()).toMatch(/CompletionResult\]::new\(\$quoted,/);
  });

  it('refuses a shell that it does not know, with the nearest', async () => {
    expectFailure(await new Sandbox().run('completion bahs'), 2, /it knows bash, zsh, fish, powershell;/);
    expectFailure(await new Sandbox().run('completion'), 2, /there are: bash, zsh, fish, powershell/);
  });
});

describe('tts manual', () => {
  it('is a page without a warning for man, with every option and exit status, and no option twice', async () => {
    const page = (await new Sandbox().run('manual')).stdout.toString().replaceAll('\\-', '-');
    expect(page).toContain('.B tts login\n[\\fIoptions\\fR] [\\fIbase-url\\fR]');
    const [, serve = ''] = /^\.SS tts serve\n([\s\S]*?)^\.SS /m.exec(page) ?? [];
    expect(serve).toMatch(/--api-key.*\nwhat clients have to send/);
    expect(serve).not.toContain('--verbose');
    expect(page).toContain('TTS_CACHE_DIR');
    const { stdout } = await new Sandbox().run('speak --help');
    const options = stdout.toString().match(/--[a-z-]+/g) ?? [];
    expect(options.length).toBeGreaterThan(20);
    for (const option of options) expect(page).toContain(option);
    for (const status of Object.values(ExitCode)) expect(page).toContain(`.B ${status}\n`);
    expect(page.match(/a defect in tts itself/g)).toHaveLength(1);
    if (!isThere('man')) return;
    const run = await new Sandbox().shell('tts manual > tts.1; MANWIDTH=80 man --warnings -l tts.1 | col -b');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout.toString()).toMatch(/-s, --speaker <no\|name>[\s\S]*TTS_SPEAKER[\s\S]*EXIT STATUS/);
  });
});
