/** The table of what models write in addition to their words, with a source for each row. */

export interface Enclosure {
  /** The markers around unspoken text, as regular expressions without capturing groups. */
  readonly opens: string;
  readonly closes: string;
  /** True for a thought that a template may begin in the prompt, so that the text only has its end. */
  readonly mayEndOnly?: boolean;
  readonly source: string;
}

export interface Mark {
  /** A regular expression for a marker that is not spoken; the words around it are. */
  readonly pattern: string;
  readonly source: string;
}

const WEBUI = 'https://github.com/open-webui/open-webui/blob/main/backend/open_webui/utils/middleware.py';
const VLLM_TOOLS = 'https://docs.vllm.ai/en/stable/features/tool_calling/';
const VLLM_PARSERS = 'https://docs.vllm.ai/en/stable/api/vllm/parser/';
const HARMONY = 'https://cookbook.openai.com/articles/openai-harmony';
const LLAMA = 'https://www.llama.com/docs/model-cards-and-prompt-formats/';
const MISTRAL = 'https://docs.mistral.ai/cookbooks/concept-deep-dive-tokenization-templates';
const QWEN = 'https://qwen.readthedocs.io/en/latest/getting_started/concepts.html';
const KIMI = 'https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md';
const DEEPSEEK = 'https://api-docs.deepseek.com/news/news250821';
const GEMMA_3 = 'https://ai.google.dev/gemma/docs/core/prompt-structure';
const GEMMA_4 = 'https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4';
const FUNCTION_GEMMA = 'https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices';
const COHERE = 'https://docs.cohere.com/docs/command-a-reasoning-hf';
const CLAUDE = 'https://docs.claude.com/en/docs/build-with-claude/prompt-engineering/chain-of-thought';
const CLAUDE_TOOLS = 'https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use';
const GROK = 'https://github.com/xai-org/grok-prompts';
const CLINE = 'https://github.com/cline/cline';
const PANGU = 'https://huggingface.co/FreedomIntelligence/openPangu-Embedded-7B-V1.1';

const CITATION_FORMAT = 'https://platform.openai.com/docs/guides/citation-formatting';
const GEMINI = 'https://github.com/search?type=code&q=%22%5Bcite_start%5D%22';
/** A reference to a source by ChatGPT: `turn0search1`. */
const REFERENCE = String.raw`turn\d{1,3}[a-z]{3,12}\d{1,3}`;

/** The end of JSON: an empty line, or a line that does not begin like JSON. */
const AFTER_JSON = String.raw`(?=\n[^\s[\]{}"]|\n\n)`;
/** A part of a message header, up to the next token. */
const HEADER = String.raw`[^<\n]{0,100}`;
const CONSTRAINT = String.raw`(?:<\|constrain\|>${HEADER})?<\|message\|>`;
const MESSAGE_END = String.raw`<\|(?:end|return|call)\|>|(?=<\|start\|>)`;

/** Thoughts, tool calls with their results, and documents that are shown beside the answer. */
export const ENCLOSURES: readonly Enclosure[] = [
  ...tags('think', 'https://huggingface.co/deepseek-ai/DeepSeek-R1', true),
  ...tags('thinking thought reason reasoning', WEBUI, true),
  ...tags('thoughts reflection scratchpad antml:thinking', CLAUDE, true),
  ...tags('seed:think', `${VLLM_PARSERS}seed_oss/`, true),
  ...tags('longcat_think', `${VLLM_PARSERS}longcat/`, true),
  ...tags('antThinking lobeThinking', 'https://github.com/lobehub/lobe-chat', true),
  between(
    String.raw`\[THINK\]`,
    String.raw`\[/THINK\]`,
    'https://docs.mistral.ai/capabilities/reasoning',
    true,
  ),
  between(String.raw`\[unused16\]`, String.raw`\[unused17\]`, PANGU, true),
  between('◁think▷', '◁/think▷', 'https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking', true),
  between(String.raw`<\|begin_of_thought\|>`, String.raw`<\|end_of_thought\|>`, WEBUI, true),
  between(String.raw`<\|START_THINKING\|>`, String.raw`<\|END_THINKING\|>`, COHERE, true),
  between(String.raw`<\|channel>thought`, String.raw`<channel\|>`, GEMMA_4, true),
  between(
    '<unused94>',
    '<unused95>',
    'https://developers.google.com/health-ai-developer-foundations/medgemma',
    true,
  ),
  between(
    String.raw`<details\s[^<>\n]{0,200}?type=["']?(?:reasoning|tool_calls|code_interpreter)\b`,
    '</details>',
    WEBUI,
  ),
  between(
    String.raw`(?:<\|start\|>${HEADER})?<\|channel\|>analysis${HEADER}${CONSTRAINT}`,
    MESSAGE_END,
    HARMONY,
  ),
  between(
    String.raw`(?:<\|start\|>${HEADER})?<\|channel\|>${HEADER}\bto=${HEADER}${CONSTRAINT}`,
    MESSAGE_END,
    HARMONY,
  ),
  between(
    String.raw`<\|start\|>${HEADER}\bto=${HEADER}(?:<\|channel\|>${HEADER})?${CONSTRAINT}`,
    MESSAGE_END,
    HARMONY,
  ),
  ...tags('tool_call tool_calls tool_response tool_result', QWEN),
  ...tags('function_call function_calls function_result function_results function_response', VLLM_TOOLS),
  ...tags('antml:function_calls antml:invoke', CLAUDE_TOOLS),
  between(String.raw`<invoke name=[^<>\n]{1,80}>`, '</invoke>', CLAUDE_TOOLS),
  ...tags('search_quality_reflection search_quality_score', 'https://github.com/anthropics/claude-cookbooks'),
  ...tags('grok:render xaiArtifact xai:function_call', GROK),
  ...tags('tool_use use_mcp_tool access_mcp_resource', CLINE),
  ...tags('tool_code tool_outputs', 'https://ai.google.dev/gemma/docs/capabilities/function-calling'),
  ...tags('longcat_tool_call', `${VLLM_PARSERS}longcat/`),
  ...tags('minimax:tool_call', `${VLLM_PARSERS}minimax_m2/`),
  ...tags('seed:tool_call', `${VLLM_PARSERS}seed_oss/`),
  between(String.raw`<function=[^<>\n]{1,80}>`, '</function>', LLAMA),
  between(String.raw`<\|python_start\|>`, String.raw`<\|python_end\|>`, LLAMA),
  between(String.raw`<\|python_tag\|>`, String.raw`<\|eo[mt]_id\|>|(?=\n\n)`, LLAMA),
  between(
    String.raw`(?<![^\n])\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"[^"\n]{1,80}"\s*,\s*"(?:parameters|arguments)"\s*:`,
    AFTER_JSON,
    LLAMA,
  ),
  between(String.raw`\[TOOL_CALLS\]`, `</s>|${AFTER_JSON}`, MISTRAL),
  between(String.raw`\[TOOL_RESULTS\]`, String.raw`\[/TOOL_RESULTS\]`, MISTRAL),
  between(String.raw`\[AVAILABLE_TOOLS\]`, String.raw`\[/AVAILABLE_TOOLS\]`, MISTRAL),
  between(String.raw`<\|tool_call\|>`, String.raw`<\|/tool_call\|>|${AFTER_JSON}`, `${VLLM_PARSERS}granite/`),
  between(String.raw`<\|tool_calls_section_begin\|>`, String.raw`<\|tool_calls_section_end\|>`, KIMI),
  // Some servers write DeepSeek's tokens in ASCII; the one for a single call then equals Kimi's.
  ...['calls', 'call', 'outputs', 'output'].map((what) =>
    between(`<[|｜]tool[▁_]${what}[▁_]begin[|｜]>`, `<[|｜]tool[▁_]${what}[▁_]end[|｜]>`, DEEPSEEK),
  ),
  between(
    String.raw`<｜DSML｜\s?(?:function|tool)_calls>`,
    String.raw`</｜DSML｜\s?(?:function|tool)_calls>`,
    `${VLLM_PARSERS}deepseek_v32/`,
  ),
  between('<start_function_call>', '<end_function_call>', FUNCTION_GEMMA),
  between('<start_function_response>', '<end_function_response>', FUNCTION_GEMMA),
  between(String.raw`<\|tool_call>`, String.raw`<tool_call\|>`, GEMMA_4),
  between(String.raw`<\|tool_response>`, String.raw`<tool_response\|>`, GEMMA_4),
  between(String.raw`<\|START_ACTION\|>`, String.raw`<\|END_ACTION\|>`, COHERE),
  between(String.raw`<\|START_TOOL_RESULT\|>`, String.raw`<\|END_TOOL_RESULT\|>`, COHERE),
  between('✿FUNCTION✿', '✿RETURN✿[:：]?', 'https://github.com/QwenLM/Qwen-Agent'),
  ...tags('antArtifact', 'https://support.claude.com/en/articles/9487310-what-are-artifacts'),
  ...tags('boltArtifact', 'https://github.com/stackblitz/bolt.new'),
  ...tags('lobeArtifact', 'https://github.com/lobehub/lobe-chat'),
  between(
    String.raw`(?<![^\n]):::artifact\{`,
    String.raw`\n[ \t]*:::(?!\w)`,
    'https://www.librechat.ai/docs/features/artifacts',
  ),
];

/** Control tokens and citation marks. */
export const MARKS: readonly Mark[] = [
  // The header of a message that is spoken.
  mark(
    String.raw`(?:<\|start\|>${HEADER})?(?:<\|channel\|>${HEADER})?(?:<\|constrain\|>${HEADER})?<\|message\|>`,
    HARMONY,
  ),
  mark(
    String.raw`<\|(?:im_start|start_header_id|header_start|start_of_role|im_assistant)\|>(?:(?:assistant|model|user|system|tool|ipython)\b)?(?:<\|(?:end_header_id|header_end|end_of_role|im_middle)\|>)?\n?`,
    LLAMA,
  ),
  mark(String.raw`<\|/?[A-Za-z][\w.:/▁-]{0,60}\|>`, QWEN),
  mark(String.raw`<｜[^<>｜\n]{1,60}｜>`, DEEPSEEK),
  mark(String.raw`<start_of_turn>(?:(?:model|user)\b)?\n?|<end_of_turn>`, GEMMA_3),
  mark(String.raw`<\|turn>(?:(?:model|user|system)\b)?\n?|<turn\|>|<\|"\|>`, GEMMA_4),
  mark(String.raw`<(?:bos|eos|pad|unk)>|<unused\d{1,3}>`, GEMMA_3),
  mark(String.raw`\[/?INST\]`, MISTRAL),
  mark(String.raw`\[gMASK\]|<[se]op>`, 'https://huggingface.co/zai-org/GLM-4.5'),
  mark(String.raw`\[unused\d{1,3}\]`, PANGU),
  // Elsewhere it may be HTML's strikethrough.
  mark(String.raw`</s>(?=\s{0,9}(?:$|<s>))`, MISTRAL),
  mark('</?(?:answer|final_answer|response)>', `${VLLM_PARSERS}granite_thinking/`),
  mark(String.raw`</?co(?::\s?[\d,\s[\]:]{1,40})?>`, 'https://docs.cohere.com/docs/rag-citations'),
  mark('✿(?:RESULT|RETURN|ARGS)✿[:：]?', 'https://github.com/QwenLM/Qwen-Agent'),
  mark(
    String.raw`[ \t]?(?:【\d+(?::\d+)?†[^】\n]{0,80}】|\[\d+(?::\d+)?†[^\]\n]{0,80}\])`,
    'https://platform.openai.com/docs/assistants/tools/file-search',
  ),
  mark(String.raw`[ \t]?\ue200[^\ue200\ue201\n]{0,200}\ue201`, CITATION_FORMAT),
  // The form in which they are copied from a page.
  mark(
    String.raw`[ \t]?(?:(?:file)?cite(?:${REFERENCE}){1,9}|\[${REFERENCE}\]|【${REFERENCE}】)`,
    CITATION_FORMAT,
  ),
  mark(String.raw`[ \t]?\[\^\d{1,3}\^\](?:\[\d{1,3}\])?`, 'https://github.com/acheong08/EdgeGPT/issues/299'),
  mark(
    String.raw`[ \t]?\[\[\d{1,3}\]\]\(https?:[^()\s]{1,500}\)`,
    'https://github.com/Chevey339/kelivo/pull/394',
  ),
  mark(String.raw`\[cite_start\][ \t]?|[ \t]?\[cite_end\]`, GEMINI),
  mark(
    String.raw`[ \t]?\[(?:citation|cite|source|ref|doc|webpage|web|post|file)\s?:\s?\d{1,3}(?:\s?[,-]\s?\d{1,3}){0,9}\](?!\()`,
    'https://github.com/deepseek-ai/DeepSeek-R1',
  ),
];

const NUMBERS = String.raw`\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9}\]`;

/**
 * Sources as Perplexity, Open WebUI and others write them, subject to {@link isCitation}: plain brackets have many uses.
 */
export const CITATION = String.raw`[ \t]?${NUMBERS}(?:[ \t]?${NUMBERS}){0,9}(?![([:\w]|\s?=)`;

/** An incomplete end of text that may become a mark. */
export const BEGUN = new RegExp(
  [
    String.raw`<(?:[|｜/A-Za-z<][^<>\n]{0,200})?$`,
    String.raw`<\|(?:start|channel)\|>(?:(?!<\|message\|>)[^\n]){0,300}$`,
    String.raw`<(?:\|(?:im_start|start_header_id|header_start|start_of_role|im_assistant)\||start_of_turn|\|turn)>[a-z]{0,9}(?:<\|[a-z_]{0,20}\|?>?)?\n?$`,
    String.raw`[ \t]?(?:\[[\d,;\s–-]{1,40}\][ \t]?){0,9}(?:\[[^[\]\n]{0,60})?$`,
    String.raw`[ \t]?\[(?:\[(?:\d{1,3}(?:\](?:\](?:\([^()\s]{0,500})?)?)?)?)?$`,
    String.raw`[ \t]?(?:file)?citet[a-z\d]{0,200}$`,
    String.raw`[ \t]?(?:【[^】\n]{0,90}|\ue200[^\ue201\n]{0,200})$`,
    String.raw`</s>\s{0,9}$`,
    String.raw`(?:◁[^▷\n]{0,8}|✿[^✿\n]{0,10}✿?)$`,
    String.raw`(?<![^\n]):{1,3}[a-z]{0,8}$`,
    String.raw`(?<![^\n])\{\s*(?:"[^{}]{0,200})?$`,
  ].join('|'),
  'u',
);

/** Words after which brackets do not refer to a source. */
const BEFORE_NUMBERS =
  /(?:^|[^\p{L}])(?:press|type|enter|keys?|buttons?|see|in|of|options?|steps?|items?|choose|select|pick|refs?|references?|sources?|and|or|with|numbers?|lines?|sections?|from|to|by|at|is|are|was|equals?|returns?|gives?|the|an?|intervals?|ranges?|lists?|arrays?|vectors?|tuples?|sets?|matrix|sequence|values?|digits?|element|index)[ \t]$/iu;
/** After code, a source needs a space: `list`[1] is an element. */
const BEFORE_CITATION = /(?:[\p{L}\p{N}.,;!?)\]"'”’%°*_…][ \t]?|`[ \t])$/u;
/** A variable or a call, as in `x[1]`: a letter, a name with a digit or an underscore, or a name that is common in code. */
const VARIABLE =
  /(?:^|[^\p{L}\p{N}_])(?:\p{L}|\p{L}\w{0,30}[_\d]\w{0,30}|lists?|arrays?|arr|vec|vectors?|tuples?|dict|matrix|items|args|argv|nums|str|row|col)$|\w\(\)$/u;

/**
 * True if numbers in brackets refer to a source.
 * @param before up to 80 UTF-16 units before them, with the space between
 */
export function isCitation(before: string, numbers: string): boolean {
  if (/\b0+\b/u.test(numbers)) return false;
  return BEFORE_CITATION.test(before) && !BEFORE_NUMBERS.test(before) && !VARIABLE.test(before);
}

function between(opens: string, closes: string, source: string, mayEndOnly = false): Enclosure {
  return { opens, closes, source, mayEndOnly };
}

function mark(pattern: string, source: string): Mark {
  return { pattern, source };
}

/** @param names separated by spaces, matched in any case */
function tags(names: string, source: string, mayEndOnly = false): Enclosure[] {
  return names.split(' ').map((name) => {
    const anyCase = name.replace(/[a-z]/giu, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
    return between(
      String.raw`<${anyCase}(?:[ =][^<>\n]{0,200})?(?<!/)>`,
      String.raw`</${anyCase}[ \t]{0,9}>`,
      source,
      mayEndOnly,
    );
  });
}
