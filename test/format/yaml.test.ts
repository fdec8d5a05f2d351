import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseJson} from '../../src/format/json.js';
import {yamlText} from '../../src/format/yaml.js';

/** What sigs.k8s.io/yaml 1.6 wrote for each document. */
const CASES = JSON.parse(readFileSync(new URL('yaml.json', import.meta.url), 'utf8')) as readonly {
  readonly json: string;
  readonly yaml: string;
}[];

describe('what sigs.k8s.io/yaml writes for the same JSON', () => {
  test.each(CASES)('$json', ({json, yaml}) => {
    expect(yamlText(parseJson(json))).toBe(yaml);
  });
});

test('numbers above 2^64 stay exact', () => {
  expect(yamlText({big: 123456789012345678901234567890n})).toBe('big: 123456789012345678901234567890\n');
});
