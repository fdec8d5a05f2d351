import {describe, expect, test} from 'vitest';
import {parseDockerConfig} from '../../../../../src/kubelet/managers/images/credentials/docker-config.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const entry = (fields: object): string => JSON.stringify({auths: {'r.example': fields}});

test.each([
  ['auth', {auth: base64('alice:se:cret')}, {username: 'alice', password: 'se:cret', email: ''}],
  [
    'auth without padding',
    {auth: base64('alice:s').replace(/=+$/, '')},
    {username: 'alice', password: 's', email: ''},
  ],
  [
    'a name and a password',
    {username: 'alice', password: 's', email: 'e'},
    {username: 'alice', password: 's', email: 'e'},
  ],
  [
    'auth, which takes precedence over a name',
    {username: 'bob', auth: base64('alice:s')},
    {username: 'alice', password: 's', email: ''},
  ],
  ['an empty entry', {}, {username: '', password: '', email: ''}],
])('a login is read from %s', (_, fields, login) => {
  expect(parseDockerConfig(entry(fields), 'config.json')).toEqual(new Map([['r.example', login]]));
});

test('the logins of a .dockercfg are at the top level', () => {
  const text = JSON.stringify({'r.example': {auth: base64('alice:s')}});
  expect(parseDockerConfig(text, '.dockercfg')?.get('r.example')?.username).toBe('alice');
});

test('a config.json without auths is undefined', () => {
  expect(parseDockerConfig('{"scripts": {}}', 'config.json')).toBeUndefined();
  expect(parseDockerConfig('{"auths": {}}', 'config.json')).toEqual(new Map());
});

describe('an invalid config is rejected without repeating its content', () => {
  test.each([
    ['{"auths": {"r.example": {"auth": "topsecret', /unmarshal json/],
    [entry({auth: 'topsecret!'}), /not base64/],
    [entry({auth: base64('topsecret')}), /must be formatted as base64\(username:password\)/],
    [entry({password: ['topsecret']}), /"password" in the entry of "r.example" is not a string/],
    [JSON.stringify({auths: {'r.example': 'topsecret'}}), /the entry of "r.example" is not an object/],
    ['["topsecret"]', /the file is not an object/],
  ])('%s', (text, message) => {
    const parse = (): unknown => parseDockerConfig(text, 'config.json');
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/topsecret/);
  });
});
