import {expect, test} from 'vitest';
import {
  matchesRepository,
  isRegistryPattern,
  toRegistryPattern,
} from '../../../../../src/kubelet/managers/images/credentials/registry-match.js';

test.each([
  ['registry.example', 'registry.example/team/app', true],
  ['registry.example/team', 'registry.example/team/app', true],
  // As in the kubelet, the path matches as a string prefix.
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
])('%s matches %s: %s', (pattern, repository, expected) => {
  expect(matchesRepository(pattern, repository)).toBe(expected);
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
])('the location %s has the pattern %s', (location, pattern) => {
  expect(toRegistryPattern(location)).toBe(pattern);
});

test('a pattern with a non-numeric port is invalid', () => {
  expect([isRegistryPattern('*.example:5000/team'), isRegistryPattern('registry.example:http')]).toEqual([
    true,
    false,
  ]);
});
