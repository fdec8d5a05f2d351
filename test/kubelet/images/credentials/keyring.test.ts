import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {
  loginHash,
  lookUpLogins,
  type SourcedDockerConfig,
} from '../../../../src/kubelet/images/credentials/keyring.js';

/** A docker config with a login for each location, whose user is `name` and a number. */
function aConfig(name: string, ...locations: readonly string[]): SourcedDockerConfig {
  const login = (index: number) => ({username: `${name}${index}`, password: 'p', email: ''});
  return {config: new Map(locations.map((location, index) => [location, login(index)]))};
}

const usersFor = (repository: string, ...configs: readonly SourcedDockerConfig[]): readonly string[] =>
  lookUpLogins(configs, repository).map(({login}) => login.username);

test('the more specific location comes first, and those of one location in the order given', () => {
  const first = aConfig('a', 'r.example', 'https://r.example/v2/', 'r.example/team');
  const second = aConfig('b', 'r.example/team', '*.example', 'other.example');
  expect(usersFor('r.example/team/app', first, second)).toEqual(['a2', 'b0', 'a0', 'a1', 'b1']);
});

test("Docker's registry goes by its several names, and only without a closer fit", () => {
  const hub = aConfig('hub', 'https://index.docker.io/v1/');
  expect(usersFor('docker.io/library/busybox', hub)).toEqual(['hub0']);
  expect(usersFor('docker.io/library/busybox', hub, aConfig('c', 'docker.io/library'))).toEqual(['c0']);
  expect(usersFor('r.example/busybox', hub)).toEqual([]);
  expect(usersFor('localhost/busybox', hub)).toEqual([]);
});

test('a location that is no URL is passed over', () => {
  expect(usersFor('r.example/app', aConfig('a', 'r.example:no', 'r.example'))).toEqual(['a1']);
});

test("a login's hash is that of its JSON as Go writes it", () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect(loginHash({username: 'alice', password: 'a&b', email: ''})).toBe(
    sha256('{"username":"alice","password":"a\\u0026b"}'),
  );
  expect(loginHash({username: '', password: '', email: 'a@example'})).toBe(sha256('{"email":"a@example"}'));
});
