import {describe, expect, test} from 'vitest';
import {parseDockerConfig} from '../../../../src/kubelet/images/credentials/docker-config.js';

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
    'auth before a name',
    {username: 'bob', auth: base64('alice:s')},
    {username: 'alice', password: 's', email: ''},
  ],
  ['nothing', {}, {username: '', password: '', email: ''}],
])('a login is read from %s', (_, fields, login) => {
  expect(parseDockerConfig(entry(fields), 'config.json')).toEqual(new Map([['r.example', login]]));
});

test('an older file has its logins at the top', () => {
  const text = JSON.stringify({'r.example': {auth: base64('alice:s')}});
  expect(parseDockerConfig(text, '.dockercfg')?.get('r.example')?.username).toBe('alice');
});

test('a config.json without logins is none', () => {
  expect(parseDockerConfig('{"scripts": {}}', 'config.json')).toBeUndefined();
  expect(parseDockerConfig('{"auths": {}}', 'config.json')).toEqual(new Map());
});

describe('what is broken is told without repeating it', () => {
  test.each([
    ['{"auths": {"r.example": {"auth": "topsecret', /unmarshal json/],
    [entry({auth: 'topsecret!'}), /not base64/],
    [entry({auth: base64('topsecret')}), /must be formatted as base64\(username:password\)/],
    [entry({password: ['topsecret']}), /"password" in the entry of "r.example" is not a text/],
    [JSON.stringify({auths: {'r.example': 'topsecret'}}), /the entry of "r.example" is not an object/],
    ['["topsecret"]', /the file is not an object/],
  ])('%s', (text, message) => {
    const parse = (): unknown => parseDockerConfig(text, 'config.json');
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/topsecret/);
  });
});
