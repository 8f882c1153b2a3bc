import { expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import type { Answer } from '../../../src/kit/http/client.ts';
import { meantStatus, noAnswer, ProxyError, refusal } from '../../../src/kit/http/failures.ts';

const url = new URL('https://tts.example.com/tts');

function told(code: string, message = 'what the system says') {
  return noAnswer(Object.assign(new Error(message), { code }), url, 1000);
}

const coded = (code: string) => Object.assign(new Error('x'), { code });

/** As undici tells of bytes that are no HTTP. */
const unparsed = (data: string) =>
  Object.assign(new Error('Parse Error'), { name: 'HTTPParserError', code: 'HPE_INVALID_CONSTANT', data });

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
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', (who: string) => `${who} speaks HTTP/2 alone`],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', (who: string) => `the certificate of ${who} cannot be trusted`],
  ['EPROTO', (who: string) => `${who} does not speak TLS as expected`],
])('TLS through a proxy that is reached without it is that of the service: %s', (code, message) => {
  const told = (proxy: string) =>
    noAnswer(new ProxyError(new URL(proxy), coded(code)), new URL('https://h.example'), 1000).message;
  expect(told('http://p.example')).toContain(message('h.example'));
  expect(told('https://p.example')).toContain(message('the proxy p.example or h.example'));
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

it.each<[string, Error, RegExp, RegExp]>([
  [
    'https://h.example',
    coded('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'),
    /^h\.example speaks HTTP\/2 alone/,
    /nginx/,
  ],
  ['http://h.example', unparsed('\0\0\x12\x04\0\0'), /^h\.example speaks HTTP\/2 alone/, /nginx/],
  ['http://h.example', unparsed('\x15\x03\x01\0\x02'), /^h\.example speaks TLS/, /https:\/\//],
  ['http://h.example', unparsed('SSH-2.0'), /invalid HTTP answer/, /check the base URL/],
  ['http://h.example', coded('ECONNRESET'), /closed the connection/, /https:\/\/ rather than http:/],
  ['https://h.example', coded('ECONNRESET'), /closed the connection/, /^try again/],
])('What is spoken at %s is told by %s.', (address, cause, message, hint) => {
  expect(noAnswer(cause, new URL(address), 1000)).toMatchObject({
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });
});

it.each<[number, number, object]>([
  [401, 402, { detail: { status: 'quota_exceeded', message: 'You have 3 credits remaining.' } }],
  [401, 402, { error: { code: 'insufficient_credits' } }],
  [401, 402, { error: 'credits_exhausted' }],
  [401, 402, { detail: 'Your quota is exceeded' }],
  [403, 402, { message: 'There are no credits left' }],
  [403, 402, { error: { errors: [{ reason: 'dailyLimitExceeded' }] } }],
  [400, 402, { error: { code: 'billing_hard_limit_reached' } }],
  [400, 402, { __type: 'ServiceQuotaExceededException' }],
  [422, 402, { code: 'INSUFFICIENT_BALANCE' }],
  [400, 402, { code: 'Arrearage', message: 'Access denied, is your account in good standing?' }],
  [403, 402, { error_message: 'Forbidden', error_id: 'INSUFFICIENT_CREDITS' }],
  [403, 402, { error: { code: 403, details: [{ reason: 'BILLING_DISABLED' }] } }],
  [403, 402, { error: { code: '403', message: 'Out of call volume quota.' } }],
  [403, 402, { detail: 'User is locked. Reason: Exhausted balance.' }],
  [403, 402, { error: { code: 'USAGE_CAP_REACHED', message: 'Please upgrade' } }],
  [403, 402, { error: { code: 'FORBIDDEN', message: 'Your account has reached its usage cap.' } }],
  [429, 402, { error: { code: 'usage_limit_exceeded' } }],
  [429, 429, { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded' }],
  [429, 429, { code: 'Throttling.AllocationQuota', message: 'Allocated quota exceeded' }],
  [429, 429, { error_code: 'concurrency_limited', title: 'Too many concurrent requests' }],
  [429, 429, { category: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.' }],
  [401, 401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }],
  [429, 402, { error: { code: 'insufficient_quota', type: 'insufficient_quota', message: 'Pay' } }],
  [429, 402, { error: { type: 'billing_not_active' } }],
  [400, 429, { __type: 'ThrottlingException' }],
  [403, 429, { error: { errors: [{ domain: 'usageLimits', reason: 'userRateLimitExceeded' }] } }],
  [401, 429, { detail: { status: 'too_many_concurrent_requests' } }],
  [400, 401, { error: { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } }],
  [401, 401, { detail: { status: 'invalid_api_key', message: 'no' } }],
  [401, 401, { error: { message: 'The key may not be used for credit cards', code: 'unauthorized' } }],
  [403, 403, { error: 'forbidden' }],
  [429, 429, { error: { message: 'Quota exceeded for requests per minute', status: 'RESOURCE_EXHAUSTED' } }],
  [429, 429, { error: { code: 'rate_limit_exceeded', type: 'tokens' } }],
  [422, 422, { detail: [{ loc: ['body', 'quota'], input: 'credit', msg: 'no' }] }],
  [400, 400, { error: { param: 'payment', message: 'Wrong' } }],
  [400, 400, { error: 'missing_key', message: 'text' }],
  [413, 413, { error: { code: 'rate_limit_exceeded' } }],
  [503, 503, { error: 'load_balancer_error' }],
  [500, 500, { error: 'quota_exceeded' }],
])('A status %i is meant as %i with %j.', (status, meant, body) => {
  expect(meantStatus(status, Buffer.from(JSON.stringify(body)))).toBe(meant);
});

async function refused(status: number, body: object) {
  async function* bytes() {
    yield Buffer.from(JSON.stringify(body));
  }
  return refusal({ status, headers: {}, body: bytes() } as unknown as Answer, { url, keyOrigin: 'a file' });
}

it.each([
  ['The model `tts-9` does not exist', /^tts\.example\.com does not have what is asked for/],
  ['A voice for the voice_id x was not found.', /^tts\.example\.com does not have what is asked for/],
  ['Not Found', /^there is nothing at https:\/\/tts\.example\.com\/tts/],
])('A status 404 is about what its message names: %s', async (message, said) => {
  expect((await refused(404, { error: { message } })).message).toMatch(said);
});

it.each<[number, object, number | undefined]>([
  [429, { error: { code: 429, details: [{ '@type': 'RetryInfo', retryDelay: '36s' }] } }, 36],
  [525, { title: 'Error 525', retry_after: 60 }, 60],
  [429, { error: 'slow down', retryAfter: '1.5' }, 1.5],
  [429, { error: 'slow down', text: 'retry_after: 5' }, undefined],
])('The wait that an error of status %i asks for counts: %j', async (status, body, after) => {
  expect((await refused(status, body)).retry).toMatchObject({ after });
});

it.each(['ERR_INVALID_ARG_TYPE', 'UND_ERR_INVALID_ARG', ''])(
  'What Node or undici call %j is a defect.',
  (code) => {
    expect(() => told(code)).toThrow('what the system says');
  },
);
