import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Unspoken, type UnspokenOptions } from '../../../src/read/assistant.ts';
import { cutInto } from './spoken.ts';

/** What is spoken of a text, also in pieces of any size. */
function expectSpoken(text: string, expected: string, read = (all: string) => all): void {
  expect(read(spoken([text]))).toBe(expected);
  for (const size of [1, 2, 3, 5, 7]) expect(read(spoken(cutInto(size, text)))).toBe(expected);
}

function spoken(pieces: readonly string[], options?: UnspokenOptions): string {
  const stage = new Unspoken(options);
  return [...pieces.flatMap((piece) => [...stage.push(piece)]), ...stage.end()].join('');
}

const CLAUDE = ['ant', 'ml:'].join('');
const CALL = '```json\n{"name": "ls", "arguments": {"path": "."}}\n```\n';

test.each([
  ['<think>\nHm. Let me see.\n</think>\nHello.', '\nHello.'],
  ['One. <thinking>no</thinking>Two.', 'One. Two.'],
  ['Let me look.\n<tool_call>{"name":"ls"}</tool_call>\nDone.', 'Let me look.\n\nDone.'],
  ['A thought without an end: <think>and so on', 'A thought without an end: '],
  ['<think>a <think>b</think> c</think>Hello.', 'Hello.'],
  ['<think>Is <think> a tag?</think>\n\nIt is.', '\n\nIt is.'],
  ['Look:\n```json\n{"arguments": {}, "name": "ls"}\n```\nDone.', 'Look:\nDone.'],
  ['1\ufe0f\u20e3 First.', '1 First.'],
  ['Models write `<think>` in code.', 'Models write `<think>` in code.'],
  ['5 < 6 and a <b>tag</b>.', '5 < 6 and a <b>tag</b>.'],
  [`Look:\n${CALL}Done.`, 'Look:\nDone.'],
  ['Data:\n```json\n{"a": 1}\n```\nDone.', 'Data:\n```json\n{"a": 1}\n```\nDone.'],
  ['Great! 😊👍🏽 Go on. 👨‍👩‍👧', 'Great!  Go on. '],
  ['© 2024 #1', '© 2024 #1'],
  ['Start.\n 10% [#   ]\r 50% [## ]\r100% [###]\nDone.', 'Start.\n100% [###]\nDone.'],
  ['One.\r\nTwo.', 'One.\r\nTwo.'],
])('What is not for the ear is left out: %j', (text, expected) => {
  expectSpoken(text, expected);
});

/** A thought that has both its marks, and the same answer behind it. */
test.each([
  '<think>Hm.</think>',
  '<THINK>Hm.</Think>',
  '<thinking mode="deep">Hm.</thinking>',
  '<thought>Hm.</thought>',
  '<Thought>Hm.</Thought>',
  '<reason>Hm.</reason>',
  '<reasoning>Hm.</reasoning>',
  '<scratchpad>Hm.</scratchpad>',
  '<antThinking>Hm.</antThinking>',
  '<lobeThinking>Hm.</lobeThinking>',
  '<seed:think>Hm.</seed:think>',
  '[THINK]Hm. [1]\n\nHm.[/THINK]',
  '◁think▷Hm.◁/think▷',
  '<|begin_of_thought|>Hm.<|end_of_thought|>',
  '<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>',
  '<|channel>thought\nHm.<channel|>',
  '<unused94>thought\nHm.<unused95>',
  '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 s</summary>\n> Hm.\n</details>',
  '<details done="true" type="tool_calls" id="a" arguments="&quot;{}&quot;">\n<summary>Done</summary>\n</details>',
  '<details type="code_interpreter" done="true">\n```python\nprint(1)\n```\n</details>',
  '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>',
  '<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>',
  '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 2}<|call|>',
  '<|start|>assistant to=functions.add<|channel|>commentary<|constrain|>json<|message|>{"a": 2}<|call|>',
  '<|start|>functions.add to=assistant<|channel|>commentary<|message|>4<|end|><|start|>assistant<|channel|>final<|message|>',
  '<tool_call>\n{"name": "add"}\n</tool_call>',
  '<tool_call>add<arg_key>a</arg_key><arg_value>2</arg_value></tool_call>',
  '<tool_call>\n<function=add>\n<parameter=a>\n2\n</parameter>\n</function>\n</tool_call>',
  '<function=add>{"a": 2}</function>',
  '<function_calls><invoke name="add"></invoke></function_calls><function_results>4</function_results>',
  '<minimax:tool_call><invoke name="add"></invoke></minimax:tool_call>',
  '<|python_tag|>add.call(a=2)<|eom_id|>',
  '<|python_start|>add(2)<|python_end|>',
  '[TOOL_CALLS][{"name": "add", "arguments": {"a": [2]}}]</s>',
  '[TOOL_CALLS]add[ARGS]{"a": 2}</s>[TOOL_RESULTS]{"content": 4}[/TOOL_RESULTS]',
  '<|tool_call|>[{"name": "add"}]<|/tool_call|>',
  '<|tool_calls_section_begin|><|tool_call_begin|>add:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  '<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>4<｜tool▁output▁end｜><｜tool▁outputs▁end｜>',
  '<｜DSML｜function_calls><｜DSML｜invoke name="add"></｜DSML｜invoke></｜DSML｜function_calls>',
  '<start_function_call>call:add{a:2}<end_function_call>',
  '<|tool_call>call:add{a:<|"|>2<|"|>}<tool_call|><|tool_response>4<tool_response|>',
  '<|START_ACTION|>[{"tool_name": "add"}]<|END_ACTION|>',
  '✿FUNCTION✿: add\n✿ARGS✿: {}\n✿RESULT✿: 4\n✿RETURN✿: ',
  '<think >Hm.</think >',
  '<longcat_think>Hm.</longcat_think>',
  '[unused16]Hm.[unused17]',
  '<grok:render card_id="a" card_type="citation_card"><argument name="citation_id">1</argument></grok:render>',
  '<xai:function_call name="add"><parameter name="a">2</parameter></xai:function_call>',
  '<xaiArtifact artifact_id="a" title="A page"><p>Two</p></xaiArtifact>',
  `<${CLAUDE}function_calls>\n<${CLAUDE}invoke name="add">\n</${CLAUDE}invoke>\n</${CLAUDE}function_calls>`,
  `<${CLAUDE}thinking>Hm.</${CLAUDE}thinking>`,
  '<invoke name="add">\n<parameter name="a">2</parameter>\n</invoke>',
  '<search_quality_reflection>Hm.</search_quality_reflection><search_quality_score>5</search_quality_score>',
  '<tool_use><name>add</name><arguments>{}</arguments></tool_use>',
  '<use_mcp_tool><server_name>a</server_name></use_mcp_tool>',
  '<tool_code>\nprint(add(2))\n</tool_code>\n<tool_outputs>4</tool_outputs>',
  '<longcat_tool_call>{}</longcat_tool_call>',
  '<｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 2}<｜tool▁call▁end｜><｜end▁of▁sentence｜>',
  '<|tool▁calls▁begin|><|tool▁call▁begin|>add<|tool▁sep|>{}<|tool▁call▁end|><|tool▁calls▁end|>',
  '<｜tool_calls_begin｜>add<｜tool_calls_end｜>',
  '<|channel|>commentary to=browser.search code<|message|>{"query": "2"}<|call|>',
  '[gMASK]<sop><|assistant|>\n',
  '<|observation|>',
  '[cite_start]',
  'I go on.</THINK >',
  'I go on.[unused17]',
  '<antArtifact identifier="a" type="text/html" title="A page"><p>Two</p></antArtifact>',
  '<boltArtifact id="a" title="A page"><boltAction type="shell">ls</boltAction></boltArtifact>',
  '<|im_start|>assistant\n',
  '<|start_header_id|>assistant<|end_header_id|>\n\n',
  '<|header_start|>assistant<|header_end|>\n\n',
  '<|start_of_role|>assistant<|end_of_role|>',
  '<|im_assistant|>assistant<|im_middle|>',
  '<start_of_turn>model\n',
  '<|turn>model\n',
  '<|assistant|>\n',
  '<｜Assistant｜>',
  '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>',
  '[INST] [/INST] ',
  '<bos>',
  '</tool_call>',
  'I go on.\n</think>\n\n',
  'I go on.[/THINK]',
  'I go on.</antThinking>',
  'I go on.</longcat_think>',
  'I go on.<|end_of_thought|>',
  'I go on.<|END_THINKING|>',
  'I go on.<channel|>',
  'I go on.<unused95>',
  'I go on.◁/think▷',
  'I go on.</seed:think>',
  'I go on, with a `</think>` in code.</thinking>',
])('In front of an answer, %j is for no listener.', (before) => {
  expectSpoken(`${before}The answer is four.`, 'The answer is four.', (said) => said.trim());
});

test.each([
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|eot|>',
  '<|end|>',
  '<|return|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|END_OF_TURN_TOKEN|>',
  '<｜end▁of▁sentence｜>',
  '<end_of_turn>',
  '<turn|>',
  '<eos>',
  '</s>',
  '</answer>',
  '[TOOL_CALLS]add[ARGS]{"a": 2}',
  '\n{"name": "add", "parameters": {"a": 2}}',
  '\n{"type": "function", "name": "add", "parameters": {}}',
  '\n```tool_code\nprint(add(2))\n```',
  ' [1]',
  '[2][3]',
  ' [1] [12]',
  '[1, 2]',
  ' [1-3]',
  '【4:0†source】',
  '【5†L1-L4】',
  ' [citation:3]',
  '\ue200cite\ue202turn0search0\ue201',
  '\ue200cite\ue202turn0search0\ue202turn1view2\ue201',
  '[turn0search1]',
  '【turn0search1】',
  '[^1^]',
  ' [^2^][^3^]',
  ' [cite: 1, 2]',
  ' [cite: 12, 14-16]',
  ' [web:1][post:3]',
  ' [1†source]',
  ' [[1]](https://example.org/a_b?c=1)',
  '<|observation|>',
  '<think>And',
])('After an answer, %j is for no listener.', (after) => {
  expectSpoken(`The answer is four.${after}`, 'The answer is four.', (said) => said.trim());
});

test.each([
  ['It boils at 100 °C [1], and freezes at zero [2][3].', 'It boils at 100 °C, and freezes at zero.'],
  ['Cats sleep [1] and dogs bark[2].', 'Cats sleep and dogs bark.'],
  ['<answer>Four.</answer>', 'Four.'],
  ['[cite_start]**Cats** sleep[cite: 1, 2].', '**Cats** sleep.'],
  ['Cats sleep[^1^], and dogs bark [^2^][^3^].', 'Cats sleep, and dogs bark.'],
  ['Cats<grok:render type="a"><argument>1</argument></grok:render> sleep.', 'Cats sleep.'],
  ['Take list[1], args[2] and get()[3], says a book[4].', 'Take list[1], args[2] and get()[3], says a book.'],
  ['Call `run` [1], or `list`[2].', 'Call `run`, or `list`[2].'],
  ['<co: 0,1>Cats</co: 0,1> sleep.', 'Cats sleep.'],
  ['Look.\n[TOOL_CALLS]add{}\nDone.', 'Look.\n\nDone.'],
  ['Look.\n{"name": "add", "arguments": {"a": 2}}\nDone.', 'Look.\n\nDone.'],
  ['Look.\n:::artifact{identifier="a" title="b"}\n```\nx\n```\n:::\nDone.', 'Look.\n\nDone.'],
])('Of %j is heard %j.', (text, expected) => {
  expectSpoken(text, expected);
});

test.each([
  'The mark `</think>` ends it, and ``<|im_end|>`` the turn.',
  'Write `list[1] [2]` and `<think> and </think>` so.',
  '```xml\n<think>no</think> [1]\n</think>\n```\nDone.',
  '~~~\n<|channel|>analysis<|message|>\n~~~\nDone.',
  'From [1:30] to [2:00], see [1](https://example.org) and [2][ref].',
  '[1]: https://example.org',
  '[1] Smith, A book.\n- [2] Jones, a book.',
  'Press [1] to go on, or [2] to stop.',
  'x[1] and row_2[3] and a list [1, 2, 3] in [0, 1].',
  'The set {1} and {"name": "Ada", "age": 36}.',
  '<details>\n<summary>More</summary>\nWords.\n</details>',
  '<s>gone</s> and here',
  'if a <b and c> d: f <| g |> h',
  'They cite <think/> and <grok:render id="a"/> here.',
  'To cite turns, see [[1, 2]] or [cite] or [web page] or [^1].',
  'The citet command \\citet{a} cites.',
  'In 【中文】 and [THIS] and [think] and :::note',
  '{"name": "Ada"} is JSON.',
  'One ` tick, and then\n\nanother ` one.',
])('%j is spoken as it is.', (text) => {
  expectSpoken(text, text);
});

test.each([
  ['The answer is four.citeturn0search1', 'The answer is four.'],
  ['The answer citeturn0search1turn12news3 is four.', 'The answer is four.'],
  ['Four.fileciteturn0file2 Five.', 'Four. Five.'],
])('Signs of ChatGPT are known as they are copied: %j', (text, expected) => {
  expect(spoken([text])).toBe(expected);
});

test('The answer behind a thought that only ends is told once, with what has come of it.', () => {
  const told: number[] = [];
  const stage = new Unspoken({ isLive: true, onAnswer: (units) => told.push(units) });
  for (const text of ['I ponder. `</think>` is ', 'a tag.</th', 'ink>Fo', 'ur.</think> Five.'])
    void [...stage.push(text)];
  expect(told).toEqual(['Fo'.length]);
  const others: number[] = [];
  const second = new Unspoken({ isLive: true, onAnswer: (units) => others.push(units) });
  for (const text of ['<think>Hm.</think>Four.', '</think>']) void [...second.push(text)];
  expect(others).toEqual([]);
});

test('Where the beginning of a thought stood in the prompt, nothing is spoken before its end.', () => {
  const options = { beginsInThought: true, isLive: true };
  expect(spoken(['I pon', 'der.\n</th', 'ink>\n\nFour.'], options)).toBe('\n\nFour.');
  expect(spoken(['I ponder.'], options)).toBe('');
});

test('A live text leaves before it can be known for a thought.', () => {
  const stage = new Unspoken({ isLive: true });
  expect([...stage.push('Hello there. And')].join('')).toBe('Hello there. And');
  expect([...stage.push(' so on.</think>Four.'), ...stage.end()].join('')).toBe('Four.');
});

const bits = fc.constantFrom(
  '<think>',
  '</think>',
  '<',
  'tool_call>',
  '\n',
  '{"name": 1, "args": 2}',
  'word ',
  '😊',
);

test('The result does not depend on the pieces.', () =>
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 20 }), (all) => {
      expect(spoken(all)).toBe(spoken([all.join('')]));
    }),
  ));

test('Only a line that may be written over is held back, and not for ever.', () => {
  const stage = new Unspoken({ isLive: true });
  const all = (text: string) => [...text].flatMap((character) => [...stage.push(character)]).join('');
  expect(all('Hello there. ')).toBe('Hello there.');
  expect(all('It is 50% done. And so on. ')).toMatch(/And so on\.$/);
  expect(all('\n10%')).toBe(' \n');
  expect([stage.isHolding, ...stage.flush(1000), ...stage.flush(2000)]).toEqual([true, '10%']);
  expect(stage.isHolding).toBe(false);
  expect([all('\n```json\n{\n'), stage.isHolding, ...stage.flush(2000)]).toEqual(['\n', false]);
});
