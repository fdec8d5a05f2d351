import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';

/** Manifests of a kind with the same start, by the decision of the API server 1.36 (the create strategy of the kind). */
interface Decisions {
  readonly head: string;
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
}

const file = new URL('api-server-decisions.json', import.meta.url);
const kinds = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Decisions>>;

function issuesOf(text: string): readonly string[] {
  return loadManifest(text, {file: 'm.yaml'}).issues.map(({message}) => message);
}

describe.each(Object.entries(kinds))('as by an API server, a %s', (_kind, {head, accepted, rejected}) => {
  test.each(accepted)('is accepted: %j', (rest) => {
    expect(issuesOf(head + rest)).toEqual([]);
  });

  test.each(rejected)('is rejected: %j', (rest) => {
    expect(issuesOf(head + rest)).not.toEqual([]);
  });
});
