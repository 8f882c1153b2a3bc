import { describe, expect, it } from 'vitest';
import { createFaults, parseFault, parseFaults } from '../../../src/serve/faults.ts';

describe('parseFault', () => {
  it.each([
    ['status=429,times=2,retry-after=1', { effects: { status: 429, retryAfter: 1 }, times: 2 }],
    ['delay=2s', { effects: { delay: 2000 } }],
    ['delay=1.5', { effects: { delay: 1500 } }],
    ['delay=35791m', { effects: { delay: 2_147_460_000 } }],
    ['delay=250ms', { effects: { delay: 250 } }],
    ['drop-after=64k', { effects: { dropAfter: 65_536 } }],
    ['drop-after=2M', { effects: { dropAfter: 2_097_152 } }],
    ['drop-after=0', { effects: { dropAfter: 0 } }],
    ['drop-after=1,reset', { effects: { dropAfter: 1, ending: 'reset' } }],
    ['close,delay=1', { effects: { ending: 'close', delay: 1000 } }],
    ['bandwidth=16k,slice=100', { effects: { bandwidth: 16_384, slice: 100 } }],
    ['reset,drop-after=1,bandwidth=1', { effects: { ending: 'reset', dropAfter: 1, bandwidth: 1 } }],
    ['truncate', { effects: { truncate: true } }],
    ['wav-header=per-chunk', { effects: { wavHeader: 'per-chunk' } }],
    ['content-type=text/html', { effects: { contentType: 'text/html' } }],
    ['hang,match=a=b,rate=0.1', { effects: { hang: true }, match: 'a=b', rate: 0.1 }],
    ['match=Hello\\, world,hang', { effects: { hang: true }, match: 'Hello, world' }],
    ['match=a\\\\,hang', { effects: { hang: true }, match: 'a\\' }],
    ['match=C:\\x,delay=1,truncate', { effects: { delay: 1000, truncate: true }, match: 'C:\\x' }],
  ])('reads %s', (spec, fault) => {
    expect(parseFault(spec)).toEqual({ spec, ...fault });
  });

  it.each([
    ['', 'there is no ""'],
    ['sleep=2s', 'there is no "sleep"'],
    ['__proto__', 'there is no "__proto__"'],
    ['status=200', '"status=200" is not understood'],
    ['status=abc', '"status=abc" is not understood'],
    ['delay=soon', '"delay=soon" is not understood'],
    ['delay=36000m', '"delay=36000m" is not understood'],
    ['drop-after=1.5k', '"drop-after=1.5k" is not understood'],
    ['truncate=yes', '"truncate=yes" is not understood'],
    ['bandwidth=0', '"bandwidth=0" is not understood'],
    ['slice=0', '"slice=0" is not understood'],
    ['slice', '"slice" is not understood'],
    ['reset=now', '"reset=now" is not understood'],
    ['wav-header=half', '"wav-header=half" is not understood'],
    ['hang,rate=2', '"rate=2" is not understood'],
    ['hang,times=0', '"times=0" is not understood'],
    ['hang,match=', '"match=" is not understood'],
    ['times=2,match=x', 'it says when, but not what'],
    ['retry-after=1', 'it says when, but not what'],
    ['status=500,status=501', 'it says status twice'],
    ['hang,match=a,match=b', 'it says match twice'],
    ['status=500,hang', 'hang and status contradict each other'],
    ['truncate,hang', 'hang and truncate contradict each other'],
    ['delay=2s,hang', 'hang and delay contradict each other'],
    ['content-type=text/html,status=500', 'status and content-type contradict each other'],
    ['drop-after=1k,truncate', 'truncate and drop-after contradict each other'],
    ['close,reset', 'reset and close contradict each other'],
    ['reset,drop-after=1,close', 'reset and close contradict each other'],
    ['status=500,reset', 'status and reset contradict each other'],
    ['slice=1,close', 'close and slice contradict each other'],
    ['truncate,retry-after=1', 'retry-after is sent with a status only'],
  ])('refuses "%s"', (spec, reason) => {
    expect(() => parseFault(spec)).toThrow(`bad value for --fault: ${spec}: ${reason}`);
  });

  it('knows a word for no fault', () => {
    expect(parseFaults(['none'])).toEqual([]);
    expect(parseFaults(['none', 'hang'])).toEqual([parseFault('hang')]);
  });
});

describe('createFaults', () => {
  it('rolls the dice for each request', () => {
    const dice = [0.05, 0.1, 0.99, 0];
    const effectsOn = createFaults([parseFault('hang,rate=0.1')], () => dice.shift() ?? 1);
    const hangs = Array.from({ length: 4 }, () => effectsOn('text').effects.hang ?? false);
    expect(hangs).toEqual([true, false, false, true]);
  });

  const effectsOf = (count: number, ...specs: string[]) => {
    const effectsOn = createFaults(specs.map(parseFault));
    return Array.from({ length: count }, () => effectsOn('text').effects);
  };

  it('counts the requests that a fault may meet', () => {
    const statuses = (...specs: string[]) => effectsOf(8, ...specs).map(({ status = 200 }) => status);
    expect(statuses('status=500,after=6')).toEqual([200, 200, 200, 200, 200, 200, 500, 500]);
    expect(statuses('status=500,every=3')).toEqual([200, 200, 500, 200, 200, 500, 200, 200]);
    expect(statuses('status=500,every=2,after=2,times=1')).toEqual([200, 200, 200, 500, 200, 200, 200, 200]);
  });

  it('meets one speaker', () => {
    const effectsOn = createFaults([parseFault('status=500,speaker=11,every=2')]);
    const asked = [11, 1, 1, 11, 11, 11].map((speaker) => effectsOn('text', speaker).effects.status ?? 200);
    expect(asked).toEqual([200, 200, 200, 500, 200, 500]);
  });

  it('lets the first of several faults decide, and uses up only that', () => {
    expect(effectsOf(3, 'status=500,times=1', 'status=503,times=1,retry-after=2')).toEqual([
      { status: 500 },
      { status: 503, retryAfter: 2 },
      {},
    ]);
    expect(effectsOf(3, 'delay=1,times=1', 'delay=2,times=1')).toEqual([
      { delay: 1000 },
      { delay: 2000 },
      {},
    ]);
  });

  it('spoils no audio, and uses nothing up for it, while there is none', () => {
    expect(effectsOf(4, 'truncate,times=1', 'wav-header=none,times=2', 'hang,times=1')).toEqual([
      { hang: true },
      { truncate: true, wavHeader: 'none' },
      { wavHeader: 'none' },
      {},
    ]);
  });

  it('names the faults that a request meets', () => {
    const meet = createFaults(['delay=1,every=2', 'status=500', 'truncate'].map(parseFault));
    expect([meet('a').specs, meet('b').specs]).toEqual([['status=500'], ['status=500', 'delay=1,every=2']]);
  });

  it('ends a connection in one way', () => {
    expect(effectsOf(2, 'drop-after=1,times=1', 'reset,drop-after=2', 'slice=1')).toEqual([
      { dropAfter: 1, slice: 1 },
      { dropAfter: 2, ending: 'reset', slice: 1 },
    ]);
    expect(effectsOf(2, 'drop-after=1', 'reset,times=1', 'delay=1')).toEqual([
      { ending: 'reset', delay: 1000 },
      { dropAfter: 1, delay: 1000 },
    ]);
  });

  it('delays whatever the answer is', () => {
    expect(effectsOf(2, 'delay=1', 'status=500,times=1')).toEqual([
      { status: 500, delay: 1000 },
      { delay: 1000 },
    ]);
  });
});
