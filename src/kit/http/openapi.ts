/** Makes an OpenAPI 3.1 document from the routes of a server and the schemas that check requests. Used by the build only. */
import { toJsonSchema } from '@valibot/to-json-schema';
import type { Schema } from '../schema.ts';
import type { Answer, HttpApi, Route } from './route.ts';

interface Description {
  readonly openapi: '3.1.0';
  readonly info: object;
  readonly paths: Readonly<Record<string, object>>;
  readonly components: object;
}

/** @param info the object `info` of OpenAPI */
export function openApi(info: object, apis: readonly HttpApi<never>[]): Description {
  const described = apis.flatMap((api) => api.routes.flatMap((route) => pathOf(api, route)));
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(described),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key as in `X-API-KEY`.' },
      },
      responses: Object.fromEntries(apis.map((api) => [errorName(api), errorOf(api)])),
    },
  };
}

function pathOf(
  api: HttpApi<never>,
  { path, method, about, body, isOpen }: Route<never>,
): [string, object][] {
  if (!about) return [];
  const { answers, more, ...said } = about;
  const error = { $ref: `#/components/responses/${errorName(api)}` };
  const keys = [...(api.takesBearer ? [{ bearer: [] }] : []), { apiKey: [] }];
  const operation = {
    ...said,
    security: isOpen ? [] : keys,
    ...(body && { requestBody: { required: true, content: contentOf({ 'application/json': body }) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      '4XX': error,
      '5XX': error,
    },
    ...more,
  };
  return [[path, { [method.toLowerCase()]: operation }]];
}

function responseOf({ description, headers = {}, content }: Answer): object {
  const named = Object.entries({ ...headers, 'X-Request-Id': 'Names the request in the log.' });
  return {
    description,
    headers: Object.fromEntries(named.map(([name, said]) => [name, { ...headerOf, description: said }])),
    content: contentOf(content),
  };
}

const headerOf = { schema: { type: 'string' } };

function contentOf(content: Answer['content']): object {
  const described = Object.entries(content).map(([type, schema]) => [
    type,
    { schema: schemaOf(schema, type) },
  ]);
  return Object.fromEntries(described);
}

function schemaOf(schema: Schema | undefined, contentMediaType: string): object {
  if (!schema) return { type: 'string', contentMediaType };
  const { $schema: _, ...converted } = toJsonSchema(schema, { target: 'draft-2020-12', typeMode: 'input' });
  return converted;
}

function errorName({ name }: HttpApi<never>): string {
  return `${name}Error`;
}

function errorOf({ errors }: HttpApi<never>): object {
  return {
    description: 'The request cannot be fulfilled; the code says why. 429 and 503 come with `Retry-After`.',
    headers: {
      'Retry-After': { description: 'Seconds after which a further try makes sense.', ...headerOf },
    },
    content: contentOf({ 'application/json': errors }),
  };
}
