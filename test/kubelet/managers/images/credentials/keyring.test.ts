import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {
  loginHash,
  lookUpLogins,
  type SourcedDockerConfig,
} from '../../../../../src/kubelet/managers/images/credentials/keyring.js';

/** Creates a docker config with a login for each location; the users are `name` with a number. */
function aConfig(name: string, ...locations: readonly string[]): SourcedDockerConfig {
  const login = (index: number) => ({username: `${name}${index}`, password: 'p', email: ''});
  return {config: new Map(locations.map((location, index) => [location, login(index)]))};
}

const usersFor = (repository: string, ...configs: readonly SourcedDockerConfig[]): readonly string[] =>
  lookUpLogins(configs, repository).map(({login}) => login.username);

test('more specific locations come first, and equal ones in the given order', () => {
  const first = aConfig('a', 'r.example', 'https://r.example/v2/', 'r.example/team');
  const second = aConfig('b', 'r.example/team', '*.example', 'other.example');
  expect(usersFor('r.example/team/app', first, second)).toEqual(['a2', 'b0', 'a0', 'a1', 'b1']);
});

test('logins for index.docker.io apply to Docker Hub unless another location matches', () => {
  const hub = aConfig('hub', 'https://index.docker.io/v1/');
  expect(usersFor('docker.io/library/busybox', hub)).toEqual(['hub0']);
  expect(usersFor('docker.io/library/busybox', hub, aConfig('c', 'docker.io/library'))).toEqual(['c0']);
  expect(usersFor('r.example/busybox', hub)).toEqual([]);
  expect(usersFor('localhost/busybox', hub)).toEqual([]);
});

test('an invalid location is ignored', () => {
  expect(usersFor('r.example/app', aConfig('a', 'r.example:no', 'r.example'))).toEqual(['a1']);
});

test("a login's hash is that of its JSON as encoded by Go", () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect(loginHash({username: 'alice', password: 'a&b', email: ''})).toBe(
    sha256('{"username":"alice","password":"a\\u0026b"}'),
  );
  expect(loginHash({username: '', password: '', email: 'a@example'})).toBe(sha256('{"email":"a@example"}'));
});
