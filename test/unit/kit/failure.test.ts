import { expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { noAnswer, ProxyError } from '../../../src/kit/http/failures.ts';

const url = new URL('https://tts.example.com/tts');

function told(code: string, message = 'what the system says') {
  return noAnswer(Object.assign(new Error(message), { code }), url, 1000);
}

/** Node names them in src/crypto/crypto_common.cc; others are codes of getaddrinfo(3). */
it.each([
  ['INVALID_PURPOSE', /certificate of tts\.example\.com cannot be trusted \(INVALID_PURPOSE\)/],
  ['PATH_LENGTH_EXCEEDED', /cannot be trusted \(PATH_LENGTH_EXCEEDED\)/],
  ['ERROR_IN_CERT_NOT_AFTER_FIELD', /cannot be trusted/],
  ['CERT_HAS_EXPIRED', /cannot be trusted/],
  ['UNSPECIFIED', /cannot be trusted \(what the system says\)/],
])('A certificate that is refused as %s is reported as such, and not retried.', (code, message) => {
  expect(told(code)).toMatchObject({
    exitCode: ExitCode.connection,
    retry: undefined,
    message: expect.stringMatching(message),
  });
});

it.each([
  ['EAI_FAIL', /the name of tts\.example\.com cannot be resolved \(EAI_FAIL\)/],
  ['EAI_MEMORY', /cannot be resolved/],
  ['EAI_AGAIN', /the name of tts\.example\.com cannot be resolved/],
  ['EHOSTUNREACH', /there is no route to tts\.example\.com \(EHOSTUNREACH\)/],
  ['ESOME_THING', /no connection to tts\.example\.com \(ESOME_THING\)/],
  ['UNKNOWN', /no connection/],
])('What the system calls %s is a connection that failed, and may be tried again.', (code, message) => {
  expect(told(code)).toMatchObject({
    exitCode: ExitCode.connection,
    retry: {},
    message: expect.stringMatching(message),
  });
});

it.each([
  ['EAI_FAIL', 'the name of the proxy p.example cannot be resolved (EAI_FAIL)'],
  ['EAI_AGAIN', 'the name of the proxy p.example cannot be resolved (EAI_AGAIN)'],
  ['ECONNREFUSED', 'nothing listens at the proxy p.example'],
])('What the system calls %s is told of a proxy as well.', (code, message) => {
  const cause = new ProxyError(new URL('http://p.example'), Object.assign(new Error('connect'), { code }));
  expect(noAnswer(cause, url, 1000)).toMatchObject({
    message,
    hint: expect.stringMatching(/^check --proxy/),
  });
});

it.each([
  [
    Object.assign(new Error('connect'), { code: 'EMFILE' }),
    /too many files are open \(EMFILE\)/,
    /ulimit -n/,
    {},
  ],
  [new RangeError('WebAssembly.Instance(): Out of memory'), /not enough memory/, /ulimit -v/, undefined],
])('A resource that this machine lacks is named: %s', (cause, message, hint, retry) => {
  expect(noAnswer(cause, url, 1000)).toMatchObject({
    exitCode: ExitCode.connection,
    retry,
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });
});

it.each(['ERR_INVALID_ARG_TYPE', 'UND_ERR_INVALID_ARG', ''])(
  'What Node or undici call %j is a defect.',
  (code) => {
    expect(() => told(code)).toThrow('what the system says');
  },
);
