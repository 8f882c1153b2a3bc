/** The HTTP APIs of `tts serve` (each an `HttpApi`), and the routes for its health, metrics, description and web page. */
import * as v from 'valibot';
import { type HttpApi, json, type Route } from '../kit/http/route.ts';
import { openAiApi } from './openai.ts';
import type { ServiceContext } from './speak.ts';
import { ttsApi } from './tts.ts';

const HEALTH = v.object({
  status: v.pipe(
    v.picklist(['ok', 'starting']),
    v.description('`starting` while no worker is ready: requests are taken, and wait until one is'),
  ),
  workers: v.pipe(v.number(), v.description('Speech workers that are alive')),
  queued: v.pipe(v.number(), v.description('Requests that wait for a worker to begin with them')),
  requests: v.pipe(v.number(), v.description('Requests for speech that are under way')),
  callbacks: v.pipe(v.number(), v.description('Callbacks that are not delivered yet')),
});

const health: Route<ServiceContext> = {
  method: 'GET',
  path: '/healthz',
  isOpen: true,
  isAnywhere: true,
  about: {
    operationId: 'checkHealth',
    summary: 'Say whether the service is well',
    answers: { 200: { description: 'It runs.', content: { 'application/json': HEALTH } } },
  },
  handle: (_, { voices: { workers, queued }, speaking, callbacks }) =>
    json({
      status: workers > 0 ? 'ok' : 'starting',
      workers,
      queued,
      requests: speaking.size,
      callbacks: callbacks.pending,
    }),
};

const metrics: Route<ServiceContext> = {
  method: 'GET',
  path: '/metrics',
  isOpen: true,
  isAnywhere: true,
  about: {
    operationId: 'measure',
    summary: 'Count requests and sound',
    description:
      'For Prometheus: requests by path and status, seconds of sound, the length of the queue, and a histogram of the time to the first byte of sound. It holds no texts.',
    answers: {
      200: {
        description: 'The text form of Prometheus, version 0.0.4.',
        content: { 'text/plain': undefined },
      },
    },
  },
  handle: (_, { metrics, voices }) => ({
    headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
    body: Buffer.from(metrics.text(voices.queued)),
  }),
};

const description: Route<ServiceContext> = {
  method: 'GET',
  path: '/openapi.json',
  isOpen: true,
  about: {
    operationId: 'describe',
    summary: 'Describe the service',
    answers: { 200: { description: 'This document.', content: { 'application/json': v.looseObject({}) } } },
  },
  handle: async (_, { basePath }) => {
    const { description } = await import('./description.ts');
    return json({ ...description, servers: [{ url: basePath || '/' }] });
  },
};

/** The web page, for browsers only; other clients get a 404. */
const page: Omit<Route<ServiceContext>, 'path'> = {
  method: 'GET',
  isOpen: true,
  isFor: ({ method, headers }) =>
    (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? ''),
  handle: async ({ target }) => (await import('./page.ts')).page(target),
};

const ownApi: HttpApi<ServiceContext> = {
  ...ttsApi,
  name: 'service',
  // The empty path, an address without a trailing slash, redirects to the page.
  routes: [health, metrics, description, { ...page, path: '/' }, { ...page, path: '' }],
};

export const APIS = [ttsApi, ownApi, openAiApi] as const;
