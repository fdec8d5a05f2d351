import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseJson} from '../../src/format/json.js';
import {formatYaml} from '../../src/format/yaml.js';

/** Output of sigs.k8s.io/yaml 1.6 for each document. */
const CASES = JSON.parse(readFileSync(new URL('yaml.json', import.meta.url), 'utf8')) as readonly {
  readonly json: string;
  readonly yaml: string;
}[];

describe('the output equals that of sigs.k8s.io/yaml', () => {
  test.each(CASES)('$json', ({json, yaml}) => {
    expect(formatYaml(parseJson(json))).toBe(yaml);
  });
});

test('numbers above 2^64 are exact', () => {
  expect(formatYaml({big: 123456789012345678901234567890n})).toBe('big: 123456789012345678901234567890\n');
});
