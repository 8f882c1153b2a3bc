import { execFileSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../src/serve/faults.ts';
import { ask, type Reply } from '../support/ask.ts';
import { isThere } from '../support/programs.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { startToneService, type ToneService } from '../support/tone-service.ts';

const CHECKER = 'promtool';

interface Metric {
  readonly help: string;
  readonly type: string;
  /** Each has its name and labels, as in `a_total{status="200"}`. */
  readonly samples: Readonly<Record<string, number>>;
}

const HEAD = /^# HELP ([a-z_]+) (.+)\n# TYPE ([a-z_]+) (counter|gauge|histogram)$/;
const SAMPLE = /^(([a-z_]+)(?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})?) (\d+(?:\.\d+)?(?:e-\d+)?)$/;

/** Reads Prometheus' text form, and refuses what its description does not allow. */
function parse(text: string): Record<string, Metric> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const metrics = text.split(/(?=^# HELP )/m).map(metricOf);
  const byName = Object.fromEntries(metrics);
  if (Object.keys(byName).length < metrics.length) throw new Error('a name stands twice');
  return byName;
}

function metricOf(text: string): readonly [name: string, Metric] {
  const [first = '', second = '', ...lines] = text.trimEnd().split('\n');
  const [, name = '', help = '', typed, type = ''] = HEAD.exec(`${first}\n${second}`) ?? [];
  if (typed !== name || name === '') throw new Error(`${first} and ${second} do not fit`);
  const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  const samples = lines.map((line) => {
    const [, key = '', base = '', value] = SAMPLE.exec(line) ?? [];
    if (!ends.some((end) => base === name + end)) throw new Error(line);
    return [key, Number(value)] as const;
  });
  const byKey = Object.fromEntries(samples);
  if (Object.keys(byKey).length < samples.length) throw new Error(`a sample of ${name} stands twice`);
  return [name, { help, type, samples: byKey }];
}

const start = async (options: Parameters<typeof startToneService>[0] = {}) => {
  const tones = await startToneService({ metrics: true, ...options });
  onTestFinished(() => tones.close());
  return tones;
};

const scrape = async ({ service }: ToneService) => {
  const { bytes } = await ask(`${service.url}/metrics`);
  return parse(bytes.toString());
};

/** A request is counted when its connection is done with it, which is shortly after its answer. */
const requestsOf = (tones: ToneService, path: string) =>
  expect.poll(async () => {
    const { samples } = (await scrape(tones)).tts_requests_total ?? {};
    return Object.fromEntries(
      Object.entries(samples ?? {})
        .filter(([name]) => name.includes(`path="${path}"`))
        .map(([name, number]) => [/status="(\w+)"/.exec(name)?.[1], number]),
    );
  });

const hello = { text: 'one two three', speaker_no: 2, config: { sample_rate: 16_000 } };
/** Eleven letters take 100 frames each. */
const SECONDS = 1100 / 16_000;

describe('GET /metrics', () => {
  it('counts requests by path and status', async () => {
    const tones = await start({ basePath: '/api' });
    for (const body of [hello, hello, { text: '' }]) await tones.speak(body);
    await ask(`${tones.service.url}/speakers`);
    for (const path of ['/a', '/b?c=d', '/tts/e'])
      await ask(tones.service.url + path, { headers: { 'x-api-key': KEY } });
    await requestsOf(tones, '/tts').toEqual({ 200: 2, 422: 1 });
    await requestsOf(tones, '/speakers').toEqual({ 401: 1 });
    await requestsOf(tones, 'other').toEqual({ 404: 3 });
  });

  it('counts clients that left before their answer, and bytes that were no request', async () => {
    const tones = await start();
    await tones.speak({ ...hello, text: 'stuck' }, { signal: AbortSignal.timeout(200) }).catch(() => {});
    await requestsOf(tones, '/tts').toEqual({ none: 1 });
    tones.connect().end('no http\r\n\r\n').resume();
    await requestsOf(tones, 'other').toEqual({ 400: 1 });
  });

  it('counts the seconds of sound, whole and streamed', async () => {
    const tones = await start();
    await tones.speak(hello);
    await tones.speak({ ...hello, config: { ...hello.config, use_streaming_response: true } });
    const { tts_audio_seconds_total: audio } = await scrape(tones);
    expect(audio?.type).toBe('counter');
    expect(audio?.samples.tts_audio_seconds_total).toBeCloseTo(2 * SECONDS, 9);
  });

  it('tells how many requests wait', async () => {
    const tones = await start();
    tones.engine.queued = 7;
    expect((await scrape(tones)).tts_queue_length).toMatchObject({
      type: 'gauge',
      samples: { tts_queue_length: 7 },
    });
  });

  it('has a histogram of the first byte of sound', async () => {
    const tones = await start({ faults: ['delay=300ms,times=1', 'status=500,match=no'].map(parseFault) });
    const streamed = { ...hello, config: { use_streaming_response: true } };
    for (const body of [streamed, { ...hello, text: 'no' }, { text: '' }]) await tones.speak(body);
    const { tts_first_byte_seconds: one } = await scrape(tones);
    expect(one?.type).toBe('histogram');
    expect(one?.samples).toMatchObject({
      'tts_first_byte_seconds_bucket{le="0.25"}': 0,
      'tts_first_byte_seconds_bucket{le="60"}': 1,
      'tts_first_byte_seconds_bucket{le="+Inf"}': 1,
      tts_first_byte_seconds_count: 1,
    });
    expect(one?.samples.tts_first_byte_seconds_sum).toBeGreaterThan(0.3);
    for (let at = 0; at < 3; at += 1) await tones.speak(hello);
    const { samples = {} } = (await scrape(tones)).tts_first_byte_seconds ?? {};
    const buckets = Object.entries(samples).filter(([name]) => name.includes('_bucket'));
    const counts = buckets.map(([, count]) => count);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(4);
    expect(samples.tts_first_byte_seconds_count).toBe(4);
    const bounds = buckets.map(([name]) =>
      Number(/le="([\d.]+)"/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY),
    );
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
  });

  it('is open as /healthz is, also next to the base path, and to GET and HEAD only', async () => {
    const tones = await start({ basePath: '/api' });
    const { origin } = new URL(tones.service.url);
    for (const url of [`${origin}/metrics`, `${tones.service.url}/metrics`]) {
      const { status, headers } = await ask(url);
      expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    }
    expect(await ask(`${origin}/metrics`, { method: 'HEAD' })).toMatchObject({ status: 200 });
    expect(await ask(`${origin}/metrics`, { method: 'POST' })).toMatchObject({ status: 405 });
  });

  const metricsOf = async (...args: string[]): Promise<Reply> => {
    const running = new Sandbox().start(['serve', '--port=0', '--json', ...args]);
    for await (const line of running.stdout) return ask(`${JSON.parse(String(line)).url}/metrics`);
    throw new Error((await running.ended).stderr);
  };

  it('is there in every tts serve, and not in the service of a single run', async () => {
    const { status, bytes } = await metricsOf('--api-key', KEY);
    expect(status).toBe(200);
    expect(Object.keys(parse(bytes.toString()))).toEqual([
      'tts_requests_total',
      'tts_audio_seconds_total',
      'tts_queue_length',
      'tts_first_byte_seconds',
    ]);
    expect((await ask(`${(await start({ metrics: false })).service.url}/metrics`)).status).toBe(404);
  });

  it.skipIf(!isThere(CHECKER))('is read by Prometheus itself', async () => {
    const tones = await start();
    await tones.speak(hello);
    const { bytes } = await ask(`${tones.service.url}/metrics`);
    expect(execFileSync(CHECKER, ['check', 'metrics'], { input: bytes, encoding: 'utf8' })).toBe('');
  });
});
