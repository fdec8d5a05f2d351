import {describe, expect, test} from 'vitest';
import {suggestQuantities} from '../../../src/api/decoding/suggest-quantities.js';
import {loadManifest} from '../../../src/api/manifest/load-manifest.js';

describe('an invalid quantity', () => {
  test.each<[string, ...string[]]>([
    ['64MB', '64M', '64Mi'],
    ['64mb', '64M', '64Mi'],
    ['1G B', '1G', '1Gi'],
    ['0.5 GiB', '0.5Gi'],
    ['64MI', '64Mi'],
    ['1K', '1k', '1Ki'],
    ['100 kb', '100k', '100Ki'],
    ['1 Gi', '1Gi'],
    ['1,5Gi', '1.5Gi'],
    ['1,000Mi', '1000Mi'],
    ['2 TB', '2T', '2Ti'],
    ['512 bytes', '512'],
    ['2cores', '2'],
    ['500mCPU', '500m'],
    ['250 millicores', '250m'],
    ['lots'],
    ['50%'],
    ['64XB'],
    [''],
  ])('%s: suggestions', (text, ...suggestions) => {
    expect(suggestQuantities(text)).toEqual(suggestions);
  });

  test('is reported with its position and what it may mean', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i\n    resources: {limits: {memory: 64MB}, requests: {memory: 16Mi}}\n';
    const {issues} = loadManifest(text, {file: 'p'});
    // The only one: the request is not compared with an invalid limit.
    expect(issues).toMatchObject([{line: 8, column: 34}]);
    expect(issues[0]!.message).toMatch(
      /^spec\.containers\[0\]\.resources\.limits\[memory\]: Invalid value: "64MB": .*, did you mean "64M" or "64Mi"\?$/,
    );
  });
});
