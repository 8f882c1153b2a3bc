import { describe, expect, it, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import { writtenOf } from '../../../src/text/piece.ts';

/** What is spoken of a note; a chapter is its title in braces. */
function spoken(note: string): string {
  const markdown = new GrowingMarkdown({ code: 'announce', footnotes: 'read', hasChapters: true }, '');
  markdown.push(note);
  return [...markdown.end()]
    .map((piece) => (piece.kind === 'chapter' ? `{${piece.title}}` : writtenOf(piece)))
    .join('');
}

describe('callouts', () => {
  it.each([
    ['folded', '> [!faq]- Are they foldable?\n> Yes.', 'Faq: Are they foldable? Yes.'],
    ['open', '> [!note]+ Open\n> Body.', 'Note: Open. Body.'],
    ['with a title', '> [!tip] My *title*\n> The body.', 'Tip: My title. The body.'],
    ['with only a title', '> [!tip] My title', 'Tip: My title.'],
    [
      'with a title and paragraphs',
      '> [!tip] My title\n>\n> One.\n>\n> Two.',
      'Tip: My title.\n\nOne.\n\nTwo.',
    ],
    ['without a title', '> [!NOTE]\n> Useful.', 'Note: Useful.'],
    ['with a kind of words', '> [!custom-kind]\n> Body.', 'Custom kind: Body.'],
    ['with a place on the page', '> [!info|right] Wide\n> Body.', 'Info: Wide. Body.'],
    ['in each other', '> [!note] Out\n> A.\n> > [!tip]- In\n> > B.', 'Note: Out. A.\n\nTip: In. B.'],
    ['as blocks of code', '```ad-note\ntitle: Out\nA *b*.\n```', 'Note: Out. A b.'],
    ['of Notion', '<aside>\n💡 **Mind** this.\n\n</aside>', 'Mind this.'],
    ['as HTML', '<details><summary>More</summary>\n\nInside.\n\n</details>', 'More.\n\nInside.'],
  ])('are read: %s', (_, note, text) => {
    expect(spoken(note)).toBe(text);
  });
});

describe('text that is indented below its title or its term', () => {
  it.each([
    [
      'a box',
      '!!! note "Mind *this*"\n\n    One.\n\n    Two.\n\nAfter.',
      'Note: Mind this.\n\nOne.\n\nTwo.\n\nAfter.',
    ],
    ['a box without a title', '!!! danger inline end ""\n    Body\n    of it.', 'Body of it.'],
    ['a folded box', 'Text\n??? tip\n    - a\n\n        b', 'Text\n\nTip: \n\na.\n\nb.'],
    [
      'tabs',
      '=== "Linux"\n\n    Use `apt`.\n\n=== "Mac"\n\n    Use `brew`.',
      'Linux\n\nUse apt.\n\nMac\n\nUse brew.',
    ],
    [
      'code in a box',
      '!!! note\n\n    ```sh\n    ls\n    ```\n\n        ls',
      'Note: \n\nCode in sh omitted.\n\nCode omitted.',
    ],
    [
      'definitions',
      'Apple\n:   A fruit\n    of trees.\n\n    Red.\n: A firm.\n\nPear\n\n:   Green.',
      'Apple\n\nA fruit of trees.\n\nRed.\n\nA firm.\n\nPear\n\nGreen.',
    ],
    ['definitions in each other', 'A\n\n:   B\n\n    :   C.\n\n        D.\n\nE', 'A\n\nB\n\nC.\n\nD.\n\nE'],
    ['no title', '!!! note\nText and ??? so', '!!! note Text and ??? so'],
    ['no term', 'So: this.\n\n:smile: x', 'So: this.\n\n:smile: x'],
  ])('is read, and what is no such text is as it was: %s', (_, note, text) => {
    expect(spoken(note)).toBe(text);
  });
});

describe('names and classes', () => {
  it.each([
    ['## A title {#a-title}', 'A title.'],
    ['# A title {#t .x key="a b" lang=de}', 'A title.'],
    ['# A title {-}', 'A title.'],
    ['# A title {: #t .x }', 'A title.'],
    ['Text [here](x.html){target=_blank}, `x`{.py}.\n{: .note}', 'Text here, x.'],
    ['{a, b}, {x}, {#if y} and \\{#b}', '{a, b}, {x}, {if y} and {b}'],
  ])('are silent: %s', (note, text) => {
    expect(spoken(note)).toBe(text);
  });
});

describe('links and tags', () => {
  it.each([
    ['[[Note#^a1]], [[#^a1]] [[Note.md]]', 'Note, Note'],
    ['[[area/Deep Note]] and [[Note#Part]]', 'area Deep Note and Note Part'],
    ['| a |\n|-|\n| [[x\\|Y]] |', 'a: Y.'],
    [
      'See [the paper]([[My Paper]]) and [it](((63f0a5b2-1d5e-4c3f-9a51-0123456789ab))).',
      'See the paper and it.',
    ],
    ['#todo (#idea/new_one) and #[[two words]]', 'todo (idea new one) and two words'],
    ['Issue #12, C#, a#b, #ff0000 and # alone', 'Issue #12, C#, a#b, #ff0000 and # alone'],
    ['`#tag` and https://example.org/#part', '#tag and example.org'],
    ['x ^2 and y ^10', 'x ^2 and y ^10'],
    ['A std::string is a::b.', 'A std::string is a::b.'],
    ['![image.png](a/image.png){:height 30, :width 40}The end.', 'The end.'],
    ['![Untitled](Untitled%201.png) ![A cat|300](cat.png)', 'A cat'],
    ['a ![image](a.png)![logo](b.svg)![300](c.png)![IMG_12](d/IMG_12.jpg)![Figure](e.png) b', 'a b'],
    ['![my-map_2](a/my-map_2.png) ![Map](map.png)', 'Map'],
    [
      '[![Build](https://github.com/a/b/actions/workflows/ci.yml/badge.svg)](x) [![npm](https://img.shields.io/npm/v/a)](y)',
      '',
    ],
    ['![Badge of honour](https://example.org/badges/honour.png)', 'Badge of honour'],
    ['![Pasted image 20240102101112.png](x.png) ![Screenshot 2024-01-02 at 10.11](y)', ''],
  ])('%s', (note, text) => {
    expect(spoken(note)).toBe(text);
  });
});

describe('properties', () => {
  it.each([
    ['of a page', 'title:: Matrix\ntags:: a, [[b]]\n\n- x', '{Matrix}x.'],
    ['of a block', '- One\n  id:: 1\n  custom-key:: 2\n- Two', 'One.\nTwo.'],
    ['alone in an item', '- collapsed:: true\n- Two', 'Two.'],
    [
      'that tell something',
      '- definition:: A thing.\n\n**Two words**:: b',
      'definition: A thing.\n\nTwo words: b',
    ],
    ['in a sentence', 'It has [stars:: 5] and (by:: me).', 'It has stars: 5 and (me).'],
    ['of Notion', '# Day\n\nCreated: May 1\nTags: a, b\n\nText.', 'Day.\n\nText.'],
    ['that are text', '# Soup\n\nFor: two\n\nTime: ten minutes', 'Soup.\n\nFor: two\n\nTime: ten minutes'],
    [
      'of a task',
      '- [/] TODO [#A] Call\n  SCHEDULED: <2023-05-01 Mon>\n  :LOGBOOK:\n  CLOCK: [2023-05-01 Mon 10:00:00]\n  :END:',
      'TODO Call.',
    ],
  ])('%s', (_, note, text) => {
    expect(spoken(note)).toBe(text);
  });
});

test.each([
  ['---\ntitle: "My: note"\ntags: [a]\n---\nText.', '{My: note}Text.'],
  ["---\nTitle: 'It''s'\n---\nText.", "{It''s}Text."],
  ['+++\ntitle = "A note"\n+++\nText.', '{A note}Text.'],
  ['---\ntitle:\n---\nText.', 'Text.'],
  ['---\nsubtitle: no\n---\nText.', 'Text.'],
  ['title:: Only this', '{Only this}'],
])('The title of front matter is that of the chapter: %s', (note, text) => {
  expect(spoken(note)).toBe(text);
});

/** What public vaults and graphs have in their notes. `WORD` stands beside it, and is to be spoken. */
const FORMS = [
  'WORD ![[Credits#^lucide]]',
  'WORD ![[picture.png|300]]',
  'WORD [[Note#^a1b2c3]]',
  'WORD [[area/Note|label]]',
  'WORD [[Note#Part]]',
  'WORD #tag',
  'WORD #area/deep_tag and #other',
  'WORD #[[two words]]',
  'WORD ^a1b2c3',
  'WORD ^quote-of-the-day',
  'WORD ==marked== and ^^this^^',
  'WORD %%a comment%%',
  'WORD ((63f0a5b2-1d5e-4c3f-9a51-0123456789ab))',
  'WORD [label]([[Page]])',
  'WORD {{embed [[Page]]}}',
  'WORD {{query (and [[x]] (task TODO))}}',
  'WORD {{video https://example.org/watch?v=1}}',
  'WORD {{cloze hidden}}',
  'WORD {{title}}',
  'WORD <% tp.date.now() %>',
  'WORD `= this.file.name`',
  'WORD `$= dv.current().x`',
  'WORD [rating:: 5]',
  'WORD (rating:: 5)',
  '[#A] WORD',
  'WORD ![image.png](../assets/image.png){:height 30, :width 40}',
  'WORD [page](Page%20two%203f2a1b.md)',
  'WORD [[My Page]], [[Other]] and [[#Here]]',
  'WORD **[[bold link]]** #tag ^end-1',
  'WORD <!--SR:!2021-01-01,1,2-->',
  // Dataview.
  'WORD (key:: a value) and [other key:: b]',
  'WORD [due:: 2024-01-01] [completion:: 2024-01-02]',
  // Tasks.
  'WORD 📅 2024-01-01',
  'WORD ⏳ 2024-01-01 🛫 2023-12-31 ➕ 2023-12-01',
  'WORD 🔁 every day ✅ 2024-01-02',
  'WORD ⏫ 🆔 abc123 ⛔ def456 🏁 delete',
  'WORD #task 🔼 📅 2024-01-01 ^task-1',
  'WORD @due(2024-01-01) @{2024-01-01}',
  // Embeds and references.
  '![[Note#Part]] WORD',
  '![[sound.mp3]] WORD ![[a.pdf#page=3]]',
  '![[picture.png|A cat|300]] WORD',
  'WORD {{embed ((63f0a5b2-1d5e-4c3f-9a51-0123456789ab))}}',
  'WORD ((63f0a5b2-1d5e-4c3f-9a51-0123456789ab))',
  'WORD {{query (todo now later)}}',
  'WORD {{renderer :todomaster}}',
  // Generators of sites.
  'WORD {% include figure.html %} {{< ref "x.md" >}} {{% note %}}',
  // Comments and marks.
  '%%hidden%% WORD %% more %%',
  'WORD ==a **b**== and ~~c~~',
  'WORD #emoji/📚 #étude #日本',
  'WORD [Notes](Notes%201a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d.md)',
];

/** Notes of several lines. */
const LINES = [
  'WORD\nkey:: value',
  'WORD\n**Due date**:: [[2024-01-01]]',
  'TODO WORD\nSCHEDULED: <2024-01-01 Mon .+1d>',
  'DOING WORD\nDEADLINE: <2024-01-01 Mon 10:00>',
  'LATER WORD\n:LOGBOOK:\nCLOCK: [2024-01-01 Mon 10:00:00]--[2024-01-01 Mon 10:00:05] =>  00:00:05\n:END:',
  'NOW [#B] WORD\nid:: 63f0a5b2-1d5e-4c3f-9a51-0123456789ab',
  'DONE WORD\ncollapsed:: true\nlogseq.order-list-type:: number',
  'WORD\ntemplate:: x\ntemplate-including-parent:: false',
  '{% hint style="info" %}\nWORD\n{% endhint %}',
  '[TOC]\n\n[[_TOC_]]\n\nWORD',
  '#+BEGIN_NOTE\nWORD\n#+END_NOTE',
  '%%\nhidden\n%%\n\nWORD',
  '<aside>\n💡 WORD\n\n</aside>',
  '<details><summary>WORD</summary>\n\nInside\n\n</details>',
];

/** Where they stand. */
const PLACES: readonly ((form: string) => string)[] = [
  (form) => form,
  (form) => `# ${form}`,
  (form) => `- ${form}`,
  (form) => `1. a\n\n   ${form}`,
  (form) => `> ${form}`,
  (form) => `> [!tip]- ${form}\n> Body.`,
  (form) => `> [!note] Title\n> ${form}`,
  (form) => `- [/] ${form}`,
  (form) => `- a\n\t- ${form}\n\t  id:: 63f0a5b2-1d5e-4c3f-9a51-0123456789ab\n\t  collapsed:: true`,
  (form) => `---\ntags: [x]\n---\n\n${form}`,
];

const SIGNS = /\[\[|\]\]|[[\](){}^#`=<>|]{2}|::|[{}^#%]|==|\[|\]|!$/u;

describe.each(PLACES.map((place) => [place('…'), place] as const))('No sign is spoken in %j', (_, place) => {
  it.each(FORMS)('%s', (form) => {
    const said = spoken(place(form));
    expect(said).toContain('WORD');
    expect(said).not.toMatch(SIGNS);
  });
});

const LINES_PLACES: readonly ((lines: readonly string[]) => string)[] = [
  (lines) => lines.join('\n'),
  (lines) => `# Note\n\nBefore.\n\n${lines.join('\n')}\n\nAfter.`,
  (lines) => lines.map((line, at) => (at === 0 ? `- ${line}` : `  ${line}`)).join('\n'),
  (lines) => lines.map((line, at) => (at === 0 ? `- a\n\t- ${line}` : `\t  ${line}`)).join('\n'),
  (lines) => ['[!note] Title', '', ...lines].map((line) => `> ${line}`).join('\n'),
];

describe.each(LINES)('No sign is spoken in %j', (lines) => {
  it.each(LINES_PLACES.map((place) => place(lines.split('\n'))))('%j', (note) => {
    const said = spoken(note);
    expect(said).toContain('WORD');
    expect(said).not.toMatch(SIGNS);
  });
});

test.each([
  ['Call 📅 2024-01-01 ⏳2024-01-02', 'Call 2024-01-01 2024-01-02'],
  ['Call ⏫ 🔁 every day 🆔 ab12cd', 'Call every day'],
  ['Good 📅 and ✅ or ⛔ entry', 'Good 📅 and ✅ or ⛔ entry'],
  ['Card @{2024-01-01} @@{10:30}', 'Card 2024-01-01 10:30'],
])('The signs of a task are silent, and its dates are not: %s', (note, text) => {
  expect(spoken(note)).toBe(text);
});

test.each(['query', 'dataview', 'dataviewjs', 'tasks'])('A query in %s is silent.', (language) => {
  expect(spoken(`a\n\n\`\`\`${language}\nTABLE x FROM #y\n\`\`\`\n\nb`)).toBe('a\n\nb');
});

test('A query of Logseq is silent, and what a block of it holds is read.', () => {
  const note =
    '- #+BEGIN_QUERY\n  {:title "x"\n   :query [:find ?b]}\n  #+END_QUERY\n- #+BEGIN_QUOTE\n  To be.\n  #+END_QUOTE';
  expect(spoken(note)).toBe('To be.');
});
