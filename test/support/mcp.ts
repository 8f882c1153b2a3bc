import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import type { Running, Sandbox } from './run.ts';

interface Answer {
  /** All texts of the answer, joined by line breaks. */
  readonly said: string;
  readonly isError: boolean;
  readonly data: Record<string, unknown>;
}

interface McpSession {
  readonly client: Client;
  readonly run: Running;
  call(tool: string, args: object, options?: RequestOptions): Promise<Answer>;
}

/** Starts `tts mcp` with the client of the official SDK, which rejects lines on stdout that are not messages. */
export async function startMcp(
  box: Sandbox,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<McpSession> {
  const run = box.start(['mcp', ...args], { env, stdin: 'open', patience: 110_000 });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(overPipes(run));
  onTestFinished(() => client.close());
  return {
    client,
    run,
    async call(name, args, options) {
      const called = { name, arguments: { ...args } };
      const { content, isError, structuredContent } = await client.callTool(called, undefined, options);
      const texts = (content as readonly { readonly text: string }[]).map(({ text }) => text);
      const data = (structuredContent ?? {}) as Record<string, unknown>;
      return { said: texts.join('\n'), isError: isError === true, data };
    },
  };
}

function overPipes({ stdin, stdout }: Running): Transport {
  const transport: Transport = {
    async start() {
      const lines = createInterface({ input: stdout });
      lines.on('line', (line) => transport.onmessage?.(deserializeMessage(line)));
      lines.once('close', () => transport.onclose?.());
    },
    async send(message) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
    },
  };
  return transport;
}
