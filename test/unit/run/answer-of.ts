export const SENTENCES = [
  'We met Dr. Smith in St. Louis, e.g. on Monday.',
  'See Fig. 2 on p. 5 of the book.',
  '"Is it?" she asked.',
  'He said "no" and left at 5 p.m. on Jan. 3rd.',
  'It costs 3.14 or $5 each!',
  'Is **this bold part** right?',
  'She said **"yes."**',
  'All is done! 😊',
  'Run `main.py` and read *the log*.',
  'Das kostet z. B. 3,14 Euro am 3. Oktober.',
  'El Sr. García llegó ayer.',
  'Il est là, n’est-ce pas ?',
  'Это всё, т. е. конец.',
  '你好，世界。这是一个测试！',
  'これはテストです。もう一つ。',
  'See [the page](https://example.com/a_b) now.',
  'The sum is $x^2 + 1$ here.',
];

const BLOCKS = [
  (say: () => string) => `${say()} ${say()} ${say()}`,
  (say: () => string) => `## A heading\n${say()} ${say()}`,
  (say: () => string) => `- ${say()}\n- one item\n  - ${say()}\n- ${say()}`,
  (say: () => string) => `1. ${say()}\n2. ${say()} ${say()}`,
  (say: () => string) => `> ${say()}\n> ${say()}`,
  (say: () => string) => `${say()}\n\n\`\`\`sh\nnpm run x # 1. y\n\`\`\``,
  () => '| Setting | Old |\n|---|---|\n| timeout | 10 |\n| retries | 3 |',
];

/** An answer as models write them. */
export function answer(random: () => number): string {
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const blocks = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
    oneOf(BLOCKS)(() => oneOf(SENTENCES)),
  );
  return blocks.join('\n\n');
}

/** A writer's tokens, each with the milliseconds after it: less than a doubtful end waits. */
export function tokens(text: string, random: () => number) {
  const characters = [...text];
  const list: { readonly text: string; readonly wait: number }[] = [];
  for (let at = 0; at < characters.length; ) {
    const size = 1 + Math.floor(random() * 12);
    const wait = random() < 0.05 ? 300 + random() * 1600 : random() * 80;
    list.push({ text: characters.slice(at, at + size).join(''), wait });
    at += size;
  }
  return list;
}
