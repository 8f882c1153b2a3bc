import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { KEY, named, type RunOptions, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

/** It would turn what follows red, ring, clear the screen (C1), and write the rest from right to left. */
const STRANGE = 'x\x1b[31m\x07\u009b2J\u202egpj 👩‍👧';
const SHOWN = 'x\\u001b[31m\\u0007\\u009b2J\\u202egpj 👩‍👧';
const RULES_TERMINAL = /(?!\n)[\p{Cc}\u202a-\u202e]/u;

const url = 'https://tts.example.com/api';
const config = ['--config', STRANGE];

it.each<[string, string[], RunOptions?]>([
  ['an error', ['-f', `${STRANGE}.txt`]],
  ['an error with what led to it', ['-v', '-f', `${STRANGE}.txt`]],
  ['an option that is unknown', [`--${STRANGE}`]],
  ['a warning', ['hi', '-o', 'out.wav', '--base-url', 'http://127.0.0.1:1', ...config]],
  ['what is done', ['-v', '-i', STRANGE, 'hi', '-o', 'out.wav']],
  ['a dry run', ['-v', '-i', STRANGE, 'hi', '-o', 'out.wav', '--dry-run']],
  ['tts config', ['config', ...config]],
  ['tts doctor', ['doctor', ...config]],
  ['tts speakers', ['speakers', '--names', ...config, '--base-url', url]],
  ['tts cache', ['cache'], { env: { TTS_CACHE_DIR: STRANGE } }],
  ['tts cache clear', ['cache', 'clear'], { env: { TTS_CACHE_DIR: STRANGE } }],
])('No name rules the terminal, and all can be recognised: %s', async (_, args, options = {}) => {
  const server = await serveBytes(complete(plainWav(sound(200))));
  const box = new Sandbox();
  const speakers = { [STRANGE]: { no: 7 } };
  chmodSync(box.file(STRANGE, JSON.stringify({ speaker: 7, speakers, retries: 0, apiKey: KEY })), 0o644);
  const env = args.includes('-i') ? named(server.url) : {};
  const { stdout, stderr } = await box.run(args, { ...options, env: { ...env, ...options.env } });
  expect(`${stdout}${stderr}`).toContain(SHOWN);
  expect(`${stdout}${stderr}`).not.toMatch(RULES_TERMINAL);
});
