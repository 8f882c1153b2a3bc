import { type ByteServer, type Script, serveBytes } from './byte-server.ts';
import { type Arguments, type Ended, named, type RunOptions, Sandbox } from './run.ts';

export interface Machine {
  readonly box: Sandbox;
  readonly server: ByteServer;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command to its end with the service configured; `env` of the options takes precedence. */
  run(args: Arguments, options?: RunOptions): Promise<Ended>;
  shell(line: string, options?: RunOptions): Promise<Ended>;
  /** The texts of all requests to the service. */
  texts(): string[];
}

/** Sets up a sandbox and a service that answers by a script. */
export async function machineWith(
  script: Script,
  more: Readonly<Record<string, string>> = {},
): Promise<Machine> {
  const server = await serveBytes(script);
  const box = new Sandbox();
  const env = named(server.url, more);
  const withEnv = (options: RunOptions = {}) => ({ ...options, env: { ...env, ...options.env } });
  return {
    box,
    server,
    env,
    run: (args, options) => box.run(args, withEnv(options)),
    shell: (line, options) => box.shell(line, withEnv(options)),
    texts: () => server.requests.map(({ json }) => (json as { text: string }).text),
  };
}
