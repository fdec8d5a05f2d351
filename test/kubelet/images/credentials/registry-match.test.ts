import {expect, test} from 'vitest';
import {
  coversRepository,
  isRegistryPattern,
  patternOfLocation,
} from '../../../../src/kubelet/images/credentials/registry-match.js';

test.each([
  ['registry.example', 'registry.example/team/app', true],
  ['registry.example/team', 'registry.example/team/app', true],
  // A prefix of the text is enough, as in the kubelet.
  ['registry.example/te', 'registry.example/team/app', true],
  ['registry.example/other', 'registry.example/team/app', false],
  ['registry.example', 'registry.example:5000/app', false],
  ['registry.example:5000', 'registry.example:5000/app', true],
  ['registry.example:5001', 'registry.example:5000/app', false],
  ['*.example', 'registry.example/app', true],
  ['*.example', 'a.registry.example/app', false],
  ['*.*.example', 'a.registry.example/app', true],
  ['reg*.example', 'registry.example/app', true],
  ['registry.*', 'registry.example/app', true],
  ['[registry.example', 'registry.example/app', false],
  ['re+gistry.example', 'registry.example/app', false],
  ['*:5000', 'localhost:5000/app', true],
  ['localhost', 'localhost/app', true],
  ['[::1]:5000', '[::1]:5000/app', true],
  ['registry.example', 'registryXexample/app', false],
  ['bad host', 'bad host/app', false],
])('%s covers %s: %s', (pattern, repository, covers) => {
  expect(coversRepository(pattern, repository)).toBe(covers);
});

test.each([
  ['https://index.docker.io/v1/', 'index.docker.io'],
  ['http://registry.example:5000/v2/', 'registry.example:5000'],
  ['registry.example/v2/team', 'registry.example/team'],
  ['registry.example/', 'registry.example'],
  ['registry.example/v1', 'registry.example/v1'],
  ['registry.example/team?x=1#y', 'registry.example/team'],
  ['alice@registry.example', 'registry.example'],
  ['registry.example:http', undefined],
  ['a b', undefined],
])('the location %s stands for %s', (location, pattern) => {
  expect(patternOfLocation(location)).toBe(pattern);
});

test('a pattern with a port that is no number is none', () => {
  expect([isRegistryPattern('*.example:5000/team'), isRegistryPattern('registry.example:http')]).toEqual([
    true,
    false,
  ]);
});
